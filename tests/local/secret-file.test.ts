import * as assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { keepSecret } from "../../src/local/secret-file.ts";
import { temporaryFolder } from "../support/folder.ts";

const folder = temporaryFolder("secret-file");
const file = join(folder, "secret");

test.after.each(() => rmSync(file, { force: true }));
test.after(() => rmSync(folder, { recursive: true }));

test("a secret is made once, and only we can read it", () => {
  const made = keepSecret(file);
  assert.equal(made.length, 32);
  assert.equal(keepSecret(file), made);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a file that was made and never written gets a secret", () => {
  writeFileSync(file, "");
  const made = keepSecret(file);
  assert.equal(made.length, 32);
  assert.equal(readFileSync(file, "utf8"), made);
});

test.run();
