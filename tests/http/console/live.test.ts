/**
 * Goal: what is live moves, misses nothing that was accepted, and is for operators alone. Method:
 * two web processes on one database and one Redis, streams read as a browser reads them.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Hono } from "hono";
import { suite } from "uvu";
import { stream } from "../../../src/http/console/live.ts";
import type { PageRequest } from "../../../src/http/console/page.ts";
import { type Network, startNetwork } from "../../support/network.ts";
import { type Child, startProcess, until } from "../../support/processes.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { setUp } from "../../support/set-up.ts";
import { CONSOLE, sendPlain, signInOperator, type Visitor, visitor } from "./browser-session.ts";
import { readStream, type StreamEvent } from "./event-stream.ts";

interface Context {
  network: Network;
  children: Child[];
  here: { url: string };
  there: { url: string };
  operator: Visitor;
  voters: { wallet: string; token: string }[];
}

const test = suite<Context>("/ops live");

test.before(
  setUp(async (context) => {
    const network = await startNetwork();
    context.network = network;
    const settings = [await network.webSettings(), await network.webSettings()];
    context.children = settings.map((each) => startProcess("serve", { ...each, ...CONSOLE }));
    const [here, there] = settings.map(({ PORT }) => ({ url: `http://127.0.0.1:${PORT}` }));
    if (here === undefined || there === undefined) throw new Error("two processes are needed");
    for (const { url } of [here, there]) {
      await until("it answers", () =>
        fetch(`${url}/healthz`).then(
          () => true,
          () => false,
        ),
      );
    }
    const service = { ...network, ...here } as never;
    context.voters = [];
    for (let n = 0; n < 2; n += 1) {
      const wallet = await newWallet(service, { a: 1 });
      context.voters.push({ wallet: wallet.id, token: await signIn(here, wallet) });
    }
    Object.assign(context, { here, there, operator: await signInOperator(here) });
  }),
);
test.after(async ({ network, children }) => {
  await Promise.all((children ?? []).map((child) => child.stop()));
  await network?.close();
});

const decisions = (events: readonly StreamEvent[]) =>
  events.filter(({ event }) => event === "decision").map(({ data }) => JSON.parse(data));

test("a session opened at one process holds at the other", async ({ there, operator }) => {
  assert.equal((await visitor(there, operator.cookie).get("/ops")).status, 200);
});

test("decisions of one process arrive at the other, accepted and refused, with reasons", async ({
  here,
  there,
  operator,
  voters: [one],
}) => {
  const url = `${there.url}/ops/live/decisions`;
  const reading = readStream(url, operator, (events) => decisions(events).length >= 2);
  const { body } = await cast(here, one?.token ?? "", "event/meetup");
  await cast(here, one?.token ?? "", "event/meetup");
  const found = decisions(await reading);
  const accepted = found.find(({ isAccepted }) => isAccepted);
  const refused = found.find(({ isAccepted }) => !isAccepted);
  assert.equal(accepted.id, body.star.id);
  assert.deepEqual([accepted.wallet, accepted.weight], [one?.wallet, 2]);
  assert.deepEqual([refused.wallet, refused.why], [one?.wallet, "Already starred today"]);
});

test("a client that comes back with the last event's id gets what was accepted meanwhile, at any process", async ({
  here,
  there,
  operator,
  voters: [one, two],
}) => {
  const url = (base: string): string =>
    `${base}/ops/live/decisions?wallet=${one?.wallet}&event=hack`;
  const since = Date.now();
  const missed = await cast(here, one?.token ?? "", "event/hack");
  await cast(here, two?.token ?? "", "event/hack");
  await cast(here, one?.token ?? "", "event/mint");
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  const events = await readStream(url(there.url), operator, (all) => decisions(all).length >= 1, {
    "last-event-id": String(since),
  });
  assert.deepEqual(
    decisions(events).map(({ id }) => id),
    [missed.body.star.id],
    "the filter lets through what it should, and nothing else",
  );
  const [event] = events.filter((each) => each.event === "decision");
  assert.ok(Number(event?.id) >= since);
});

test("the numbers come by themselves, with figures and every minute of the hour", async ({
  here,
  operator,
}) => {
  const events = await readStream(`${here.url}/ops/live/numbers`, operator, (all) =>
    all.some(({ event }) => event === "numbers"),
  );
  const numbers = JSON.parse(events.find(({ event }) => event === "numbers")?.data ?? "{}");
  // A page that was away for some of them shows what it has missed.
  assert.equal(numbers.points.length, 60);
  assert.ok(numbers.figures.some(({ key }: { key: string }) => key === "pending"));
  const known = numbers.health.map(({ key }: { key: string }) => key);
  assert.deepEqual(known, [
    "postgres",
    "redis",
    "mirror",
    "publishing",
    "rewards",
    "exports",
    "balance",
    "check",
  ]);
});

test("a stream keeps no session alive, and none opens without one", async ({
  here,
  network,
  operator,
}) => {
  assert.equal((await sendPlain(here, "/ops/live/numbers")).status, 401);
  await network.sql`update operator_session set used_at = used_at - 1200000`;
  const [before] = await network.sql`select max(used_at) as at from operator_session`;
  await readStream(`${here.url}/ops/live/numbers`, operator, (all) => all.length > 0);
  const [after] = await network.sql`select max(used_at) as at from operator_session`;
  assert.equal(after?.at, before?.at);
});

test("a stream ends when the process drains, when its session is over, and when it is old", async () => {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  const opened: { cancel(): Promise<void> }[] = [];
  const open = async () => {
    const its = { isOpen: true, isDraining: false, isSignedIn: true };
    const app = new Hono().get("/", (context) => {
      const session = { operator: "Lin" };
      const request = { context, session, isSignedIn: () => Promise.resolve(its.isSignedIn) };
      const isDraining = () => its.isDraining;
      return stream(request as unknown as PageRequest, isDraining, () => Promise.resolve());
    });
    const reader = (await app.request("/")).body?.getReader();
    assert.ok(reader);
    opened.push(reader);
    void reader.closed.then(() => {
      its.isOpen = false;
    });
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return its;
  };
  performance.now = () => now() + aheadMs;
  try {
    const [drained, signedOut, old] = await Promise.all([open(), open(), open()]);
    await pause(1_100);
    assert.ok(drained.isOpen);
    drained.isDraining = true;
    await until("the one that drains is over", () => !drained.isOpen);
    assert.ok(signedOut.isOpen);
    signedOut.isSignedIn = false;
    aheadMs += 16_000;
    await until("the one that is signed out is over", () => !signedOut.isOpen);
    assert.ok(old.isOpen);
    aheadMs += 15 * 60_000;
    await until("the old one is over", () => !old.isOpen);
  } finally {
    performance.now = now;
    // One that did not end would keep this process up.
    for (const one of opened) await one.cancel();
  }
});

test("one operator's open pages leave room for another's", async ({ here, operator }) => {
  const open: AbortController[] = [];
  const openOne = async ({ cookie }: Visitor): Promise<number> => {
    const controller = new AbortController();
    open.push(controller);
    const url = `${here.url}/ops/live/numbers`;
    const reply = await fetch(url, { headers: { cookie }, signal: controller.signal });
    return reply.status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 51; n += 1) statuses.push(await openOne(operator));
  assert.ok(statuses.includes(503));
  assert.equal(await openOne(await signInOperator(here, "Bea")), 200);
  for (const controller of open) controller.abort();
});

test("a look at a stream's headers counts as no open stream", async ({ here, operator }) => {
  const cookie = { cookie: operator.cookie };
  for (let n = 0; n < 60; n += 1) {
    const reply = await fetch(`${here.url}/ops/live/numbers`, { method: "HEAD", headers: cookie });
    assert.equal(reply.status, 200);
  }
  await readStream(`${here.url}/ops/live/numbers`, operator, (all) => all.length > 0);
});

test.run();
