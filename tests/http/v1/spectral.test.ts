// timeout: 240 s
/** Both OpenAPI documents pass Spectral's rules without a warning. The linter is fetched, not installed. */
import * as assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { bodyOf, type House, openHouse } from "./house.ts";

const LINTER = "@stoplight/spectral-cli@6.16.3";
const RULES = join(import.meta.dirname, ".spectral.yaml");
/** What npm says when it cannot get at a registry. */
const NO_REGISTRY = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|npm error code E40/;

test("Spectral has nothing to say about the documents as they are served", async () => {
  const house: House = await openHouse();
  const document = await bodyOf(await house.get("/openapi.json"));
  await house.close();
  const folder = temporaryFolder("test-spectral");
  try {
    const { operationId: _, ...nameless } = (document.paths as { "/events": { get: object } })[
      "/events"
    ].get as { operationId: string };
    const spoilt = { ...document, paths: { "/events": { get: nameless } } };
    const voting = votingDocument("https://stars.example");
    const said = await lint(folder, { served: document, voting, spoilt });
    if (said === undefined) {
      process.stdout.write("skipped: the linter cannot be fetched here\n");
      return;
    }
    const of = (name: string): string[] => said.filter((line) => line.startsWith(name));
    assert.deepEqual(of("served"), []);
    assert.deepEqual(of("voting"), []);
    assert.notDeepEqual(of("spoilt"), [], "the rules bite");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * The linter is fetched and started once for all documents.
 *
 * @returns a line for each complaint, which begins with the document's name; undefined when the
 *   linter cannot be fetched
 */
async function lint(
  folder: string,
  documents: Readonly<Record<string, object>>,
): Promise<string[] | undefined> {
  const files = Object.entries(documents).map(([name, document]) => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  });
  const args = ["exec", "--yes", `--package=${LINTER}`, "--", "spectral", "lint", ...files];
  const options = [`--ruleset=${RULES}`, "--format=json", "--fail-severity=hint", "--quiet"];
  try {
    const { stdout } = await promisify(execFile)("npm", [...args, ...options], { cwd: folder });
    return complaints(stdout);
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    if (NO_REGISTRY.test(stderr) && !stdout.includes("[")) return undefined;
    if (!stdout.includes("[")) throw error;
    return complaints(stdout);
  }
}

function complaints(json: string): string[] {
  const found = JSON.parse(json.slice(json.indexOf("["))) as {
    code: string;
    message: string;
    path: string[];
    source: string;
  }[];
  return found.map(
    ({ code, message, path, source }) =>
      `${basename(source)} ${code} ${path.join(".")}: ${message}`,
  );
}

test.run();
