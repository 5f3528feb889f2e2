import { API_NAME, NOTICES } from "../v1/notices.ts";
import { escaped, guide } from "./guide.ts";

/**
 * The page itself. The addresses of its own files are relative, so it works behind a proxy that
 * adds a prefix, and nothing in it is inline: its policy allows scripts and styles of this host alone.
 *
 * @param publicUrl by which clients know this service: the samples name it
 */
export function docsPage(publicUrl: string): string {
  const notices = NOTICES.map((notice) => `      <li>${escaped(notice)}</li>`).join("\n");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${API_NAME} API</title>
    <link rel="icon" type="image/svg+xml" href="docs/icon.svg">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/page.js" defer></script>
  </head>
  <body>
    <main>
      <div class="guide">
        <h1>${API_NAME} API</h1>${guide(publicUrl)}
        <h2>Reading</h2>
        <noscript><p>JavaScript draws <a href="v1/openapi.json">the data's OpenAPI document</a>
        and <a href="voting/openapi.json">that of voting</a> here.</p></noscript>
      </div>
      <div id="data-api"></div>
      <div class="guide"><h2>Voting, each operation</h2></div>
      <div id="voting-api"></div>
    </main>
    <footer>
      <ul>
${notices}
      </ul>
    </footer>
  </body>
</html>
`;
}

/**
 * Starts Swagger UI; no validator, no settings from the address. Light or dark as the reader has it,
 * with the theme of samples whose every colour can be read in both.
 * `resolveSubtree` takes the place of Swagger UI's own, which reads the whole document anew for each
 * operation that is opened: most of a second. Both documents refer to places of their own alone.
 */
export const PAGE_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const resolveSubtree = async (document, path, { baseDoc }) => {
  const inlined = (node) => {
    if (node === null || typeof node !== "object") return node;
    if (Array.isArray(node)) return node.map(inlined);
    const { $ref, ...own } = node;
    const named = $ref?.slice(2).split("/").reduce((at, name) => at[name], document);
    const origin = named && { $$ref: new URL($ref, baseDoc).href };
    const fields = Object.entries({ ...named, ...own, ...origin });
    return Object.fromEntries(fields.map(([name, field]) => [name, inlined(field)]));
  };
  return { errors: [], spec: inlined(path.reduce((at, name) => at[name], document)) };
};
for (const [description, place] of [
  ["v1/openapi.json", "#data-api"],
  ["voting/openapi.json", "#voting-api"],
]) {
  SwaggerUIBundle({
    url: new URL(description, document.baseURI).href,
    dom_id: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    queryConfigEnabled: false,
    supportedSubmitMethods: ["get"],
    syntaxHighlight: { theme: "obsidian" },
    validatorUrl: null,
    plugins: [() => ({ fn: { resolveSubtree } })],
  });
}
`;
