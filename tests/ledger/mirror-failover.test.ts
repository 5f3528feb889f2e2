import * as assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "uvu";
import { bounds } from "../../src/config.ts";
import { mirrorEndpoints } from "../../src/ledger/mirror-endpoints.ts";
import { MirrorError, type MirrorFault } from "../../src/ledger/mirror-error.ts";
import { createLanes } from "../../src/ledger/mirror-lanes.ts";
import type { MirrorNode } from "../../src/ledger/mirror-node.ts";
import { nftLists, type Reply, sendJson, serialsOf, withStubs } from "./mirror-stub.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
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
      const begun = performance.now();
      assert.deepEqual(await serialsOf(mirror, WALLET, A, { deadlineMs }), [1, 2, 3]);
      assert.ok(performance.now() - begun < 2_000);
      assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
      assert.equal(a.asked.length, 1);
      assert.equal(b?.asked.length, 2);
    });
  });
}

test("of three nodes that hang each gets its share of the time, and nobody waits longer", async () => {
  await withStubs([hangs, hangs, hangs], async (mirror, stubs) => {
    const begun = performance.now();
    await assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs: 1_200 }), faultOf("timeout"));
    assert.ok(performance.now() - begun < 3_000);
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

test("a node that failed stands last for ten seconds, then one request tries it", () => {
  let now = 0;
  const endpoints = mirrorEndpoints(["http://a", "http://b", "http://c"], () => now);
  const order = () =>
    endpoints
      .inOrder()
      .map(({ origin }) => origin.at(-1))
      .join("");
  const [a, b, c] = endpoints.all;
  assert.ok(a && b && c);
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

test("a base URL may end in a slash, a path, or the interface's own path", () => {
  const all = (...urls: string[]) => mirrorEndpoints(urls, () => 0).all;
  assert.deepEqual(all("http://a:1/", "https://b/x/", "https://b/x/api/v1", "https://b/api/v1/"), [
    { origin: "http://a:1", prefix: "" },
    { origin: "https://b", prefix: "/x" },
    { origin: "https://b", prefix: "/x" },
    { origin: "https://b", prefix: "" },
  ]);
  assert.throws(() => all(), RangeError);
});

/** Holds every request until it is told to let some go. */
function gate() {
  const held: { response: ServerResponse; path: string }[] = [];
  const reply: Reply = (response, path) => void held.push({ response, path });
  const letGo = (count: number) => {
    for (const { response } of held.splice(0, count)) {
      sendJson(response, 200, { nfts: [], links: { next: null } });
    }
  };
  return { held, reply, letGo };
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

/** Requests of stars before lanes of their own; tells how many are under way. */
function asManyAsTheyLetIn(now: () => number) {
  const { enter, slowDown } = createLanes(now);
  const underWay: (() => void)[] = [];
  const request = () => new Promise<void>((resolve) => void underWay.push(resolve));
  return {
    slowDown,
    begin(count: number) {
      for (let i = 0; i < count; i++) {
        enter({ isOver: false, background: false }, request).catch(() => undefined);
      }
      return underWay.length;
    },
    async answer(count: number) {
      for (const settle of underWay.splice(0, count)) settle();
      await turnOfLoop();
      return underWay.length;
    },
  };
}

/** Begins reads of different wallets. */
const begin = (mirror: MirrorNode, count: number, limits: object) =>
  Array.from({ length: count }, (_, i) => outcome(serialsOf(mirror, `0.0.${2000 + i}`, A, limits)));

test("requests in flight and waiting are bounded; one more is refused at once", async () => {
  const { held, reply, letGo } = gate();
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
      letGo(held.length);
      await turnOfLoop();
    }
    const outcomes = await Promise.all(reads);
    assert.ok(outcomes.filter((fault) => fault === "answered").length >= 512);
    assert.ok(outcomes.every((fault) => fault === "answered" || fault === "overloaded"));
  });
});

test("background work that hangs does not stand before a star's read", async () => {
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

test("waiting reads whose reader gave up do not hold up the next", async () => {
  const { held, reply, letGo } = gate();
  await withStubs([reply], async (mirror) => {
    const busy = begin(mirror, 24, { deadlineMs: 60_000 });
    await until(() => held.length === 24);
    const reader = new AbortController();
    const given = begin(mirror, 5, { deadlineMs: 60_000, signal: reader.signal });
    const last = outcome(serialsOf(mirror, WALLET, A, { deadlineMs: 60_000 }));
    reader.abort();
    assert.deepEqual(await Promise.all(given), Array(5).fill("aborted"));
    letGo(1);
    await until(() => held.some(({ path }) => path.includes(WALLET)));
    letGo(24);
    assert.equal(await last, "answered");
    assert.deepEqual(await Promise.all(busy), Array(24).fill("answered"));
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

test("a mirror node that answers is asked for more at once, up to the bound", async () => {
  const lanes = asManyAsTheyLetIn(() => 0);
  assert.equal(lanes.begin(600), 24, "before it has shown anything");
  assert.equal(await lanes.answer(24), 48);
  assert.equal(await lanes.answer(48), 96);
  assert.equal(await lanes.answer(96), bounds.mirrorRequestsInFlightMax);
  assert.equal(await lanes.answer(20), bounds.mirrorRequestsInFlightMax);
});

test("one that says it is busy is asked for half as much, once for all that were under way, and then for slowly more", async () => {
  let now = 0;
  const lanes = asManyAsTheyLetIn(() => now);
  lanes.begin(536);
  lanes.slowDown();
  lanes.slowDown();
  assert.equal(await lanes.answer(24), 13, "half of 24, and one more for the answers since");
  for (let i = 0; i < 5; i++) {
    now += 500;
    lanes.slowDown();
  }
  assert.equal(
    await lanes.answer(7),
    7,
    "never fewer than six, and one more for the answers since",
  );
});

test("two seconds later one background request tries, and the rest follow its success", async () => {
  let now = 0;
  const { enter } = createLanes(() => now);
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
