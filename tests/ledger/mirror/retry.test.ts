/**
 * Goal: a node that answers 429 or 503 is asked again when it says, until the reader's deadline.
 * Method: stubs that count what they are asked, and one that allows 50 requests a second.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { bounds } from "../../../src/bounds.ts";
import { createHoldingsReader } from "../../../src/holdings/read-holdings.ts";
import { MirrorError, type MirrorFault } from "../../../src/ledger/mirror/error.ts";
import { MirrorClient } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";
import { inSequence, mirrorStub, nftLists, type Reply, serialsOf, withStubs } from "./stub.ts";

const WALLET = "0.0.1001";
const [A, B] = ["0.0.5001", "0.0.5002"];
const answers = nftLists({ [A]: [1, 2, 3], [B]: [] });
const tooManyRequests =
  (retryAfter: string): Reply =>
  (response) =>
    response.writeHead(429, { "retry-after": retryAfter }).end("<html>");
const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;

/** A gateway before a node: a bucket of requests that fills evenly; the rest get 429. */
function limited(perSecond: number, retryAfter: string | undefined, reply: Reply): Reply {
  let [left, at] = [perSecond, performance.now()];
  return (response, path, request) => {
    const now = performance.now();
    left = Math.min(perSecond, left + ((now - at) * perSecond) / 1_000);
    at = now;
    if (left >= 1) {
      left -= 1;
      return reply(response, path, request);
    }
    response.writeHead(429, retryAfter === undefined ? {} : { "retry-after": retryAfter });
    response.end("<html>Too many requests</html>");
  };
}

for (const [name, header] of [
  ["in seconds", () => "1"],
  ["as a date", () => new Date(Date.now() + 2_000).toUTCString()],
] as const) {
  test(`Retry-After ${name} is obeyed: nothing is asked before`, async () => {
    const at: number[] = [];
    const timed =
      (reply: Reply): Reply =>
      (...request) => {
        at.push(performance.now());
        reply(...request);
      };
    const first: Reply = (...request) => tooManyRequests(header())(...request);
    await withStubs([timed(inSequence(first, answers))], async (mirror) => {
      const limits = { deadlineMs: 5_000 };
      assert.deepEqual(await serialsOf(mirror, WALLET, A, limits), [1, 2, 3]);
      assert.equal(at.length, 2);
      const [one = 0, two = 0] = at;
      // A date has no fractions of a second, and timers may be early by one millisecond.
      assert.ok(two - one >= 990, `${two - one} ms`);
    });
  });
}

test("a node that asks for more time than there is is not waited for", async () => {
  await withStubs([tooManyRequests("60")], async (mirror, [stub]) => {
    await assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs: 60_000 }), faultOf("busy"));
    assert.equal(stub.asked.length, 1);
  });
});

test("while one node asks to be left alone, the other is asked", async () => {
  await withStubs([tooManyRequests("60"), answers], async (mirror, [first, second]) => {
    assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
    assert.deepEqual([first.asked.length, second?.asked.length], [1, 1]);
  });
});

test("while one node asks to be left alone, the other is asked again", async () => {
  const failsOnce = inSequence((response) => response.writeHead(503).end(), answers);
  await withStubs([tooManyRequests("5"), failsOnce], async (mirror, stubs) => {
    assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
    assert.deepEqual(
      stubs.map(({ asked }) => asked.length),
      [1, 2],
    );
  });
});

for (const [name, fails] of [
  ["busy", tooManyRequests("0")],
  ["cut off", (response) => response.destroy()],
] as [string, Reply][]) {
  test(`while the other node hangs, one that was ${name} for a moment is asked again`, async () => {
    const hangs: Reply = () => {};
    await withStubs([inSequence(fails, answers), hangs], async (mirror, stubs) => {
      assert.deepEqual(await serialsOf(mirror, WALLET, A, { deadlineMs: 2_000 }), [1, 2, 3]);
      assert.deepEqual(
        stubs.map(({ asked }) => asked.length),
        [2, 1],
      );
    });
  });
}

for (const retryAfter of ["1", undefined]) {
  test(`60 stars that start together behind 50 requests a second all get their holdings (Retry-After: ${retryAfter})`, async () => {
    await withStubs([limited(50, retryAfter, answers)], async (mirror) => {
      const reader = createHoldingsReader({
        mirror,
        collectionA: A,
        collectionB: B,
        excludedWallets: [],
        clock: { now: Date.now },
        deadlineMs: bounds.holdingsDeadlineMs,
      });
      const reads = Array.from({ length: 60 }, (_, i) => reader.read(`0.0.${2_000 + i}`));
      const outcomes = await Promise.allSettled(reads);
      assert.deepEqual([...new Set(outcomes.map(({ status }) => status))], ["fulfilled"]);
    });
  });
}

test("a client that is closed ends what waits to be asked again", async () => {
  const stub = await mirrorStub(tooManyRequests("30"));
  const mirror = new MirrorClient({ urls: [stub.url], log: silentLogger });
  const read = mirror.account(WALLET, { deadlineMs: 60_000 }).catch((error) => error);
  while (stub.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // Its answer has come, and the pause has started.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await mirror.close();
  assert.ok((await read) instanceof MirrorError);
  assert.equal(stub.asked.length, 1);
  await stub.close();
});

test("a node that is busy from the start is asked on; one that never answers is given up sooner", async () => {
  let busyUntil: number | undefined;
  const busy = await mirrorStub((...request) => {
    busyUntil ??= performance.now() + 1_000;
    if (performance.now() < busyUntil) request[0].writeHead(503).end();
    else answers(...request);
  });
  const silent = await mirrorStub(() => undefined);
  const limits = { deadlineMs: 20_000 };
  const read = async ({ url }: { readonly url: string }) => {
    const mirror = new MirrorClient({ urls: [url], log: silentLogger, firstAnswerMs: 200 });
    try {
      return await serialsOf(mirror, WALLET, A, limits);
    } finally {
      await mirror.close();
    }
  };
  const startedAt = performance.now();
  await assert.rejects(read(silent), faultOf("timeout"));
  assert.ok(performance.now() - startedAt < limits.deadlineMs / 2);
  assert.deepEqual(await read(busy), [1, 2, 3]);
  await Promise.all([busy.close(), silent.close()]);
});

test.run();
