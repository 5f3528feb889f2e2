import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const APART = "wallet-connect";

/**
 * Bundles what browsers load: one script, one style sheet, and apart the library that is many times
 * both. Names hold the hashes of their texts. None imports another at its start, so that each works
 * where the process that answers is of another build than the page.
 */
export async function bundle(): Promise<readonly (readonly [name: string, text: string])[]> {
  const apart = await bundled({ [APART]: here(`./browser/${APART}.ts`) });
  const importApart: Plugin = {
    name: APART,
    setup({ onResolve }) {
      const path = `./${apart[0]?.[0]}`;
      onResolve({ filter: new RegExp(`/${APART}\\.ts$`) }, () => ({ path, external: true }));
    },
  };
  const entries = { main: here("./browser/main.ts"), site: here("./style/site.css") };
  return [...apart, ...(await bundled(entries, [importApart]))];
}

async function bundled(entryPoints: Readonly<Record<string, string>>, plugins: Plugin[] = []) {
  const { outputFiles } = await build({
    entryPoints,
    plugins,
    outdir: "/",
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16"],
    legalComments: "none",
    logLevel: "silent",
    write: false,
  });
  return outputFiles.map(({ path, text }) => [basename(path), text] as const);
}

/** Leaves in a folder what `bundle` makes, and nothing else. */
export async function bundleInto(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, text] of await bundle()) await writeFile(join(folder, name), text);
}

/** `node --import tsx src/http/pages/bundle.ts <folder>`: a step of each build. */
const [, script, folder] = process.argv;
if (script !== undefined && here("./bundle.ts") === script && folder !== undefined) {
  await bundleInto(folder);
}
