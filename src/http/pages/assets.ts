import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Hono } from "hono";
import { type Representation, representText, send } from "../v1/representation.ts";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** A name holds its text's hash: another text has another name. */
const FOREVER = "public, max-age=31536000, immutable";
const A_DAY = "public, max-age=86400";
const HASH = /-[A-Z0-9]{8}(?=\.)/;

/** What the build has made, beside this file; from source there is none. */
const BUILT = new URL("./assets/", import.meta.url);
const ICON = new URL("../console/assets/icon.svg", import.meta.url);

/** Everything that pages load: names with their texts, and where the two begin that each page has. */
export interface Assets {
  readonly files: ReadonlyMap<string, Representation>;
  readonly paths: { readonly style: string; readonly script: string };
}

/**
 * The bundled scripts and style sheet: as the build left them, or bundled now when it runs from
 * source.
 *
 * @param built where the build left them, if it did
 * @throws Error when the build left a part out
 */
export async function loadAssets(built = BUILT): Promise<Assets> {
  const texts = existsSync(built) ? await readBuilt(built) : await bundleNow();
  const files = new Map(texts.map(([name, text]) => [name, representText(text)]));
  files.set("icon.svg", representText(await readFile(ICON, "utf8")));
  const path = (start: string, end: string): string => {
    const name = [...files.keys()].find((each) => each.startsWith(start) && each.endsWith(end));
    if (name === undefined) throw new Error(`the build left out ${start}*${end}`);
    return `/assets/${name}`;
  };
  return { files, paths: { style: path("site-", ".css"), script: path("main-", ".js") } };
}

type Texts = readonly (readonly [name: string, text: string])[];

async function readBuilt(built: URL): Promise<Texts> {
  const names = await readdir(built);
  return Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, built), "utf8")] as const),
  );
}

/** The bundler is a tool of development: nothing that was built loads it. */
async function bundleNow(): Promise<Texts> {
  const { bundle } = await import("./bundle.ts");
  return bundle();
}

/**
 * `/assets/…`. While a release is under way a page of one build may ask a process of another: that
 * answers with its own file of this kind, which must not be kept under the other's name.
 */
export function serveAssets(app: Hono, { files }: Assets): void {
  const byKind = new Map([...files].map(([name, shown]) => [name.replace(HASH, "-*"), shown]));
  app.get("/assets/:name", async (c, next) => {
    const name = c.req.param("name");
    const known = files.get(name);
    const shown = known ?? byKind.get(name.replace(HASH, "-*"));
    if (shown === undefined) return next();
    c.header("Cross-Origin-Resource-Policy", "same-origin");
    const type = TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    const kept = name === "icon.svg" ? A_DAY : FOREVER;
    return send(c, shown, { cacheControl: known === undefined ? "no-store" : kept, type });
  });
}
