import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describedTable } from "../../../src/http/v1/directory.ts";
import { dataEndpoints } from "../../../src/http/v1/endpoints.ts";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { openPostgres } from "../../../src/store/postgres.ts";

/** A document of ours, and the file with its types. */
export interface TypedDocument {
  /** What the types are of. */
  readonly of: string;
  readonly file: string;
  /** Whether the client is asked by path; else each operation has a function, and no path is named. */
  readonly hasPaths: boolean;
  read(): Promise<object>;
}

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../../packages/client/src/${name}`, import.meta.url));
const PUBLIC_URL = "https://api.example.org";

/**
 * Writes the types of the client from the OpenAPI documents: `npm run client`. The generator runs
 * by `npm exec`, with a TypeScript of its own: it cannot work with ours.
 */
export const DOCUMENTS: readonly TypedDocument[] = [
  { of: "the public API", file: fileOf("openapi.ts"), hasPaths: true, read: publicDocument },
  {
    of: "the voting API",
    file: fileOf("voting-openapi.ts"),
    hasPaths: false,
    read: async () => votingDocument(PUBLIC_URL),
  },
];

const PACKAGES = ["openapi-typescript@7.13.0", "typescript@5.9.3"];
/** Fetching the packages takes longest. */
const GENERATE_WITHIN_MS = 120_000;
const head = ({ of }: TypedDocument): string => `/**
 * What ${of} takes and returns, generated from its OpenAPI document by \`npm run client\`.
 * Not to be edited.
 */
`;

/** The document as any deployment publishes it, but for what settings add to it. */
async function publicDocument(): Promise<object> {
  const sql = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
  const table = describedTable(dataEndpoints({ sql, eventSources: [] }), PUBLIC_URL);
  const row = table.find(({ path }) => path === "/openapi.json");
  const shown = await row?.bind({}, new URLSearchParams()).answer(0);
  await sql.end();
  return Object(shown?.body);
}

/**
 * What the types leave out: headers, which refusal comes when, examples; and what an operation takes
 * and answers as a body, where functions say it by the schemas' names.
 */
function forTypes(document: object, hasPaths: boolean): string {
  const left = hasPaths
    ? /^(headers|[345]\d\d|x-codeSamples|examples?)$/
    : /^(responses|requestBody|x-codeSamples|examples?)$/;
  return JSON.stringify(document, (name, value: unknown) =>
    left.test(name) || String(value).startsWith("**curl**") ? undefined : value,
  );
}

/** @returns the types' text for each of `DOCUMENTS`. @throws Error when the packages cannot be fetched */
export async function generateTypes(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "starboard-client-"));
  try {
    const texts: string[] = [];
    for (const document of DOCUMENTS) texts.push(await generate(document, folder));
    return texts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function generate(document: TypedDocument, folder: string): Promise<string> {
  const given = join(folder, "openapi.json");
  const made = join(folder, "openapi.ts");
  writeFileSync(given, forTypes(await document.read(), document.hasPaths));
  const packages = PACKAGES.map((name) => `--package=${name}`);
  await promisify(execFile)(
    "npm",
    ["exec", "--yes", ...packages, "--", "openapi-typescript", given, "-o", made],
    { timeout: GENERATE_WITHIN_MS, cwd: folder },
  );
  // The generator's own head names it; what follows are the types.
  const text = (await readFile(made, "utf8")).replace(/^\/\*\*[\s\S]*?\*\/\s*/, "");
  const types = document.hasPaths ? text : text.replace(/^export interface paths \{.*?^\}\n/ms, "");
  writeFileSync(made, head(document) + withoutAbsent(types));
  await format(made);
  return await readFile(made, "utf8");
}

/** The generator writes a line for whatever an operation might have and has not: those are left out. */
function withoutAbsent(types: string): string {
  const open = /^ *headers: \{\s*\[name: string\]: unknown;\s*\};\n(?= *content: )/gm;
  const absent = /^ *\w+\??: never;\n/gm;
  const empty = /^ *\w+: \{\s*\};\n/gm;
  const unused = /^export type \S+ = Record<string, never>;\n/gm;
  // Twice: an operation that takes nothing is then empty itself.
  return [open, absent, empty, empty, unused].reduce((text, part) => text.replace(part, ""), types);
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
  const texts = await generateTypes();
  for (const [index, { file }] of DOCUMENTS.entries()) writeFileSync(file, texts[index] ?? "");
}
