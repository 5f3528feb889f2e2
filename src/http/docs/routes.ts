import { readFile } from "node:fs/promises";
import { type Context, Hono } from "hono";
import { loadOnce } from "../../load-once.ts";
import { refuseOtherMethods } from "../middleware/other-methods.ts";
import { pagePolicy } from "../page-headers.ts";
import { representText, send } from "../v1/representation.ts";
import { docsPage, PAGE_SCRIPT } from "./page.ts";
import { PAGE_STYLE } from "./style.ts";

/** Nothing leaves this host, and nothing inline runs; pictures in its style sheet are `data:`. */
const POLICY = pagePolicy({ "img-src": "'self' data:", "form-action": "'none'" });
/** A new release may bring new files under the same names; asked with their tag they cost a 304. */
const CACHE = "public, max-age=600";

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The files of Swagger UI that the page needs, of all that its package holds. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": STYLE,
  "swagger-ui-bundle.js": SCRIPT,
};
const PACKAGE = new URL(".", import.meta.resolve("swagger-ui-dist/package.json"));
const ICON = new URL("../console/assets/icon.svg", import.meta.url);

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
  text("/docs/page.js", SCRIPT, () => PAGE_SCRIPT);
  text("/docs/page.css", STYLE, () => PAGE_STYLE);
  for (const [name, type] of Object.entries(PACKAGE_FILES)) {
    text(`/docs/${name}`, type, () => readFile(new URL(name, PACKAGE), "utf8"));
  }
  text("/docs/icon.svg", "image/svg+xml", () => readFile(ICON, "utf8"));
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
