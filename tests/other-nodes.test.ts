// timeout: 240 s
/**
 * Goal: the service runs by each version of Node that is supported beside the one that runs the
 * tests. Method: npm brings the other versions, and the rules, the voting of stars and the ledger's
 * connections are tested again by each. A version that npm cannot bring is left out.
 */
import * as assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import { temporaryFolder } from "./support/folder.ts";
import { COMPILED, nodeArguments } from "./support/script.ts";

const VERSIONS = [22, 24];
const FILES = ["actors/wallet-day", "http/voting/stars", "ledger/hedera-topic"];
const run = promisify(execFile);

const folder = temporaryFolder("other-nodes");

for (const version of VERSIONS) {
  const node = install(version);
  const perhaps = node === undefined ? test.skip : test;
  perhaps(`Node ${version} votes, decides and publishes`, async () => {
    for (const file of FILES) {
      const script = join(import.meta.dirname, `${file}.test.ts`);
      const { stdout } = await run(node ?? "", nodeArguments(script, COMPILED, `v${version}.`));
      assert.match(stdout, /Passed: +[1-9]/, file);
    }
  });
}

test.after(() => rmSync(folder, { recursive: true, force: true }));

test.run();

/** @returns the path of that Node, or undefined where npm cannot bring it */
function install(version: number): string | undefined {
  const place = join(folder, String(version));
  // What the package `node` fetches by a second npm.
  const name = `node-${process.platform}-${process.arch}`;
  const wanted = ["--no-audit", "--no-fund", `${name}@${version}`];
  spawnSync("npm", ["install", "--prefix", place, ...wanted], { timeout: 60_000 });
  const node = join(place, "node_modules", name, "bin", "node");
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  return stdout?.startsWith(`v${version}.`) ? node : undefined;
}
