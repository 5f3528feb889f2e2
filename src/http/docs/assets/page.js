/**
 * Starts Swagger UI; no validator, no settings from the address. Light or dark as the reader has it,
 * with the theme of samples whose every colour can be read in both.
 */
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

/**
 * Takes the place of Swagger UI's own, which reads the whole document anew for each operation that
 * is opened: most of a second. Both documents refer to places of their own alone.
 */
const resolveSubtree = async (document, path, { baseDoc }) => {
  const inlined = (node) => {
    if (node === null || typeof node !== "object") return node;
    if (Array.isArray(node)) return node.map(inlined);
    const { $ref, ...own } = node;
    const named = $ref
      ?.slice(2)
      .split("/")
      .reduce((at, name) => at[name], document);
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
