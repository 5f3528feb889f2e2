import * as assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "uvu";
import { bounds } from "../../../src/bounds.ts";
import { createFailover } from "../../../src/ledger/failover.ts";
import { MirrorError, type MirrorFault } from "../../../src/ledger/mirror/error.ts";
import { createLanes } from "../../../src/ledger/mirror/lanes.ts";
import { Budget } from "../../../src/ledger/mirror/limits.ts";
import { MirrorClient, type MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { nftsSchema } from "../../../src/ledger/mirror/schemas.ts";
import { MirrorTransport } from "../../../src/ledger/mirror/transport.ts";
import { silentLogger } from "../../../src/log.ts";
import { SLACK_MS } from "../../support/slack.ts";
import { NOT_FOUND, nftLists, nftRow, type Reply, sendJson, serialsOf, withStubs } from "./stub.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
const LANE = bounds.mirrorRequestsInFlightMax;
const answers: Reply = nftLists({ [A]: [1, 2, 3] });
const hangs: Reply = () => {};
const fails: Reply = (response) => response.writeHead(500).end();
const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;
const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve));
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turnOfLoop();
}

// A hundred reads that end by one signal are no leak, and must not be reported as one.
process.on("warning", (warning) => {
  throw warning;
});

for (const [name, first] of [
  ["hangs", hangs],
  ["answers 500", fails],
  ["sends rubbish", (response) => response.end("<html>")],
  ["redirects", (response) => response.writeHead(302, { location: "/" }).end()],
  ["is not a mirror node (404 as HTML)", (response) => response.writeHead(404).end("<html>")],
  ["closes connections", (response) => response.destroy()],
] as [string, Reply][]) {
  test(`when the first node ${name}, the second answers within the same deadline, and is asked first from then on`, async () => {
    await withStubs([first, answers], async (mirror, [a, b]) => {
      // Only a node that hangs may use up its half of the time.
      const deadlineMs = name === "hangs" ? 1_000 : 20_000;
      const startedAt = performance.now();
      assert.deepEqual(await serialsOf(mirror, WALLET, A, { deadlineMs }), [1, 2, 3]);
      assert.ok(performance.now() - startedAt < SLACK_MS);
      assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
      assert.equal(a.asked.length, 1);
      assert.equal(b?.asked.length, 2);
    });
  });
}

const account = (id: string) => ({ account: id, deleted: false, key: null });
const owners = (...rows: readonly object[]) => ({ nfts: rows, links: { next: null } });
const transaction = (seconds: number) => ({
  transactions: [
    {
      ...{ transaction_id: `0.0.2-${seconds}-000000000`, consensus_timestamp: "9.000000000" },
      ...{ entity_id: null, name: "X", nonce: 0, result: "SUCCESS", scheduled: false },
    },
  ],
});
async function ownersOf(mirror: MirrorNode) {
  const pages = [];
  for await (const page of mirror.nftOwners(A)) pages.push(...page);
  return pages;
}
for (const [name, read, wrong, right] of [
  ["account", (mirror) => mirror.account(WALLET), account("0.0.1002"), account(WALLET)],
  ["NFT", (mirror) => mirror.nft(A, 1), nftRow(2), nftRow(1)],
  ["collection", ownersOf, owners(nftRow(1, { token_id: "0.0.5002" })), owners(nftRow(1))],
  ["page", ownersOf, owners(nftRow(2), nftRow(1)), owners(nftRow(1), nftRow(2))],
  [
    "transaction",
    (mirror) => mirror.transactions("0.0.2@7.000000000"),
    transaction(8),
    transaction(7),
  ],
] as [string, (mirror: MirrorNode) => Promise<unknown>, object, object][]) {
  test(`when the first node answers with another ${name}, the second is asked, and first from then on`, async () => {
    const sends =
      (body: object): Reply =>
      (response) =>
        sendJson(response, 200, body);
    const expected = await withStubs([sends(right)], read);
    await withStubs([sends(wrong), sends(right)], async (mirror, [first, second]) => {
      assert.deepEqual(await read(mirror), expected);
      assert.deepEqual(await read(mirror), expected);
      assert.deepEqual([first.asked.length, second?.asked.length], [1, 2]);
    });
  });
}

/** A node that has come so far, in seconds, and holds these serials. */
const reached =
  (seconds: number, serials: readonly number[]): Reply =>
  (response, path, request) => {
    const timestamp = { from: "1.000000000", to: `${seconds}.000000000` };
    if (!path.includes("/blocks")) return nftLists({ [A]: serials })(response, path, request);
    return sendJson(response, 200, { blocks: [{ number: 1, timestamp }] });
  };

for (const [name, seconds, expected] of [
  ["ten minutes behind the second is asked last", 1_700_000_000 - 600, [1, 2]],
  ["seconds behind the second is asked first", 1_700_000_000 - 10, [1]],
] as const) {
  test(`a node that is ${name}, and answers where the other one fails`, async () => {
    let isAway = false;
    const newer = reached(1_700_000_000, [1, 2]);
    const mayBeAway: Reply = (...asked) => (isAway ? asked[0].destroy() : newer(...asked));
    const run = async (mirror: MirrorNode): Promise<void> => {
      let serials: readonly number[] = [];
      // The nodes are compared soon after the start.
      for (let turn = 0; turn < 20 || (turn < 400 && serials.join() !== expected.join()); turn++) {
        await new Promise((resolve) => setTimeout(resolve, 25));
        serials = await serialsOf(mirror, WALLET, A);
      }
      assert.deepEqual(serials, expected);
      isAway = true;
      assert.deepEqual(await serialsOf(mirror, WALLET, A), [1]);
    };
    await withStubs([reached(seconds, [1]), mayBeAway], run, { isLasting: true });
  });
}

test("reads that have to be of one node are not asked of another one, also where that fails", async () => {
  const older = reached(1_700_000_000 - 600, [1]);
  const newer = reached(1_700_000_000, [1, 2]);
  const blocksAlone: Reply = (response, path, request) =>
    path.includes("/blocks") ? newer(response, path, request) : response.writeHead(500).end();
  await withStubs([blocksAlone, older], async (mirror, [, second]) => {
    const limits = { deadlineMs: 1_000, oneNode: {} };
    assert.equal((await mirror.newestBlock(limits))?.to, "1700000000.000000000");
    await assert.rejects(serialsOf(mirror, WALLET, A, limits), faultOf("busy"));
    assert.equal(second?.asked.length, 0);
    assert.deepEqual(await serialsOf(mirror, WALLET, A), [1]);
  });
});

test("a read that began before a node was found behind goes on there, and the next does not", async () => {
  await withStubs([answers, answers], async (_, stubs) => {
    const transport = new MirrorTransport({ urls: stubs.map(({ url }) => url), log: silentLogger });
    const target = `/accounts/${WALLET}/nfts?token.id=${A}`;
    const ask = (budget: Budget) => transport.list({ target, schema: nftsSchema }, budget);
    const read = new Budget({});
    await ask(read);
    transport.askLast([0]);
    await ask(read);
    await ask(new Budget({}));
    await transport.close();
    assert.deepEqual(
      stubs.map(({ asked }) => asked.length),
      [2, 1],
    );
  });
});

test("of three nodes that hang each gets its share of the time, and no read waits longer", async () => {
  await withStubs([hangs, hangs, hangs], async (mirror, stubs) => {
    const startedAt = performance.now();
    await assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs: 1_200 }), faultOf("timeout"));
    assert.ok(performance.now() - startedAt < 1_200 + SLACK_MS);
    assert.deepEqual(
      stubs.map(({ asked }) => asked.length),
      [1, 1, 1],
    );
  });
});

test("when all nodes send rubbish each is asked once", async () => {
  const rubbish: Reply = (response) => response.end("{");
  await withStubs([rubbish, rubbish], async (mirror, stubs) => {
    await assert.rejects(mirror.account(WALLET), faultOf("not-json"));
    assert.deepEqual(
      stubs.map(({ asked }) => asked.length),
      [1, 1],
    );
  });
});

for (const [name, page] of [
  ["leads elsewhere", { nfts: [], links: { next: "/api/v1/accounts/0.0.9/nfts?limit=1" } }],
  ["is not there", NOT_FOUND],
  ["is only a part", { nfts: [], links: { next: null } }],
] as const) {
  test(`a list that ${name} is asked of the next node, and of that one first from then on`, async () => {
    const status = { "leads elsewhere": 200, "is not there": 404, "is only a part": 206 }[name];
    const lies: Reply = (response) => sendJson(response, status, page);
    await withStubs([lies, answers], async (mirror, stubs) => {
      for (let read = 0; read < 2; read += 1) {
        assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
      }
      assert.deepEqual(
        stubs.map(({ asked }) => asked.length),
        [1, 2],
      );
    });
  });
}

test("a page walk goes on at another node where the first one left it", async () => {
  const serials = Array.from({ length: 150 }, (_, i) => i + 1);
  const lists = nftLists({ [A]: serials });
  let asked = 0;
  const diesAfterOne: Reply = (response, path, request) =>
    asked++ === 0 ? lists(response, path, request) : response.destroy();
  await withStubs([diesAfterOne, lists], async (mirror, [, second]) => {
    assert.deepEqual(await serialsOf(mirror, WALLET, A), serials);
    assert.equal(second?.asked.length, 1);
    assert.match(second?.asked[0] ?? "", /serialnumber=lt:51/);
  });
});

test("a node that failed comes last for ten seconds, then one request tries it", () => {
  let now = 0;
  const endpoints = createFailover<string>(() => now);
  const [a, b, c] = ["a", "b", "c"] as const;
  const order = () => endpoints.inOrder([a, b, c]).join("");
  assert.equal(order(), "abc");
  assert.equal(endpoints.failed(a), true);
  assert.equal(endpoints.failed(a), false, "it is already failing");
  assert.equal(order(), "bca");
  now += 10_000;
  assert.equal(order(), "abc", "one tries");
  assert.equal(order(), "bca", "the others do not wait for it");
  assert.equal(endpoints.answered(a), true);
  assert.equal(endpoints.answered(a), false);
  assert.equal(order(), "abc");
  for (const endpoint of [b, c, a]) endpoints.failed(endpoint);
  assert.equal(order(), "abc", "when all fail, all are tried, in the given order");
});

test("a base URL may end in a slash, a path, or the interface's own path", async () => {
  await withStubs([answers], async (_, [stub]) => {
    for (const path of ["/", "/x/", "/x/api/v1", "/api/v1/"]) {
      const mirror = new MirrorClient({ urls: [stub.url + path], log: silentLogger });
      await mirror.nftsOf(WALLET, [A]);
      await mirror.close();
    }
    assert.deepEqual(
      stub.asked.map((path) => path.split("/accounts")[0]),
      ["/api/v1", "/x/api/v1", "/x/api/v1", "/api/v1"],
    );
  });
  assert.throws(() => new MirrorClient({ urls: [], log: silentLogger }), RangeError);
});

/** Holds every request until the test lets some go. */
function gate() {
  const held: { response: ServerResponse; path: string }[] = [];
  const reply: Reply = (response, path) => void held.push({ response, path });
  const release = (count: number) => {
    for (const { response } of held.splice(0, count)) {
      sendJson(response, 200, { nfts: [], links: { next: null } });
    }
  };
  return { held, reply, release };
}

const outcome = (read: Promise<unknown>) =>
  read.then(
    () => "answered",
    (error) => error.fault,
  );

function stoppable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** Begins reads of different wallets. */
const begin = (mirror: MirrorNode, count: number, limits: object) =>
  Array.from({ length: count }, (_, i) => outcome(serialsOf(mirror, `0.0.${2000 + i}`, A, limits)));

test("requests in flight and waiting are bounded; one more is refused at once (A20 overload)", async () => {
  const { held, reply, release } = gate();
  await withStubs([reply], async (mirror, [stub]) => {
    const reads = begin(mirror, 700, { deadlineMs: 60_000 });
    const refused = await Promise.race(reads);
    assert.equal(refused, "overloaded");
    const connectionsMax = bounds.mirrorRequestsInFlightMax + bounds.mirrorBackgroundInFlightMax;
    let settled = false;
    void Promise.all(reads).then(() => {
      settled = true;
    });
    while (!settled) {
      assert.ok((await stub.connections()) <= connectionsMax);
      assert.ok(held.length <= bounds.mirrorRequestsInFlightMax);
      release(held.length);
      await turnOfLoop();
    }
    const outcomes = await Promise.all(reads);
    assert.ok(outcomes.filter((fault) => fault === "answered").length >= 512);
    assert.ok(outcomes.every((fault) => fault === "answered" || fault === "overloaded"));
  });
});

test("background work that hangs does not delay a star's read", async () => {
  const replies: Reply = (response, path, request) =>
    path.includes("/accounts/0.0.1001/") && answers(response, path, request);
  await withStubs([replies], async (mirror, [stub]) => {
    const { signal, abort } = stoppable();
    const reads = begin(mirror, 100, { deadlineMs: 60_000, background: true, signal });
    await until(() => stub.asked.length === bounds.mirrorBackgroundInFlightMax);
    assert.deepEqual(await serialsOf(mirror, WALLET, A, { deadlineMs: 20_000 }), [1, 2, 3]);
    assert.equal(stub.asked.length, bounds.mirrorBackgroundInFlightMax + 1);
    abort();
    assert.deepEqual(await Promise.all(reads), Array(100).fill("aborted"));
  });
});

test("waiting reads whose reader gave up do not delay the next", async () => {
  const { held, reply, release } = gate();
  await withStubs([reply], async (mirror) => {
    const busy = begin(mirror, LANE, { deadlineMs: 60_000 });
    await until(() => held.length === LANE);
    const reader = new AbortController();
    const given = begin(mirror, 5, { deadlineMs: 60_000, signal: reader.signal });
    const last = outcome(serialsOf(mirror, WALLET, A, { deadlineMs: 60_000 }));
    reader.abort();
    assert.deepEqual(await Promise.all(given), Array(5).fill("aborted"));
    release(1);
    await until(() => held.some(({ path }) => path.includes(WALLET)));
    release(LANE);
    assert.equal(await last, "answered");
    assert.deepEqual(await Promise.all(busy), Array(LANE).fill("answered"));
  });
});

test("background work rests while the node fails, and a star's own read never does", async () => {
  await withStubs([(response) => response.writeHead(400).end()], async (mirror, [stub]) => {
    const background = () => outcome(serialsOf(mirror, WALLET, A, { background: true }));
    for (let i = 0; i < 5; i++) assert.equal(await background(), "status");
    assert.equal(await background(), "resting");
    assert.equal(stub.asked.length, 5);
    assert.equal(await outcome(serialsOf(mirror, WALLET, A)), "status");
    assert.equal(stub.asked.length, 6);
  });
});

test("the lane has one size, full from the first request on", async () => {
  const enter = createLanes(() => 0);
  const underWay: (() => void)[] = [];
  const request = () => new Promise<void>((resolve) => void underWay.push(resolve));
  const reads = Array.from({ length: 3 * LANE }, () =>
    enter({ isOver: false, background: false }, request),
  );
  for (const size of [LANE, LANE, LANE, 0]) {
    await turnOfLoop();
    assert.equal(underWay.length, size);
    for (const settle of underWay.splice(0)) settle();
  }
  await Promise.all(reads);
});

test("two seconds later one background request tries, and the rest follow its success", async () => {
  let now = 0;
  const enter = createLanes(() => now);
  const ask = (answer: () => Promise<string>) =>
    enter({ isOver: false, background: true }, answer).catch((error) => error.fault);
  const bad = async () => Promise.reject(new MirrorError("busy", "HTTP 500"));
  const good = async () => "answered";
  for (let i = 0; i < 5; i++) assert.equal(await ask(bad), "busy");
  now = 1_999;
  assert.equal(await ask(good), "resting");
  now = 2_000;
  assert.deepEqual(await Promise.all([ask(bad), ask(good)]), ["busy", "resting"]);
  now = 4_000;
  assert.equal(await ask(good), "answered");
  assert.deepEqual(await Promise.all([ask(good), ask(good)]), ["answered", "answered"]);
  for (let i = 0; i < 4; i++) assert.equal(await ask(bad), "busy");
  assert.equal(await ask(good), "answered", "four failures are not five");
});

test("connections are kept for the reads that follow", async () => {
  await withStubs([answers], async (mirror, [stub]) => {
    for (let i = 0; i < 20; i++) await serialsOf(mirror, WALLET, A);
    assert.ok((await stub.connections()) <= 2);
  });
});

test.run();
