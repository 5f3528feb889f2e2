import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describedTable } from "../../../src/http/v1/directory.ts";
import { dataEndpoints } from "../../../src/http/v1/endpoints.ts";
import { openPostgres } from "../../../src/store/postgres.ts";

/**
 * Writes the types of the client from the OpenAPI document: `npm run client`. The generator runs
 * by `npm exec`, with a TypeScript of its own: it cannot work with ours.
 */
export const TYPES_FILE = fileURLToPath(
  new URL("../../../packages/client/src/openapi.ts", import.meta.url),
);

const PACKAGES = ["openapi-typescript@7.13.0", "typescript@5.9.3"];
/** Fetching the packages takes longest. */
const GENERATE_WITHIN_MS = 120_000;
const HEAD = `/**
 * What the public API takes and returns, generated from its OpenAPI document by \`npm run client\`.
 * Not to be edited.
 */
`;

/** The document as any deployment publishes it, but for what settings add to it. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const sql = openPostgres("postgres://nobody@127.0.0.1:1/nowhere");
  const table = describedTable(dataEndpoints({ sql, eventSources: [] }), "https://api.example.org");
  const row = table.find(({ path }) => path === "/openapi.json");
  const shown = await row?.bind({}, new URLSearchParams()).answer(0);
  await sql.end();
  // What the types leave out: headers, which refusal comes when, examples of how to call.
  const left = /^(headers|[345]\d\d|x-codeSamples)$/;
  const withoutRest = (name: string, value: unknown) =>
    left.test(name) || String(value).startsWith("**curl**") ? undefined : value;
  return JSON.parse(JSON.stringify(shown?.body, withoutRest));
}

/** @throws Error when the packages cannot be fetched */
export async function generateTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "starboard-client-"));
  try {
    const given = join(folder, "openapi.json");
    const made = join(folder, "openapi.ts");
    writeFileSync(given, JSON.stringify(await openApiDocument()));
    const packages = PACKAGES.map((name) => `--package=${name}`);
    await promisify(execFile)(
      "npm",
      ["exec", "--yes", ...packages, "--", "openapi-typescript", given, "-o", made],
      { timeout: GENERATE_WITHIN_MS, cwd: folder },
    );
    // The generator's own head names it; what follows are the types.
    const text = (await readFile(made, "utf8")).replace(/^\/\*\*[\s\S]*?\*\/\s*/, "");
    writeFileSync(made, HEAD + text);
    await format(made);
    return await readFile(made, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function format(file: string): Promise<void> {
  const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const text = await readFile(file, "utf8");
  const child = promisify(execFile)(
    process.execPath,
    [biome, "format", "--stdin-file-path=packages/client/src/openapi.ts"],
    {
      cwd: root,
      maxBuffer: 16 * 1024 * 1024,
    },
  );
  child.child.stdin?.end(text);
  writeFileSync(file, (await child).stdout);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(TYPES_FILE, await generateTypes());
}
