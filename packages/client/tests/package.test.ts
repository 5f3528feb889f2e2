/**
 * Goal: what is published is small, and works as it is. Method: the package is built and packed; the
 * tarball is measured, unpacked where packages are looked for, and loaded by plain Node.
 */
import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "uvu";

const MOST_PACKED_BYTES = 15_000;
const root = fileURLToPath(new URL("..", import.meta.url));

/** Asks a service that answers by hand, as a program that has only the package would. */
const PROGRAM = `
import { data, StarboardError, voting } from "@starboard/client";
const asked = [];
const send = async (url, { method = "GET" } = {}) => {
  asked.push(method + " " + url);
  return Response.json({ error: "No.", code: "NOT_FOUND" }, { status: 404 });
};
const site = { baseUrl: "https://x.example", fetch: send };
for (const call of [
  () => data({ ...site, apiKey: "k" }).get("/tokens/top"),
  () => voting({ ...site, token: "t" }).star({ type: "token", id: "0.0.7" }),
]) {
  const error = await call().catch((error) => error);
  if (!(error instanceof StarboardError) || error.code !== "NOT_FOUND") throw error;
}
process.stdout.write(asked.join());`;

test("the packed tarball is small, and its client runs in plain Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-client-"));
  try {
    const compiler = fileURLToPath(import.meta.resolve("typescript/package.json"));
    const tsc = join(compiler, "../bin/tsc");
    const made = join(folder, "made");
    execFileSync(process.execPath, [tsc, "-p", root, "--outDir", join(made, "dist")]);
    for (const name of ["package.json", "README.md"]) cpSync(join(root, name), join(made, name));
    execFileSync("npm", ["pack", "--silent", "--offline", "--pack-destination", folder], {
      cwd: made,
    });
    const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
    const { size } = statSync(tarball);
    assert.ok(size <= MOST_PACKED_BYTES, `${size} bytes`);

    const installed = join(folder, "node_modules/@starboard/client");
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
      cwd: folder,
      encoding: "utf8",
    });
    const [top, star] = said.split(",");
    assert.equal(top, "GET https://x.example/v1/tokens/top");
    assert.equal(star, "POST https://x.example/voting/stars");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
