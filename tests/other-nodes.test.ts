// timeout: 240 s
/**
 * Goal: the service runs by each version of Node that is supported beside the one that runs the
 * tests. Method: npm brings the other versions, and the rules, the voting of stars and the ledger's
 * connections are tested again by each. A version stays until the packages are installed anew; one
 * that npm cannot bring is left out.
 */
import * as assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import { COMPILED, nodeArguments, scriptOf } from "./support/script.ts";

const VERSIONS = [22, 24];
const FILES = ["actors/wallet-day", "http/voting/stars", "ledger/hedera-topic"];
const TOGETHER = join(import.meta.dirname, "support/files-process.ts");
const run = promisify(execFile);

/** An install that was cut short runs no program, and is made again. */
const KEPT = join(import.meta.dirname, "../node_modules/.cache/other-nodes");

for (const version of VERSIONS) {
  const node = install(version);
  const perhaps = node === undefined ? test.skip : test;
  perhaps(`Node ${version} votes, decides and publishes`, async () => {
    const scripts = FILES.map((file) => scriptOf(join(import.meta.dirname, `${file}.test.ts`)));
    const together = nodeArguments(TOGETHER, COMPILED, `v${version}.`);
    const { stdout } = await run(node ?? "", [...together, ...scripts]);
    assert.equal(stdout.match(/Passed: +[1-9]/g)?.length, FILES.length, stdout);
  });
}

test.run();

/** @returns the path of that Node, or undefined where npm cannot bring it */
function install(version: number): string | undefined {
  // What the package `node` fetches by a second npm.
  const name = `node-${process.platform}-${process.arch}`;
  const program = join("node_modules", name, "bin", "node");
  const kept = join(KEPT, String(version));
  const runs = (folder: string): boolean => {
    const { stdout } = spawnSync(join(folder, program), ["--version"], { encoding: "utf8" });
    return stdout?.startsWith(`v${version}.`) ?? false;
  };
  if (!runs(kept)) {
    const wanted = ["--no-audit", "--no-fund", `${name}@${version}`];
    spawnSync("npm", ["install", "--prefix", kept, ...wanted], { timeout: 60_000 });
  }
  return runs(kept) ? join(kept, program) : undefined;
}
