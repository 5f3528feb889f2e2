import { readFile } from "node:fs/promises";
import type { Hono } from "hono";
import { loadOnce } from "../../load-once.ts";
import { representText, send } from "../v1/representation.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
/** A new release may bring new files under the same names; asked with their tag they cost a 304. */
const CACHE = "public, max-age=0, must-revalidate";

const own = (name: string): URL => new URL(`./assets/${name}`, import.meta.url);
const ofUplot = (name: string): URL =>
  new URL(`./dist/${name}`, import.meta.resolve("uplot/package.json"));

/** The style sheet's parts, in the order in which they are served as one. */
const STYLES = ["tokens", "base", "frame", "parts", "tables", "controls", "pictures", "forms"];

const SCRIPTS = ["console.js", "times.js", "stream.js", "charts.js", "feed.js"];

/** What the pages load, all of it from here: name, type, and the files it is made of. */
const ASSETS: readonly (readonly [string, string, readonly URL[]])[] = [
  ["console.css", STYLE, [...STYLES.map((name) => own(`${name}.css`)), ofUplot("uPlot.min.css")]],
  ...SCRIPTS.map((name) => [name, SCRIPT, [own(name)]] as const),
  ["uplot.js", SCRIPT, [ofUplot("uPlot.esm.js")]],
  ["icon.svg", "image/svg+xml", [own("icon.svg")]],
];

/** `/ops/assets/…`: style and scripts. They hold nothing secret, and the sign-in needs them. */
export function serveAssets(app: Hono): void {
  for (const [name, type, files] of ASSETS) {
    const shown = loadOnce(async () => representText(await readAll(files)));
    app.get(`/assets/${name}`, async (c) => {
      c.header("Cross-Origin-Resource-Policy", "same-origin");
      return send(c, await shown(), { cacheControl: CACHE, type });
    });
  }
}

async function readAll(files: readonly URL[]): Promise<string> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.join("\n");
}
