/**
 * Goal: a client that reads slowly, or not at all, costs this process nothing and keeps no one
 * from the latest values; at 00:00 UTC daily counters are over, for every client. Method: the route
 * on a real server, over a journal that we make up; one client on a raw socket that stops reading,
 * others that read.
 */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { suite } from "uvu";
import { serveHttp } from "../../../src/http/serve.ts";
import { createStreamLimit } from "../../../src/http/stream-limit.ts";
import { liveRoutes } from "../../../src/http/voting/live.ts";
import { silentLogger } from "../../../src/log.ts";
import type { CounterChange } from "../../../src/reads/counter-changes.ts";
import { LiveCounters } from "../../../src/voting/live-counters.ts";
import { openEvents } from "../../support/event-source.ts";
import { until } from "../../support/processes.ts";

const ITEMS = 2_000;
/** A process that stands still for two heartbeats cuts its streams; a busy machine may hold it up. */
const HEARTBEAT_EVERY_MS = 1_000;

/** A journal in which every item changes with each step. */
function busyJournal() {
  let star = 0;
  const changes = (): CounterChange[] =>
    Array.from({ length: ITEMS }, (_, n) => ({
      type: "token",
      id: `0.0.${n}`,
      totalVotes: star,
      day: "2026-11-20",
    }));
  const place = () => ({ star, release: 0 });
  return {
    step: () => {
      star += ITEMS;
    },
    deps: {
      lookAtJournal: async () => ({ settled: place(), drawn: place(), journal: "00000001" }),
      loadChanges: async () => changes(),
      now: () => Date.UTC(2026, 10, 20),
      log: silentLogger,
      pollEveryMs: 5,
    },
    last: () => star,
  };
}

const test = suite("slow readers of live counters");

test("a client that reads nothing is cut, and the others get the latest of every item", async () => {
  const journal = busyJournal();
  let open = 0;
  const routes = liveRoutes({
    counters: new LiveCounters(journal.deps),
    client: () => "one",
    metrics: { liveStreams: { set: (count: number) => (open = count) } } as never,
    heartbeatEveryMs: HEARTBEAT_EVERY_MS,
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

test("without changes a stream gets heartbeats alone, and stays open", async () => {
  const journal = busyJournal();
  const routes = liveRoutes({
    counters: new LiveCounters(journal.deps),
    client: () => "one",
    heartbeatEveryMs: HEARTBEAT_EVERY_MS,
  });
  const server = await serveHttp(routes.app, { host: "127.0.0.1", port: 0 });
  const source = await openEvents(`${server.url}/live`);
  await until("it beats", () => source.comments() >= 3);
  assert.deepEqual(source.events, []);
  assert.match(source.lastId(), /^2026-11-20\.0-0\.00000001$/);
  routes.close();
  await source.ended;
  const late = await openEvents(`${server.url}/live`);
  assert.equal(late.status, 503);
  await server.close(1_000);
});

/** Two processes over one journal, in which one token and one event change with each star. */
async function startProcesses() {
  const journal = { star: 0, now: Date.UTC(2026, 10, 20, 23, 59, 59, 999), day: "2026-11-20" };
  const position = () => ({ star: journal.star, release: 0 });
  const source = {
    lookAtJournal: async () => ({ settled: position(), drawn: position(), journal: "00000001" }),
    loadChanges: async (): Promise<CounterChange[]> => [
      { type: "token", id: "0.0.1", totalVotes: journal.star, day: journal.day },
      { type: "event", id: "meetup", totalVotes: journal.star, day: journal.day },
    ],
    now: () => journal.now,
    log: silentLogger,
    pollEveryMs: 5,
  };
  const start = async () => {
    const routes = liveRoutes({ counters: new LiveCounters(source), client: () => "one" });
    const server = await serveHttp(routes.app, { host: "127.0.0.1", port: 0 });
    const close = (): Promise<void> => {
      routes.close();
      return server.close(1_000);
    };
    return { url: `${server.url}/live`, close };
  };
  const processes = [await start(), await start()] as const;
  return {
    journal,
    urls: [processes[0].url, processes[1].url] as const,
    close: () => Promise.all(processes.map((process) => process.close())),
  };
}

test("00:00 UTC sends `day`, and no counter of an earlier day after it", async () => {
  const { journal, urls, close } = await startProcesses();
  const source = await openEvents(urls[0]);
  journal.star = 1;
  await until("both are heard", () => source.events.length === 2);
  journal.now += 1;
  await until("the day is heard", () => source.events.length === 3);
  assert.deepEqual(source.events[2]?.data, { day: "2026-11-21" });
  assert.equal(source.events[2]?.event, "day");
  // A star of the day before, whose commit came late; an event's counter goes on over midnight.
  journal.star = 2;
  await until("the event is heard", () => source.events.length === 4);
  assert.equal(source.events[3]?.data.id, "meetup");
  // A star that another process, whose clock is ahead, has dated by the next day.
  [journal.star, journal.day] = [3, "2026-11-22"];
  await until("the next day is heard", () => source.events.length === 7);
  const late = source.events.slice(4).map(({ event, data }) => [event, data.id ?? data.day]);
  assert.deepEqual(late, [
    ["day", "2026-11-22"],
    ["counter", "0.0.1"],
    ["counter", "meetup"],
  ]);
  source.close();
  await close();
});

test("a resume from an earlier day begins with the day and a reset, at every process", async () => {
  const { journal, urls, close } = await startProcesses();
  const source = await openEvents(urls[0]);
  journal.star = 1;
  await until("both are heard", () => source.events.length === 2);
  const yesterday = source.lastId();
  journal.now += 1;
  await until("the day is heard", () => source.events.length === 3);
  for (const url of urls) {
    const again = await openEvents(url, yesterday);
    await until("it is heard", () => again.events.length === 2);
    assert.deepEqual(
      again.events.map(({ event, data }) => [event, data]),
      [
        ["day", { day: "2026-11-21" }],
        ["reset", {}],
      ],
    );
    assert.equal(again.lastId(), `2026-11-21.${journal.star}-0.00000001`);
    again.close();
    const once = await openEvents(url, again.lastId());
    journal.star += 1;
    await until("changes alone", () => once.events.length > 0);
    assert.equal(once.events[0]?.event, "counter");
    once.close();
  }
  source.close();
  await close();
});

test("open streams are bounded per client and in all, and are given back once", () => {
  const streamLimit = createStreamLimit(3, 2);
  const codes = (...clients: string[]) =>
    clients.map((client) => {
      const release = streamLimit.take(client);
      return typeof release === "function" ? "taken" : release.code;
    });
  const leave = streamLimit.take("a");
  assert.deepEqual(codes("a", "a"), ["taken", "RATE_LIMITED"]);
  assert.deepEqual(codes("b", "c"), ["taken", "UNAVAILABLE"]);
  if (typeof leave === "function") for (let n = 0; n < 3; n += 1) leave();
  assert.deepEqual(codes("c", "d"), ["taken", "UNAVAILABLE"]);
});

test.run();
