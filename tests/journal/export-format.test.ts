import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "uvu";
import {
  chainHash,
  EXPORT_FORMAT,
  type ExportHeader,
  exportLine,
  exportList,
  GENESIS,
  lineText,
} from "../../src/journal/export-format.ts";

const header: ExportHeader = {
  kind: "header",
  format: EXPORT_FORMAT,
  day: "2026-11-20",
  final: true,
  network: "local",
  topics: { event: "0.0.5", asset: null },
  collections: { a: { id: "0.0.6", key: "alpha" }, b: { id: "0.0.7", key: "beta" } },
  excludedWallets: [],
  xpPerStar: 1,
  previous: GENESIS,
};

test("a line is one JSON text and a newline, and parsing it gives the same bytes back", () => {
  const text = lineText(header);
  assert.equal(text.indexOf("\n"), text.length - 1);
  assert.equal(lineText(exportLine.parse(JSON.parse(text))), text);
  // What the schemas do not know is no line: a format that grows takes a new number.
  assert.throws(() => exportLine.parse({ ...header, more: 1 }));
  assert.throws(() => exportLine.parse({ ...header, day: "2026-02-30" }));
});

test("a chain hash is that of both hashes written one after the other", () => {
  const body = createHash("sha256").update(lineText(header)).digest("hex");
  const expected = createHash("sha256").update(`${GENESIS}${body}`).digest("hex");
  assert.equal(chainHash(GENESIS, body), expected);
});

test("the list shows null for what is not final yet", () => {
  const open = { stars: null, releases: null, sha256: null, chain: null, bytes: null };
  exportList.parse({ exports: [{ day: "2026-11-20", final: false, ...open }] });
});

test.run();
