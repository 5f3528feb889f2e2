import { readFile } from "node:fs/promises";
import { type Context, Hono } from "hono";
import { loadOnce } from "../../load-once.ts";
import { refuseOtherMethods } from "../app.ts";
import { pagePolicy } from "../reply-header.ts";
import { API_NAME, NOTICES } from "../v1/notices.ts";
import { representText, send } from "../v1/representation.ts";
import { escaped, guide } from "./guide.ts";

/** Nothing leaves this host, and nothing inline runs; pictures in its style sheet are `data:`. */
const POLICY = pagePolicy({ "img-src": "'self' data:", "form-action": "'none'" });
/** A new release may bring new files under the same names; asked with their tag they cost a 304. */
const CACHE = "public, max-age=600";

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

const PACKAGE = import.meta.resolve("swagger-ui-dist/package.json");

/** What the page loads: of Swagger UI, of its whole package, no more than it needs. */
const FILES: readonly (readonly [path: string, type: string, file: URL])[] = [
  ["page.js", SCRIPT, new URL("./assets/page.js", import.meta.url)],
  ["page.css", STYLE, new URL("./assets/page.css", import.meta.url)],
  ["swagger-ui-bundle.js", SCRIPT, new URL("swagger-ui-bundle.js", PACKAGE)],
  ["swagger-ui.css", STYLE, new URL("swagger-ui.css", PACKAGE)],
  ["icon.svg", "image/svg+xml", new URL("../console/assets/icon.svg", import.meta.url)],
];

/**
 * `/docs`: both APIs and the exports as a page for people, everything on it served from here. To
 * be mounted at "/".
 *
 * @param publicUrl by which clients know this service
 */
export function docsRoutes(publicUrl: string): Hono {
  const app = new Hono();
  const text = (path: string, type: string, make: () => string | Promise<string>): void => {
    const shown = loadOnce(async () => representText(await make()));
    app.get(path, async (c) => send(secured(c), await shown(), { cacheControl: CACHE, type }));
  };
  text("/docs", HTML, () => docsPage(publicUrl));
  for (const [name, type, file] of FILES) text(`/docs/${name}`, type, () => readFile(file, "utf8"));
  // One address for the page: relative ones would lead elsewhere from this.
  app.get("/docs/", (c) => c.redirect("../docs", 308));
  refuseOtherMethods(app);
  return app;
}

function secured(c: Context): Context {
  c.header("Content-Security-Policy", POLICY);
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  return c;
}

/**
 * The page itself. The addresses of its own files are relative, so it works behind a proxy that
 * adds a prefix, and nothing in it is inline: its policy allows scripts and styles of this host alone.
 *
 * @param publicUrl by which clients know this service: the samples name it
 */
function docsPage(publicUrl: string): string {
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
