/**
 * What the page adds to Swagger UI's own sheet: its first part, colours of day that can be read (what
 * Swagger UI says of the night goes before them), and room on a telephone.
 */
export const PAGE_STYLE = `:root { color-scheme: light dark; --paper: #fff; --ink: #22282d; --soft: #f4f5f6;
  --line: #d8dcdf; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #1c2022; --ink: #e4e6e6; --soft: #262b2e; --line: #3f474c; --link: #8ac1ff; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
.guide, footer { box-sizing: border-box; max-width: 1460px; margin: 0 auto; padding: 12px 20px; }
.guide h1 { margin: 16px 0 4px; font-size: 1.9rem; }
.guide h2 { margin: 32px 0 8px; font-size: 1.25rem; }
.guide p, .guide ul { max-width: 46em; margin: 8px 0; }
.guide a, footer a { color: var(--link); }
.guide nav a { display: inline-block; margin-right: 16px; padding: 4px 0; }
.guide pre { overflow-x: auto; margin: 8px 0; padding: 12px; border: 1px solid var(--line);
  border-radius: 6px; background: var(--soft); font: 13px/1.5 ui-monospace, monospace; }
.guide code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.guide pre code { font-size: 1em; overflow-wrap: normal; }
.guide table { display: block; overflow-x: auto; border-collapse: collapse; }
.guide th, .guide td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
footer { border-top: 1px solid var(--line); font-size: .9rem; }
.swagger-ui .headers-wrapper .header-col { color: inherit; }
.swagger-ui .information-container { display: none; }
.swagger-ui .opblock .opblock-summary-method { color: #080a0b; text-shadow: none; }
.swagger-ui .btn.authorize { border-color: #14784b; color: #14784b; }
.swagger-ui .btn.cancel { border-color: #c62828; color: #c62828; }
.swagger-ui .btn.execute { border-color: #2f6fb7; background-color: #2f6fb7; }
.swagger-ui .download-contents { background: #5f6472; }
.swagger-ui .parameter__in, .swagger-ui .json-schema-2020-12-expand-deep-button { color: #606060; }
.swagger-ui .renderedMarkdown code { color: #7b0fd9; }
@media (max-width: 700px) {
  .swagger-ui .wrapper { padding: 0 8px; }
  .swagger-ui .scheme-container { padding: 8px 0; }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 8px 0; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; flex-basis: 60%; }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; padding: 0 8px; }
  .swagger-ui table, .swagger-ui .responses-inner, .swagger-ui .opblock-section { overflow-x: auto; }
  .swagger-ui table { display: block; }
  .swagger-ui .parameters-col_description input, .swagger-ui select { min-width: 0; max-width: 100%; }
  .swagger-ui .renderedMarkdown pre { overflow-x: auto; }
}
`;
