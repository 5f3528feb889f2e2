import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Bundles what browsers load: one script, its parts that are loaded when they are needed, one style
 * sheet. Names hold the hashes of their texts.
 */
export async function bundle(): Promise<readonly (readonly [name: string, text: string])[]> {
  const { outputFiles } = await build({
    entryPoints: { main: here("./browser/main.ts"), site: here("./style/site.css") },
    outdir: "/",
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16"],
    legalComments: "none",
    logLevel: "silent",
    write: false,
  });
  return outputFiles.map(({ path, text }) => [basename(path), text]);
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
