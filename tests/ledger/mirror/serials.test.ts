/**
 * Goal: a wallet of any size is read to the last NFT, side by side, and in about as many requests
 * as it has pages. Method: a stub by the recorded rules, with wallets of many shapes.
 */
import * as assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "uvu";
import { bounds } from "../../../src/bounds.ts";
import { MirrorError, type MirrorFault } from "../../../src/ledger/mirror/error.ts";
import { nftLists, nftRow, type Reply, sendJson, serialsOf, upTo, withStubs } from "./stub.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;

const every = (step: number, count: number) => upTo(count).map((n) => n * step);
const shapes: readonly (readonly [name: string, held: readonly number[], requestsMax: number])[] = [
  ["a whole collection", upTo(5_000), 60],
  ["every seventh NFT", every(7, 3_000), 45],
  ["the newest of a large collection", upTo(150).map((n) => 1_000_000 + n), 4],
  ["one early NFT, far below the others", [1, ...upTo(400).map((n) => 9_000_000 + n)], 16],
  ["the oldest, and a few spread above them", [...upTo(2_000), ...every(50_000, 150)], 26],
];
for (const [name, held, requestsMax] of shapes) {
  test(`${name}: all are read, in at most ${requestsMax} requests`, async () => {
    await withStubs([nftLists({ [A]: held })], async (mirror, [stub]) => {
      const sorted = [...held].sort((a, b) => a - b);
      assert.deepEqual(await serialsOf(mirror, WALLET, A), sorted);
      assert.ok(stub.asked.length <= requestsMax, `${stub.asked.length} requests`);
    });
  });
}

test("any set of serials is read whole", async () => {
  let held: readonly number[] = [];
  await withStubs([(...request) => nftLists({ [A]: held })(...request)], async (mirror) => {
    const stretch = fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 1, max: 900 }));
    const shape = fc.array(stretch, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(shape, async (stretches) => {
        const serials = stretches.flatMap(([from, count]) => upTo(count).map((n) => from + n));
        held = [...new Set(serials)].sort((a, b) => a - b);
        assert.deepEqual(await serialsOf(mirror, WALLET, A), held);
      }),
      { numRuns: 40 },
    );
  });
});

test("20,000 NFTs at 100 ms an answer take half of a star's deadline", async () => {
  const lists = nftLists({ [A]: upTo(20_000) });
  // Answers all it has been asked together: one round is one answer's time.
  const waiting: (() => void)[] = [];
  let rounds = 0;
  const reply: Reply = (...request) => {
    waiting.push(() => lists(...request));
    if (waiting.length > 1) return;
    setTimeout(() => {
      rounds += 1;
      for (const answer of waiting.splice(0)) answer();
    }, 100);
  };
  await withStubs([reply], async (mirror, [stub]) => {
    const serials = await serialsOf(mirror, WALLET, A, { deadlineMs: 60_000 });
    assert.equal(serials.length, 20_000);
    assert.ok(stub.asked.length <= 240, `${stub.asked.length} requests`);
    const roundsMax = bounds.holdingsDeadlineMs / 100 / 2;
    assert.ok(rounds <= roundsMax, `${rounds} rounds`);
  });
});

test("a wallet that is too large for the time is distinguished from a mirror node that is slow", async () => {
  const lists = nftLists({ [A]: upTo(20_000) });
  for (const [pages, fault] of [
    [5, "timeout"],
    [20, "too-large"],
  ] as const) {
    let left: number = pages;
    const reply: Reply = (...request) => void (left-- > 0 && lists(...request));
    await withStubs([reply], (mirror) =>
      assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs: 1_500 }), faultOf(fault)),
    );
  }
});

test("a fault in one range leaves no answer", async () => {
  const lists = nftLists({ [A]: upTo(2_000) });
  const reply: Reply = (response, path, request) =>
    path.includes("gte:1&") ? response.end("{") : lists(response, path, request);
  await withStubs([reply], (mirror) =>
    assert.rejects(serialsOf(mirror, WALLET, A), faultOf("not-json")),
  );
});

test("a node whose list of a range has no end is given up after a bounded number of pages", async () => {
  const reply: Reply = (response, path) => {
    const below = Number(/lt:(?<below>\d+)$/.exec(path)?.groups?.below ?? 1e12);
    const nfts = upTo(100).map((n) => nftRow(below - n));
    const next = `${path.replace(/&serialnumber=lt:.*$/, "")}&serialnumber=lt:${below - 100}`;
    sendJson(response, 200, { nfts, links: { next } });
  };
  await withStubs([reply], async (mirror, [stub]) => {
    await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("pages"));
    assert.ok(stub.asked.length <= bounds.mirrorPagesMax);
  });
});

test.run();
