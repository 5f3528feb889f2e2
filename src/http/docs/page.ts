import { API_NAME, NOTICES } from "../v1/notices.ts";

/**
 * The page itself. All addresses are relative, so it works behind a proxy that adds a prefix,
 * and nothing in it is inline: its policy allows scripts and styles of this host alone.
 */
export function docsPage(): string {
  const notices = NOTICES.map((notice) => `      <li>${escaped(notice)}</li>`).join("\n");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${API_NAME} API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/page.js" defer></script>
  </head>
  <body>
    <aside aria-label="PublishingAlerts">
      <ul>
${notices}
      </ul>
    </aside>
    <main id="api">
      <noscript>This page draws <a href="v1/openapi.json">the OpenAPI document</a> with JavaScript.</noscript>
    </main>
  </body>
</html>
`;
}

/** Starts Swagger UI; no validator, no settings from the address. */
export const PAGE_SCRIPT = `SwaggerUIBundle({
  url: new URL("v1/openapi.json", document.baseURI).href,
  dom_id: "#api",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  queryConfigEnabled: false,
  supportedSubmitMethods: ["get"],
  validatorUrl: null,
});
`;

export const PAGE_STYLE = `body { margin: 0; background: #fff; }
aside { background: #f4f1e8; border-bottom: 1px solid #ddd6c3; color: #333;
  font: 14px/1.5 system-ui, sans-serif; }
aside ul { margin: 0 auto; max-width: 1420px; padding: 12px 36px; }
`;

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
