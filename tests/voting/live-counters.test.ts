/**
 * Goal: a client that is cut off at any moment and comes back to any process ends up with the
 * latest value of every item, and never sees a counter go back. Method: a journal that we make
 * up, whose numbers become visible out of order; three processes that read it at their own pace;
 * clients that take what they get in small pieces, drop off and come back elsewhere. Seeded.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { silentLogger } from "../../src/log.ts";
import type { CounterChange } from "../../src/reads/counter-changes.ts";
import type { JournalPosition } from "../../src/store/commit-watermark.ts";
import { type Following, LiveCounters } from "../../src/voting/live-counters.ts";

/** mulberry32 */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const ITEMS = 6;
const JOURNAL = "00000001";

function makeJournal(next: () => number) {
  const changes: { item: number; cause: "star" | "release"; seq: number }[] = [];
  const drawn = { star: 0, release: 0 };
  const totals = new Map<number, number>();
  const take = (change: (typeof changes)[number]): void => {
    drawn[change.cause] = Math.max(drawn[change.cause], change.seq);
    changes.push(change);
    totals.set(change.item, changes.length);
  };
  return {
    totals,
    drawn,
    changes,
    take,
    /** Each change makes its item's counter another one; higher is newer. */
    change() {
      const cause = next() < 0.6 ? ("star" as const) : ("release" as const);
      take({ item: Math.floor(next() * ITEMS), cause, seq: drawn[cause] + 1 });
    },
    load(after: JournalPosition, upTo: JournalPosition): CounterChange[] {
      const found = changes.filter(({ cause, seq }) => seq > after[cause] && seq <= upTo[cause]);
      return [...new Set(found.map(({ item }) => item))].map((item) => ({
        type: "event" as const,
        id: String(item),
        totalVotes: totals.get(item) ?? 0,
        day: "2026-11-20",
      }));
    },
  };
}

/** One process' look at the journal, which lags behind by what it pleases. */
function lagging(drawn: JournalPosition, next: () => number) {
  let settled = { star: 0, release: 0 };
  let isCaughtUp = true;
  const look = async () => {
    // Each kind by itself: the places of two processes need not be one after the other.
    const on = (cause: "star" | "release") =>
      settled[cause] + Math.round((drawn[cause] - settled[cause]) * (isCaughtUp ? 1 : next()));
    settled = { star: on("star"), release: on("release") };
    return { settled, drawn: { ...drawn }, journal: JOURNAL };
  };
  return { look, catchUp: (yes: boolean) => (isCaughtUp = yes) };
}

const newListener = () => ({ wake: () => undefined, end: () => assert.fail("ended") });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Long enough for several polls, also where this process stands still meanwhile. */
const polls = async (): Promise<void> => {
  for (let n = 0; n < 30; n += 1) await pause(2);
};

const test = suite("live counters");

for (const seed of [1, 2, 3, 4]) {
  test(`clients that come and go end up with the latest of every item (seed ${seed})`, async () => {
    const next = random(seed);
    const journal = makeJournal(next);
    for (let n = 0; n < 30; n += 1) journal.change();
    const lags = [1, 2, 3].map((n) => lagging(journal.drawn, random(seed * 10 + n)));
    const processes = lags.map(
      ({ look }) =>
        new LiveCounters({
          lookAtJournal: look,
          loadChanges: async (after, upTo) => {
            await pause(next() * 2);
            return journal.load(after, upTo);
          },
          now: () => Date.UTC(2026, 10, 20),
          log: silentLogger,
          pollEveryMs: 1,
        }),
    );
    const clients = Array.from({ length: 6 }, () => ({
      known: new Map<string, number>(),
      // Knows nothing yet, and so comes back for everything.
      id: `2026-11-20.0-0.${JOURNAL}`,
      following: null as Following | null,
    }));
    const take = (client: (typeof clients)[number], max: number): void => {
      for (const event of client.following?.take(max) ?? []) {
        const { id, totalVotes } = JSON.parse(event.data);
        const before = client.known.get(id) ?? 0;
        assert.ok(totalVotes >= before, `${id} went back from ${before} to ${totalVotes}`);
        client.known.set(id, totalVotes);
        client.id = event.id;
      }
    };
    const comeBack = async (client: (typeof clients)[number]): Promise<void> => {
      const process = processes[Math.floor(next() * processes.length)];
      client.following = (await process?.follow(newListener(), client.id)) ?? null;
      assert.equal(client.following?.isResumed, true);
    };
    for (const lag of lags) lag.catchUp(false);
    for (let round = 0; round < 150; round += 1) {
      if (next() < 0.7) journal.change();
      for (const client of clients) {
        const what = next();
        if (client.following === null && what < 0.3) await comeBack(client);
        else if (what < 0.6) take(client, 1 + Math.floor(next() * 3));
        else if (what < 0.65) {
          client.following?.stop();
          client.following = null;
        }
      }
      if (round % 5 === 0) await pause(2);
    }
    for (const lag of lags) lag.catchUp(true);
    for (const client of clients) if (client.following === null) await comeBack(client);
    await polls();
    const latest = [...journal.totals].map(([item, votes]) => [String(item), votes] as const);
    for (const client of clients) {
      take(client, 1_000);
      assert.deepEqual([...client.known].sort(), [...latest].sort());
      client.following?.stop();
    }
  });
}

/** The journal as a standby had it some changes ago; its numbers go on, or start again. */
function standbyOf(journal: ReturnType<typeof makeJournal>, next: () => number) {
  const standby = makeJournal(next);
  const kept = journal.changes.slice(0, -Math.floor(next() * 8) || undefined);
  for (const change of kept) standby.take(change);
  const ahead = next() < 0.5 ? journal.drawn : { star: 0, release: 0 };
  for (const cause of ["star", "release"] as const)
    standby.drawn[cause] = Math.max(standby.drawn[cause], ahead[cause]);
  return standby;
}

for (const seed of [11, 12, 13, 14]) {
  test(`clients know the latest of a journal that others take the place of (seed ${seed})`, async () => {
    const next = random(seed);
    let journal = makeJournal(next);
    for (let n = 0; n < 20; n += 1) journal.change();
    // Each process meets the other server at a time of its own.
    const seenBy = [journal, journal, journal];
    const names = new Map([[journal, "00000001"]]);
    const processes = seenBy.map(
      (_, n) =>
        new LiveCounters({
          lookAtJournal: async () => {
            const seen = seenBy[n] ?? journal;
            const at = { settled: { ...seen.drawn }, drawn: { ...seen.drawn } };
            return { ...at, journal: names.get(seen) ?? "" };
          },
          loadChanges: async (after, upTo) => (seenBy[n] ?? journal).load(after, upTo),
          now: () => Date.UTC(2026, 10, 20),
          log: silentLogger,
          pollEveryMs: 1,
        }),
    );
    const clients = Array.from({ length: 4 }, () => ({
      known: new Map<string, number>(),
      id: "",
      following: undefined as Following | undefined,
    }));
    type Client = (typeof clients)[number];
    const leave = (client: Client): void => {
      client.following?.stop();
      client.following = undefined;
    };
    const comeBack = async (client: Client): Promise<void> => {
      const n = Math.floor(next() * processes.length);
      const listener = { wake: () => undefined, end: () => leave(client) };
      const following = await processes[n]?.follow(listener, client.id);
      // What the reset asks for is read where the client has come back to.
      if (client.id === "" || following?.isResumed !== true) {
        const { totals } = seenBy[n] ?? journal;
        client.known = new Map([...totals].map(([item, votes]) => [String(item), votes]));
      }
      client.id = following?.id ?? "";
      client.following = following;
    };
    const take = (client: Client): void => {
      for (const event of client.following?.take(1_000) ?? []) {
        const { id, totalVotes } = JSON.parse(event.data);
        client.known.set(id, totalVotes);
        client.id = event.id;
      }
    };
    for (let round = 0; round < 120; round += 1) {
      const what = next();
      if (what < 0.6) journal.change();
      else if (what < 0.65) {
        journal = standbyOf(journal, next);
        names.set(journal, String(names.size + 1).padStart(8, "0"));
      } else seenBy[Math.floor(next() * seenBy.length)] = journal;
      const client = clients[Math.floor(next() * clients.length)] as Client;
      if (client.following === undefined) await comeBack(client);
      else if (next() < 0.1) leave(client);
      else take(client);
      if (round % 4 === 0) await pause(2);
    }
    seenBy.fill(journal);
    await polls();
    for (const client of clients) {
      if (client.following === undefined) await comeBack(client);
      take(client);
      assert.deepEqual(
        [...client.known].sort(),
        [...journal.totals].map(([item, votes]) => [String(item), votes]).sort(),
      );
      leave(client);
    }
  });
}

test("what is read for a client that comes back wakes the other streams too", async () => {
  const journal = makeJournal(() => 0);
  const seen = { star: 0, release: 0 };
  const counters = new LiveCounters({
    lookAtJournal: async () => ({ settled: { ...seen }, drawn: { ...seen }, journal: JOURNAL }),
    loadChanges: async (after, upTo) => journal.load(after, upTo),
    now: () => Date.UTC(2026, 10, 20),
    log: silentLogger,
    pollEveryMs: 20,
  });
  let woken = 0;
  const stays = await counters.follow({ ...newListener(), wake: () => (woken += 1) }, "");
  await pause(50);
  journal.change();
  Object.assign(seen, journal.drawn);
  const back = await counters.follow(newListener(), stays.id);
  await pause(100);
  assert.equal(woken, 1);
  for (const following of [stays, back]) following.stop();
});

test("a stream that comes back while the last other one leaves goes on", async () => {
  const journal = makeJournal(() => 0);
  const seen = { star: 0, release: 0 };
  let meanwhile = (): void => undefined;
  const counters = new LiveCounters({
    lookAtJournal: async () => ({ settled: { ...seen }, drawn: { ...seen }, journal: JOURNAL }),
    loadChanges: async (after, upTo) => {
      meanwhile();
      return journal.load(after, upTo);
    },
    now: () => Date.UTC(2026, 10, 20),
    log: silentLogger,
    pollEveryMs: 20,
  });
  const leaves = await counters.follow(newListener(), "");
  meanwhile = () => leaves.stop();
  journal.change();
  Object.assign(seen, journal.drawn);
  let ended = 0;
  const back = await counters.follow({ ...newListener(), end: () => (ended += 1) }, leaves.id);
  await pause(100);
  assert.deepEqual([back.take(10)?.length, ended], [1, 0]);
  back.stop();
});

test("after the clock was set back over 00:00 UTC clients read again, and hear today's counters", async () => {
  const seen = { star: 0, release: 0 };
  let now = Date.UTC(2026, 10, 21, 0, 1);
  const counters = new LiveCounters({
    lookAtJournal: async () => ({ settled: { ...seen }, drawn: { ...seen }, journal: JOURNAL }),
    loadChanges: async (_, upTo) => [
      { type: "token", id: "0.0.7", totalVotes: upTo.star, day: dayOf(now) },
    ],
    now: () => now,
    log: silentLogger,
    pollEveryMs: 1,
  });
  let ended = 0;
  const stays = await counters.follow({ ...newListener(), end: () => (ended += 1) }, "");
  now -= 30_000;
  await polls();
  // Near 00:00 UTC another process may know of the day first.
  now = Date.UTC(2026, 10, 20, 23, 59, 59);
  await polls();
  assert.equal(ended, 0);
  now = Date.UTC(2026, 10, 20, 14);
  await polls();
  assert.equal(ended, 1);
  const back = await counters.follow(newListener(), stays.id);
  stays.stop();
  assert.equal(back.isResumed, false);
  seen.star += 1;
  await polls();
  const days = back.take(10)?.map(({ data }) => JSON.parse(data).day);
  assert.deepEqual(days, ["2026-11-20"]);
  back.stop();
});

test.run();
