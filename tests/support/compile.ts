import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type * as Pages from "../../src/http/pages/bundle.ts";
import { temporaryFolder } from "./folder.ts";
import { scriptOf } from "./script.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What no test reads, or what a link stands for. */
const LEFT_OUT = new Set([".git", ".starboard", "coverage", "dist", "node_modules", "test-output"]);
const SOURCES = ["src", "actors", "tests", "packages/client/src", "packages/client/tests"];
/**
 * Packages of many files, which all processes load: reading them one file after another takes a
 * process longer than the service's own files. No test looks at where these lie.
 */
const BUNDLED =
  /^(redis|bullmq|undici|zod|hono|@bull-board\/(api|hono)|@hono\/node-server|prom-client|cockatiel|postgres|postgrator|xstate|pino|citty|@noble\/(curves|hashes)|@hashgraph\/(sdk|proto)|@grpc\/grpc-js)(\/|$)/;
/** What tests start as processes of their own: in one file, it starts in two thirds of the time. */
const PROGRAM = "src/processes/starboard.ts";
/** Bundled packages have no source map: reading it would take each process as long as they do. */
const NO_MAP =
  '\n//# sourceMappingURL=data:application/json,{"version":3,"sources":[""],"mappings":"A"}';

/**
 * Copies the tree and compiles it there, each file beside its source, so that files which look
 * for others by their own place find them; types are not checked. A file starts in a quarter of the
 * time it takes by tsx, and no web process bundles the pages' scripts anew.
 *
 * @param change made to the sources of the copy before they are compiled
 * @returns the copy's folder; the caller removes it
 * @throws Error when the compiler fails, or what `change` throws
 */
export async function compileTree(
  change: (tree: string) => void = () => undefined,
): Promise<string> {
  const tree = temporaryFolder("test-tree");
  try {
    cpSync(ROOT, tree, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    chmodSync(tree, 0o711);
    symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
    change(tree);
    const sources = SOURCES.flatMap((folder) => sourcesIn(tree, folder));
    await bundle(tree, sources, [ownFilesApart, packagesWithoutMaps]);
    await bundle(tree, [PROGRAM], [ownFilesAtTheirPlace, packagesApart, packagesWithoutMaps]);
    const pages = join(tree, "src/http/pages");
    const { bundleInto } = (await import(join(pages, "bundle.js"))) as typeof Pages;
    await bundleInto(join(pages, "assets"));
    return tree;
  } catch (error) {
    rmSync(tree, { recursive: true, force: true });
    throw error;
  }
}

function sourcesIn(tree: string, folder: string): readonly string[] {
  return readdirSync(join(tree, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => /(?<!\.d)\.ts$/.test(path));
}

async function bundle(
  tree: string,
  entryPoints: readonly string[],
  plugins: Plugin[],
): Promise<void> {
  await build({
    absWorkingDir: tree,
    entryPoints: [...entryPoints],
    outdir: tree,
    outbase: tree,
    bundle: true,
    splitting: true,
    chunkNames: "bundled/[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "linked",
    sourcesContent: false,
    // Bundled packages that are CommonJS ask for modules of Node's by it.
    banner: {
      js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
    },
    plugins,
    logLevel: "error",
  });
}

/** Each of our files stays one, and imports the others by their names. */
const ownFilesApart: Plugin = {
  name: "own files apart",
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
      if (kind === "entry-point" || importer.includes("/node_modules/")) return undefined;
      if (path.startsWith(".")) return { path: path.replace(/\.ts$/, ".js"), external: true };
      return BUNDLED.test(path) ? undefined : { path, external: true };
    });
  },
};

/** Our files become one, and still find what lies beside them. */
const ownFilesAtTheirPlace: Plugin = {
  name: "own files at their place",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(scriptOf(path, true)).href),
      ),
      loader: "ts",
    }));
  },
};

const packagesApart: Plugin = {
  name: "packages apart",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === "entry-point" || importer.includes("/node_modules/")) return undefined;
      return BUNDLED.test(path) ? undefined : { path, external: true };
    });
  },
};

const packagesWithoutMaps: Plugin = {
  name: "packages without maps",
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8") + NO_MAP,
    }));
  },
};
