/**
 * Goal: a client that reads slowly, or not at all, costs this process nothing and keeps nobody
 * from hearing the latest values. Method: the route on a real server, over a journal that we
 * make up; one client on a raw socket that stops reading, others that read.
 */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { suite } from "uvu";
import { serveHttp } from "../../../src/http/serve.ts";
import { liveRoutes } from "../../../src/http/voting/live.ts";
import { createSeats } from "../../../src/http/voting/stream-seats.ts";
import { silentLogger } from "../../../src/log.ts";
import type { CounterChange } from "../../../src/reads/counter-changes.ts";
import { createLiveCounters } from "../../../src/voting/live-counters.ts";
import { openEvents } from "../../support/event-source.ts";
import { until } from "../../support/processes.ts";

const ITEMS = 2_000;

/** A journal in which every item changes with each step. */
function busyJournal() {
  let star = 0;
  const changes = (): CounterChange[] =>
    Array.from({ length: ITEMS }, (_, n) => ({
      type: "token",
      id: `0.0.${n}`,
      totalVotes: star,
      day: "2026-11-20",
      star: star - ITEMS + n + 1,
      release: 0,
    }));
  const place = () => ({ star, release: 0 });
  return {
    step: () => {
      star += ITEMS;
    },
    deps: {
      lookAtJournal: async () => ({ settled: place(), drawn: place() }),
      loadChanges: async () => changes(),
      log: silentLogger,
      pollEveryMs: 5,
    },
    last: () => star,
  };
}

const test = suite("slow readers of live counters");

test("one that reads nothing is cut, and the others hear the latest of every item", async () => {
  const journal = busyJournal();
  let open = 0;
  const routes = liveRoutes({
    counters: createLiveCounters(journal.deps),
    client: () => "one",
    metrics: { liveStreams: { set: (count: number) => (open = count) } } as never,
    heartbeatEveryMs: 100,
  });
  const server = await serveHttp(routes.app, { host: "127.0.0.1", port: 0 });
  const { hostname, port } = new URL(server.url);
  const stuck = connect(Number(port), hostname);
  stuck.on("error", () => undefined);
  stuck.write("GET /live HTTP/1.1\r\nHost: h\r\n\r\n");
  await new Promise((resolve) => stuck.once("data", resolve));
  stuck.pause();
  const reading = await openEvents(`${server.url}/live`);
  assert.equal(open, 2);
  await until("the stuck one is cut", async () => {
    journal.step();
    return open === 1;
  });
  const last = journal.last();
  await until("the other knows the latest of each", () => {
    const latest = new Map(reading.events.map(({ data }) => [data.id, data.totalVotes]));
    return latest.size === ITEMS && [...latest.values()].every((votes) => votes >= last);
  });
  // What was sent to the stuck one lies in its buffers, and no more was made.
  assert.ok(stuck.bytesRead < 1_000_000, `${stuck.bytesRead} bytes`);
  reading.close();
  stuck.destroy();
  routes.close();
  await server.close(1_000);
});

test("nothing happens: heartbeats alone, and the stream stays", async () => {
  const journal = busyJournal();
  const routes = liveRoutes({
    counters: createLiveCounters(journal.deps),
    client: () => "one",
    heartbeatEveryMs: 20,
  });
  const server = await serveHttp(routes.app, { host: "127.0.0.1", port: 0 });
  const source = await openEvents(`${server.url}/live`);
  await until("it beats", () => source.comments() >= 5);
  assert.deepEqual(source.events, []);
  assert.match(source.lastId(), /^0-0$/);
  routes.close();
  await source.ended;
  const late = await openEvents(`${server.url}/live`);
  assert.equal(late.status, 503);
  await server.close(1_000);
});

test("seats are bounded per client and in all, and are given back once", () => {
  const seats = createSeats(3, 2);
  const kinds = (...clients: string[]) => clients.map((client) => seats.take(client));
  const [a, , third] = kinds("a", "a", "a");
  assert.deepEqual(
    [third?.kind, third?.kind === "refused" && third.code],
    ["refused", "RATE_LIMITED"],
  );
  const [b, c] = kinds("b", "c");
  assert.equal(b?.kind, "taken");
  assert.deepEqual([c?.kind, c?.kind === "refused" && c.code], ["refused", "UNAVAILABLE"]);
  if (a?.kind === "taken") for (let n = 0; n < 3; n += 1) a.leave();
  assert.deepEqual(
    kinds("c", "d").map(({ kind }) => kind),
    ["taken", "refused"],
  );
});

test.run();
