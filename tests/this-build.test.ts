/** One release has one version: package, lock, client, API document and changelog name the same. */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "uvu";
import { openApiDocument } from "../src/http/v1/openapi.ts";
import { ownVersion } from "../src/this-build.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

test("package, lock, client, API document and changelog name one version", () => {
  const { version, engines } = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  const document = openApiDocument([], "http://localhost/v1");
  const [, released] = /^## (.+)$/m.exec(read("CHANGELOG.md")) ?? [];
  assert.deepEqual(
    {
      own: ownVersion(),
      lock: lock.version,
      root: lock.packages[""].version,
      client: JSON.parse(read("packages/client/package.json")).version,
      document: (document.info as { version: string }).version,
      released,
    },
    {
      own: version,
      lock: version,
      root: version,
      client: version,
      document: version,
      released: version,
    },
  );
  assert.equal(engines.node, ">=20.19");
});

test.run();
