/**
 * Goal: an export whose download is cut, as by a service that restarts, is read whole; one that is
 * cut each time, or is another one afterwards, is not. Method: a server that cuts on demand.
 */
import * as assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import { openExportSource, ProvisionalChanged } from "../../src/audit/export-source.ts";
import { bounds } from "../../src/bounds.ts";

const LINES = Array.from({ length: 1_000 }, (_, index) => `line ${index} ${"x".repeat(100)}`);

/** Reads a day of which each download ends where the next of `cuts` says, the last at its end. */
async function read(cuts: readonly number[], textOf = (_: number) => LINES) {
  let asked = 0;
  const server = createServer((_, response) => {
    const lines = textOf(asked);
    const cut = cuts[asked];
    asked += 1;
    const text = `${lines.join("\n")}\n`;
    response.writeHead(200, { "content-length": text.length });
    if (cut === undefined) response.end(text);
    else response.write(text.slice(0, cut), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  const found: string[] = [];
  try {
    const { port } = server.address() as AddressInfo;
    const source = openExportSource(`http://127.0.0.2:${port}/exports`);
    for await (const line of source.lines("2026-11-20")) found.push(line);
    return { found, asked };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a download that is cut goes on where it was, within a line or not", async () => {
  const { length } = `${LINES.slice(0, 500).join("\n")}\n`;
  for (const cuts of [[length], [length + 7], [0], [length, 20], [20, length]]) {
    const { found, asked } = await read(cuts);
    assert.deepEqual(found, LINES);
    assert.equal(asked, cuts.length + 1);
  }
});

test("the line of a wallet with as many NFTs as it may bring is read", async () => {
  const serials = Array.from({ length: 100 * bounds.mirrorPagesMax }, (_, n) => 10_000_000 + n);
  const line = JSON.stringify({ counted: serials, held: { A: serials, B: serials } });
  assert.deepEqual((await read([], () => [line])).found, [line]);
});

test("a download that is cut each time is none", async () => {
  await assert.rejects(read([50_000, 50_000, 50_000]));
});

test("a download that is another one after it was cut is none", async () => {
  const other = LINES.with(3, "line 3");
  const texts = [LINES, other, other];
  await assert.rejects(
    read([50_000], (asked) => texts[asked] ?? other),
    /^Error: was cut, and is another one now$/,
  );
  await assert.rejects(
    read([50_000], (asked) => (asked === 0 ? LINES : LINES.slice(0, 3))),
    /^Error: was cut, and is another one now$/,
  );
});

test("a download that is another one after it was cut may be so while its day is not final", async () => {
  const header = (final: boolean) =>
    JSON.stringify({
      kind: "header",
      format: 1,
      day: "2026-11-20",
      final,
      network: "local",
      topics: { event: null, asset: null },
      collections: { a: { id: "0.0.1", key: "a" }, b: { id: "0.0.2", key: "b" } },
      excludedWallets: [],
      xpPerStar: 1,
      previous: final ? "0".repeat(64) : null,
    });
  for (const [first, next, isAllowed] of [
    [false, false, true],
    // It became final meanwhile.
    [false, true, true],
    [true, false, false],
  ] as const) {
    const texts = [LINES.with(0, header(first)), LINES.with(0, header(next)).with(3, "line 3")];
    await assert.rejects(
      read([50_000], (asked) => texts[asked] ?? texts[1] ?? []),
      (error) => error instanceof ProvisionalChanged === isAllowed,
    );
  }
});

test.run();
