import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { openLedger } from "../../../src/local/hedera/ledger.ts";
import { startMirrorNode } from "../../../src/local/hedera/mirror-node.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { writeGoldenEvents } from "./golden-events.ts";
import { violations } from "./openapi.ts";

interface Recorded {
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const golden: Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../golden/mirror-golden.json"), "utf8"),
);

const folder = temporaryFolder("golden");
await writeGoldenEvents(folder);
const ledger = await openLedger({ folder, now: () => 1_700_000_000_000, blockEveryMs: 0 });
const mirror = await startMirrorNode(ledger);

test.after(async () => {
  await mirror.close();
  await ledger.close();
});

test("the recording is the whole one", () => {
  assert.equal(golden.length, 57);
});

for (const { path, status, headers, body } of golden) {
  test(`GET ${path} is answered as the real mirror node answered it`, async () => {
    const answer = await fetch(mirror.url + path);
    assert.equal(answer.status, status);
    for (const name of ["content-type", "cache-control", "link"]) {
      assert.equal(answer.headers.get(name) ?? undefined, headers[name], name);
    }
    assert.deepEqual(await answer.json(), body);
  });
}

test("the recording agrees with the OpenAPI document but for one field and the unknown path", () => {
  const broken = golden.flatMap(({ path, status, body }) => violations(path, status, body));
  assert.deepEqual([...new Set(broken)].sort(), [
    // Required by the document, not yet served by the recorded version, so not by ours.
    ".delegation_address is missing",
    "/api/v1/nope is not in the document",
  ]);
});

test.run();
