/**
 * Goal: `GET /voting/live` sends every changed counter, from any process, through a Redis
 * outage, and from where a client left off. Method: two real `serve` processes on one Postgres;
 * stars are cast over HTTP at one and received at the other.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { type EventSource, openEvents } from "../../support/event-source.ts";
import { type Network, startNetwork } from "../../support/network.ts";
import { type Child, startProcess, until } from "../../support/processes.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";

interface Web {
  readonly url: string;
  readonly process: Child;
}

const test = suite("live counters");
let network: Network;
let webs: readonly [Web, Web];

test.before(async () => {
  network = await startNetwork();
  webs = [await startWeb(), await startWeb()];
});
test.after(async () => {
  for (const { process } of webs) await process.kill();
  await network.close();
});

async function startWeb(): Promise<Web> {
  const settings = await network.webSettings();
  const url = `http://127.0.0.1:${settings.PORT}`;
  const process = startProcess("serve", settings);
  await until("it is up", () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { url, process };
}

/** Casts a star of a new wallet, which carries `weight`. */
async function star(web: Web, target: string, weight = 1): Promise<number> {
  const wallet = await newWallet(network, { a: weight - 1 });
  const reply = await cast(web, await signIn(web, wallet), target);
  assert.equal(reply.status, 201, reply.text);
  return reply.body.counter.totalVotes;
}

const live = (web: Web, lastEventId?: string): Promise<EventSource> =>
  openEvents(`${web.url}/voting/live`, lastEventId);
const changesOf = (source: EventSource): unknown[] =>
  source.events.map(({ event, data }) => [event, `${data.type}/${data.id}`, data.totalVotes]);
const receives = (source: EventSource, id: string, totalVotes: number): Promise<void> =>
  until(`${id} is ${totalVotes}`, () =>
    source.events.some(({ data }) => data.id === id && data.totalVotes === totalVotes),
  );

test("a star cast at one process reaches every listener of the other", async () => {
  const source = await live(webs[1]);
  assert.equal(source.status, 200);
  assert.equal(source.headers.get("content-type"), "text/event-stream");
  assert.equal(source.headers.get("cache-control"), "no-store");
  assert.equal(source.headers.get("x-accel-buffering"), "no");
  assert.equal(source.headers.get("content-encoding"), null);
  const totalVotes = await star(webs[0], "token/0.0.9001", 3);
  await receives(source, "0.0.9001", totalVotes);
  const day = new Date().toISOString().slice(0, 10);
  assert.deepEqual(source.events[0]?.data, { type: "token", id: "0.0.9001", totalVotes, day });
  assert.equal(source.events[0]?.event, "counter");
  assert.match(source.lastId(), /^\d{4}-\d\d-\d\d\.\d+-\d+\.[\da-f]{8}$/);
  source.close();
});

test("a client that comes back gets every item that changed meanwhile, once, and no other", async () => {
  const first = await live(webs[0]);
  await receives(first, "0.0.9002", await star(webs[0], "token/0.0.9002"));
  first.close();
  await star(webs[0], "event/meetup", 2);
  await star(webs[1], "token/0.0.9003");
  const latest = await star(webs[0], "token/0.0.9003", 4);
  const event = await star(webs[1], "event/meetup");
  let place = "";
  for (const web of webs) {
    const again = await live(web, first.lastId());
    await receives(again, "meetup", event);
    await receives(again, "0.0.9003", latest);
    assert.deepEqual(changesOf(again).sort(), [
      ["counter", "event/meetup", event],
      ["counter", "token/0.0.9003", latest],
    ]);
    again.close();
    place = again.lastId();
  }
  const nothing = await live(webs[0], place);
  await receives(nothing, "wiki", await star(webs[0], "project/wiki"));
  assert.equal(nothing.events.length, 1);
  nothing.close();
});

test("an invalid id, and one of the future, are answered with reset", async () => {
  const today = new Date().toISOString().slice(0, 10);
  for (const id of ["nonsense", `${today}.999999999-0`, `${today}.0-999999999`, "4711-12"]) {
    const source = await live(webs[0], id);
    await until("an event arrives", () => source.events.length > 0);
    assert.equal(source.events[0]?.event, "reset", id);
    const votes = await star(webs[0], "project/dex");
    await receives(source, "dex", votes);
    source.close();
  }
});

test("HEAD opens no stream, and an outage of Redis changes nothing", async () => {
  // One more than a client may have streams.
  for (let n = 0; n < 21; n += 1) {
    const head = await fetch(`${webs[0].url}/voting/live`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-type")], [200, "text/event-stream"]);
  }
  const source = await live(webs[0]);
  await network.cutRedis();
  await receives(source, "0.0.9005", await star(webs[1], "token/0.0.9005"));
  const opened = await live(webs[1]);
  await receives(opened, "0.0.9006", await star(webs[0], "token/0.0.9006"));
  source.close();
  opened.close();
});

test("a client may have twenty streams, and a closed one frees its place", async () => {
  const sources: EventSource[] = [];
  for (let n = 0; n < 20; n += 1) sources.push(await live(webs[0]));
  assert.ok(sources.every(({ status }) => status === 200));
  const refused = await fetch(`${webs[0].url}/voting/live`);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.equal(((await refused.json()) as { code: string }).code, "RATE_LIMITED");
  sources[0]?.close();
  await until("a place is free", async () => {
    const source = await live(webs[0]);
    source.close();
    return source.status === 200;
  });
  for (const source of sources) source.close();
});

test("a process that gets SIGTERM ends its streams in order, and exits", async () => {
  const sources = await Promise.all([live(webs[1]), live(webs[1]), live(webs[1])]);
  assert.equal(await webs[1].process.stop(), 0, webs[1].process.log());
  // A cut connection would reject: they were ended, not waited for until the drain was over.
  await Promise.all(sources.map(({ ended }) => ended));
});

test.run();
