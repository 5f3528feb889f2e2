import * as assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { test } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { RetryableError } from "../../src/errors.ts";
import { createHoldingsReader, type HoldingsReader } from "../../src/holdings/read-holdings.ts";
import { MirrorError, type MirrorFault } from "../../src/ledger/mirror/error.ts";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import { nftLists, type Reply, upTo, withStubs } from "../ledger/mirror/stub.ts";
import { SLACK_MS } from "../support/slack.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
const B = "0.0.5002";
const NOW = 1_795_163_145_197;

/** No list of a wallet's NFTs needs these. */
const UNASKED = {
  nft: () => assert.fail("no NFT is read by itself"),
  newestBlock: () => assert.fail("how far the node has come is not asked"),
};

function readerOf(
  mirror: Pick<MirrorNode, "nftsOf"> & Partial<Pick<MirrorNode, "nft" | "newestBlock">>,
  options: { deadlineMs?: number; excludedWallets?: string[] } = {},
): HoldingsReader {
  return createHoldingsReader({
    mirror: { ...UNASKED, ...mirror },
    collectionA: A,
    collectionB: B,
    excludedWallets: [],
    clock: { now: () => NOW },
    deadlineMs: bounds.holdingsDeadlineMs,
    ...options,
  });
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof RetryableError &&
  error.code === "HOLDINGS_UNAVAILABLE" &&
  error.retryAfterSeconds >= 1 &&
  error.cause instanceof MirrorError;

test("both collections are read, all pages, serials ascending", async () => {
  const lists = nftLists({ [A]: [...upTo(229), 1_000], [B]: [77, 3] });
  await withStubs([lists], async (mirror, [stub]) => {
    assert.deepEqual(await readerOf(mirror).read(WALLET), {
      collectionA: [...upTo(229), 1_000],
      collectionB: [3, 77],
      readAt: NOW,
    });
    assert.equal(stub.asked.length, 4);
  });
});

test("a wallet without NFTs, or unknown to the mirror node, holds nothing", async () => {
  await withStubs([nftLists({})], async (mirror) => {
    const holdings = await readerOf(mirror).read(WALLET);
    assert.deepEqual(holdings, { collectionA: [], collectionB: [], readAt: NOW });
  });
});

test("an excluded wallet holds nothing, and the mirror node is not asked", async () => {
  await withStubs([nftLists({ [A]: upTo(500) })], async (mirror, [stub]) => {
    const reader = readerOf(mirror, { excludedWallets: [WALLET] });
    const holdings = await reader.read(WALLET);
    assert.deepEqual(holdings, { collectionA: [], collectionB: [], readAt: NOW });
    assert.deepEqual(stub.asked, []);
    assert.equal((await reader.read("0.0.1002")).collectionA.length, 0);
    assert.equal(stub.asked.length > 0, true);
  });
});

test("the collections are read side by side", async () => {
  const waiting: (() => void)[] = [];
  const lists = nftLists({ [A]: [1], [B]: [2] });
  // Neither is answered before both have been asked for.
  const reply: Reply = (...request) => {
    waiting.push(() => lists(...request));
    if (waiting.length === 2) for (const answer of waiting) answer();
  };
  await withStubs([reply], async (mirror) => {
    const { collectionA, collectionB } = await readerOf(mirror).read(WALLET);
    assert.deepEqual([collectionA, collectionB], [[1], [2]]);
  });
});

test("reads of one wallet at the same time share one answer; the next read asks again", async () => {
  const held: Record<string, number[]> = { [A]: [1], [B]: [] };
  await withStubs([(...request) => nftLists(held)(...request)], async (mirror, [stub]) => {
    const reader = readerOf(mirror);
    const [one, two] = await Promise.all([reader.read(WALLET), reader.read(WALLET)]);
    assert.equal(one, two);
    assert.equal(stub.asked.length, 2);
    held[A] = [];
    assert.deepEqual((await reader.read(WALLET)).collectionA, []);
    assert.equal(stub.asked.length, 4);
    await Promise.all([reader.read(WALLET), reader.read("0.0.1002")]);
    assert.equal(stub.asked.length, 8, "wallets share nothing");
  });
});

test("a failed read is not remembered, and fails every caller that shared it", async () => {
  let down = true;
  const lists = nftLists({ [A]: [1], [B]: [] });
  const reply: Reply = (response, ...rest) =>
    down ? response.writeHead(400).end() : lists(response, ...rest);
  await withStubs([reply], async (mirror) => {
    const reader = readerOf(mirror);
    const reads = [reader.read(WALLET), reader.read(WALLET)];
    for (const read of reads) await assert.rejects(read, isUnavailable);
    down = false;
    assert.deepEqual((await reader.read(WALLET)).collectionA, [1]);
  });
});

for (const [name, fault] of [
  ["hangs", () => {}],
  ["answers 429 as HTML", (response) => response.writeHead(429).end("<html>")],
  ["answers 500", (response) => response.writeHead(500).end()],
  ["answers 404", (response) => response.writeHead(404).end()],
  ["redirects", (response) => response.writeHead(302, { location: "/" }).end()],
  ["sends rubbish", (response) => response.end("<html>")],
  ["resets connections", (response) => response.destroy()],
] as [string, Reply][]) {
  for (const collection of [A, B]) {
    test(`a mirror node that ${name} for ${collection} alone leaves no answer, in time`, async () => {
      const lists = nftLists({ [A]: [1], [B]: [2] });
      const reply: Reply = (response, path, request) =>
        (path.includes(collection) ? fault : lists)(response, path, request);
      await withStubs([reply], async (mirror) => {
        const startedAt = performance.now();
        await assert.rejects(readerOf(mirror, { deadlineMs: 300 }).read(WALLET), isUnavailable);
        assert.ok(performance.now() - startedAt < 300 + SLACK_MS);
      });
    });
  }
}

test("a refusal says whether the mirror node was slow or the wallet is too large", async () => {
  const lists = nftLists({ [A]: upTo(20_000), [B]: [] });
  /** What is said of a mirror node that falls silent after so many pages, all of which were read. */
  const shownAfter = async (pages: number, deadlineMs: number): Promise<string> => {
    let left = pages;
    const reply: Reply = (...request) => void (left-- > 0 && lists(...request));
    const shown = await withStubs([reply], async (mirror) => {
      const error = await readerOf(mirror, { deadlineMs })
        .read(WALLET)
        .catch((thrown) => thrown);
      assert.ok(isUnavailable(error));
      return error.shown ?? "";
    });
    // A busy machine may need longer to get so far.
    return left < 0 ? shown : shownAfter(pages, 2 * deadlineMs);
  };
  assert.match(
    await shownAfter(1, 1_000),
    /^The mirror node did not list this wallet's NFTs within \d+ s/,
  );
  assert.match(
    await shownAfter(30, 1_000),
    /^This wallet holds more NFTs than the mirror node gives us in \d+ s/,
  );
});

test("a refusal says whether an answer came and made no sense, or there were too many readings", async () => {
  const shownOf = async (fault: MirrorFault): Promise<string | undefined> => {
    const mirror = {
      nftsOf: () => Promise.reject(new MirrorError(fault, "as given")),
    };
    const error = await readerOf(mirror)
      .read(WALLET)
      .catch((thrown) => thrown);
    assert.ok(isUnavailable(error));
    return error.shown;
  };
  const senseless =
    "The mirror node's answer about this wallet's NFTs makes no sense. Nothing was spent.";
  for (const fault of [
    "status",
    "redirect",
    "too-long",
    "not-json",
    "schema",
    "link",
    "pages",
  ] as const) {
    assert.equal(await shownOf(fault), senseless, fault);
  }
  assert.equal(
    await shownOf("overloaded"),
    "Too many wallets' NFTs are being read right now. Nothing was spent.",
  );
  for (const fault of ["timeout", "network", "busy"] as const) {
    assert.match(
      (await shownOf(fault)) ?? "",
      /did not list this wallet's NFTs within 2\.5 s/,
      fault,
    );
  }
});

test("a fault on the second page leaves no answer", async () => {
  const lists = nftLists({ [A]: upTo(150), [B]: [2] });
  const reply: Reply = (response, path, request) =>
    path.includes("serialnumber") ? response.end("{") : lists(response, path, request);
  await withStubs([reply], async (mirror) => {
    await assert.rejects(readerOf(mirror).read(WALLET), isUnavailable);
  });
});

test("when one collection fails, the other is no longer read", async () => {
  const limits: unknown[] = [];
  const held: Record<string, ServerResponse> = {};
  let endOfB: Promise<unknown> | undefined;
  // A fails when B has been asked for, and B never answers.
  const reply: Reply = (response, path) => {
    held[path.includes(A) ? A : B] = response;
    if (held[A] === undefined || held[B] === undefined) return;
    endOfB = once(held[B], "close");
    held[A].writeHead(400).end();
  };
  await withStubs([reply], async (mirror) => {
    const heard: Pick<MirrorNode, "nftsOf"> = {
      nftsOf: (...asked) => {
        limits.push(asked[2]);
        return mirror.nftsOf(...asked);
      },
    };
    await assert.rejects(readerOf(heard).read(WALLET), isUnavailable);
    assert.ok(endOfB);
    await endOfB;
  });
  // Nothing of background work: no breaker stands before a star.
  assert.deepEqual(limits, [{ deadlineMs: bounds.holdingsDeadlineMs }]);
});

test("the time of a reading is when it began", async () => {
  let now = NOW;
  const mirror: Pick<MirrorNode, "nftsOf"> = {
    nftsOf: async (_, tokens) => {
      now += 1_000;
      return tokens.map(() => []) as never;
    },
  };
  const options = { collectionA: A, collectionB: B, excludedWallets: [], deadlineMs: 100 };
  const clock = { now: () => now };
  const reader = createHoldingsReader({ ...options, mirror: { ...UNASKED, ...mirror }, clock });
  assert.equal((await reader.read(WALLET)).readAt, NOW);
});

const SINCE = NOW - 3_000;
const at = (ms: number) => `${Math.floor(ms / 1_000)}.${String(ms % 1_000).padStart(3, "0")}000000`;

/** A mirror node that shows an NFT so, and has come so far. */
function shows(
  nft: { readonly owner?: string | null; readonly deleted?: boolean; readonly changedAt?: number },
  reachedAt: number | null,
) {
  const { owner = WALLET, deleted = false, changedAt } = nft;
  return readerOf({
    nftsOf: () => assert.fail("no list is read"),
    nft: async (tokenId, serial) => ({
      ...{ tokenId, serial, owner, deleted },
      changedAt: changedAt === undefined ? null : at(changedAt),
    }),
    newestBlock: async () =>
      reachedAt === null ? null : { number: 1, from: at(reachedAt), to: at(reachedAt) },
  });
}

test("an NFT is a wallet's by its own reading, from a node that is not behind the star that it counts with", async () => {
  const nft = { collection: "B", serial: 7, since: SINCE } as const;
  for (const [wanted, name, reader] of [
    [true, "moved since", shows({ changedAt: SINCE + 1 }, SINCE - 1)],
    [true, "moved when is not said", shows({}, SINCE - 1)],
    [false, "moved before, and the node is behind", shows({ changedAt: SINCE - 1 }, SINCE - 1)],
    [true, "moved before, and the node is not", shows({ changedAt: SINCE - 1 }, SINCE)],
    [true, "moved before, how far is not said", shows({ changedAt: SINCE - 1 }, null)],
    [true, "of another clock", shows({ changedAt: SINCE - 1 }, NOW - 7_200_000)],
    [false, "another's", shows({ owner: "0.0.9", changedAt: SINCE + 1 }, NOW)],
    [false, "without an owner", shows({ owner: null, changedAt: SINCE + 1 }, NOW)],
    [false, "deleted", shows({ deleted: true, changedAt: SINCE + 1 }, NOW)],
  ] as const) {
    assert.equal(await reader.hasTaken(WALLET, nft), wanted, name);
  }
});

test("all that an NFT is asked about shares one deadline; how far a node is, and the NFT, are of one node", async () => {
  const given: number[] = [];
  const nodes: unknown[] = [];
  const reader = readerOf({
    nftsOf: () => assert.fail("no list is read"),
    nft: async (tokenId, serial, limits) => {
      given.push(limits?.deadlineMs ?? 0);
      nodes.push(limits?.oneNode);
      await setTimeout(20);
      const owner = WALLET;
      return { tokenId, serial, owner, deleted: false, changedAt: at(SINCE - 1) };
    },
    newestBlock: async (limits) => {
      given.push(limits?.deadlineMs ?? 0);
      nodes.push(limits?.oneNode);
      return { number: 1, from: at(NOW), to: at(NOW) };
    },
  });
  assert.ok(await reader.hasTaken(WALLET, { collection: "A", serial: 7, since: SINCE }));
  const [first = 0, block = 0, second = 0] = given;
  assert.ok(first <= bounds.holdingsDeadlineMs);
  assert.ok(nodes[1] !== undefined && nodes[2] === nodes[1]);
  // A timer may come a millisecond early.
  assert.ok(block <= first - 19 && second <= block, given.join());
});

test("an NFT that cannot be read by itself is no answer", async () => {
  const fails = async () => {
    throw new MirrorError("busy", "503");
  };
  const nftsOf = () => assert.fail("no list is read");
  const reader = readerOf({ nftsOf, nft: fails });
  const asked = reader.hasTaken(WALLET, { collection: "A", serial: 7, since: SINCE });
  await assert.rejects(asked, isUnavailable);
});

test.run();
