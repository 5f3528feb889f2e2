import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
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
const ICON = "favicon-32x32.png";

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
    text(`/docs/${name}`, type, async () => (await packageFile(name)).toString("utf8"));
  }
  app.get(`/docs/${ICON}`, async (c) => {
    const icon = new Uint8Array(await packageFile(ICON));
    return secured(c).body(icon, 200, { "Content-Type": "image/png", "Cache-Control": CACHE });
  });
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

function packageFile(name: string): Promise<Buffer> {
  const folder = new URL(".", import.meta.resolve("swagger-ui-dist/package.json"));
  return readFile(fileURLToPath(new URL(name, folder)));
}
