/**
 * Goal: a stream's number in the ring leads to the newest value of every item that changed since,
 * and to nothing where some of them are gone. Method: a ring filled by hand.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { liveRoutes } from "../../src/http/voting/live.ts";
import { silentLogger } from "../../src/log.ts";
import type { CounterChange } from "../../src/reads/counter-changes.ts";
import { LiveCounters } from "../../src/voting/live-counters.ts";
import { LiveRing } from "../../src/voting/live-ring.ts";

const DAY = "2026-11-20";
const JOURNAL = "00000001";
const SCOPE = { day: DAY, journal: JOURNAL };
const at = (star: number) => ({ star, release: 0 });
const change = (id: string, totalVotes: number): CounterChange => ({
  type: "token",
  id,
  totalVotes,
  day: DAY,
});
const heard = (ring: LiveRing, from: number): unknown[] =>
  (ring.take(from, 1_000)?.events ?? []).map(({ id, data }) => {
    const { id: item, totalVotes } = JSON.parse(data);
    return `${item} ${totalVotes} ${id.slice(DAY.length + 1, -JOURNAL.length - 1)}`;
  });

test("an item is sent once with its newest value, and only the last event has the new position", () => {
  const ring = new LiveRing(at(10), SCOPE);
  ring.append([change("a", 1), change("b", 1)], at(12));
  ring.append([change("b", 2), change("c", 1)], at(14));
  assert.deepEqual(heard(ring, ring.after(at(10))), ["a 1 10-0", "b 2 12-0", "c 1 14-0"]);
  assert.deepEqual(heard(ring, ring.after(at(12))), ["b 2 12-0", "c 1 14-0"]);
  // A position inside of what was read together: both are heard, none is missed.
  assert.deepEqual(heard(ring, ring.after(at(13))), ["b 2 12-0", "c 1 14-0"]);
  assert.deepEqual(heard(ring, ring.after(at(14))), []);
});

test("what lies before the floor comes first, unless it changed later", () => {
  const ring = new LiveRing(at(10), SCOPE);
  ring.append([change("b", 2)], at(12));
  const walking = ring.end;
  ring.prepend([change("a", 1), change("b", 2)], at(8));
  assert.deepEqual(ring.floor, at(8));
  assert.deepEqual(heard(ring, ring.after(at(8))), ["a 1 8-0", "b 2 12-0"]);
  ring.append([change("c", 1)], at(13));
  assert.deepEqual(heard(ring, walking), ["c 1 13-0"]);
});

test("a counter of a day that our clock does not know yet comes after its `day`", () => {
  const ring = new LiveRing(at(10), SCOPE);
  ring.append([{ ...change("a", 1), day: "2026-11-21" }], at(11));
  const events = ring.take(0, 10)?.events.map(({ event }) => event);
  assert.deepEqual(events, ["day", "counter"]);
});

test("the oldest entries are dropped: a stream behind the floor cannot go on", () => {
  const ring = new LiveRing(at(0), SCOPE);
  const late = ring.end;
  for (let star = 1; star <= 50_001; star += 1)
    ring.append([change(`${star % 3}`, star)], at(star));
  assert.equal(ring.take(late, 10), undefined);
  assert.deepEqual(ring.floor, at(25_001));
  assert.deepEqual(heard(ring, ring.after(at(25_001))), [
    "1 49999 49999-0",
    "2 50000 50000-0",
    "0 50001 50001-0",
  ]);
});

test("once entries were dropped, an id before the floor is answered with `reset`", async () => {
  const ids: string[] = [];
  let star = 1;
  const counters = new LiveCounters({
    lookAtJournal: async () => ({ settled: at(star), drawn: at(star), journal: JOURNAL }),
    loadChanges: async () => ids.splice(0).map((id) => change(id, star)),
    now: () => Date.UTC(2026, 10, 20),
    log: silentLogger,
    pollEveryMs: 60_000,
  });
  const comeBack = (from: number) =>
    counters.follow({ wake: () => undefined, end: () => undefined }, `${DAY}.${from}-0.${JOURNAL}`);
  const readOn = (...changed: readonly string[]) => {
    ids.push(...changed);
    star += 1;
    return comeBack(star);
  };
  const many = (count: number) => Array.from({ length: count }, (_, n) => `${n % 9}`);
  await readOn();
  const slow = await readOn(...many(25_000));
  await readOn("missed");
  await readOn(...many(25_001));
  ids.push("missed", "x", "y");
  const back = await comeBack(1);
  assert.equal(slow.take(1), undefined, "the number of an entry that was dropped leads to another");
  assert.equal(back.isResumed, false);
});

const MIDNIGHT = Date.UTC(2026, 10, 21);

/** The stream's route over a journal that we make up. */
function openRoute() {
  const journal = {
    name: JOURNAL,
    now: MIDNIGHT - 1_000,
    star: 1,
    changes: [] as CounterChange[],
  };
  const counters = new LiveCounters({
    lookAtJournal: async () => {
      const settled = { star: journal.star, release: 0 };
      return { settled, drawn: settled, journal: journal.name };
    },
    loadChanges: async () => journal.changes.splice(0),
    now: () => journal.now,
    log: silentLogger,
    pollEveryMs: 1,
  });
  const live = liveRoutes({ counters, client: () => "one" });
  const listen = async (lastEventId?: string) => {
    const headers: Record<string, string> =
      lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
    const reply = await live.app.request("/live", { headers });
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    return {
      /** Reads on until the stream has said this. */
      async hear(wanted: RegExp): Promise<string> {
        while (!wanted.test(text)) {
          const piece = await reader?.read();
          if (piece === undefined || piece.done) throw new Error(`ended: ${text}`);
          text += piece.value;
        }
        return text;
      },
    };
  };
  const star = (change: Pick<CounterChange, "type" | "id" | "day">): void => {
    journal.changes.push({ ...change, totalVotes: journal.star });
    journal.star += 1;
  };
  // What waits within is no reason for a process to stay.
  const stay = setInterval(() => undefined, 1_000);
  const close = (): void => {
    clearInterval(stay);
    live.close();
  };
  return { journal, listen, star, close };
}

test("00:00 UTC sends `day`, and no daily counter of an earlier day after it", async () => {
  const { journal, listen, star, close } = openRoute();
  const source = await listen();
  await source.hear(/retry/);
  star({ type: "token", id: "0.0.7", day: "2026-11-20" });
  const before = await source.hear(/"0\.0\.7"/);
  assert.doesNotMatch(before, /event: day/);
  journal.now = MIDNIGHT;
  const text = await source.hear(/event: day\n/);
  assert.match(text, /event: day\nid: 2026-11-21\.\d+-\d+\.\w+\ndata: \{"day":"2026-11-21"\}/);
  star({ type: "token", id: "0.0.8", day: "2026-11-20" });
  star({ type: "event", id: "old", day: "2026-11-20" });
  const after = await source.hear(/"old"/);
  assert.doesNotMatch(after, /"0\.0\.8"/, "its day is over");
  close();
});

test("an id of an earlier day is answered with `day` and then `reset`, one of today with neither", async () => {
  const { journal, listen, star, close } = openRoute();
  await (await listen()).hear(/retry/);
  journal.now = MIDNIGHT;
  const late = await (await listen("2026-11-20.1-0")).hear(/event: reset/);
  assert.match(late, /^retry: \d+\nid: 2026-11-21[^\n]*\n\nevent: day\n[\s\S]*event: reset\n/);
  const fresh = await listen();
  const resumed = await listen(`2026-11-21.1-0.${JOURNAL}`);
  star({ type: "token", id: "0.0.9", day: "2026-11-21" });
  for (const source of [fresh, resumed]) {
    assert.doesNotMatch(await source.hear(/"0\.0\.9"/), /event: (reset|day)/);
  }
  close();
});

test("another journal ends the streams, and an id of the one before is answered with `reset`", async () => {
  const { journal, listen, star, close } = openRoute();
  const source = await listen();
  await source.hear(/retry/);
  star({ type: "token", id: "0.0.7", day: "2026-11-20" });
  const text = await source.hear(/"0\.0\.7"/);
  const [lastId] = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id).slice(-1);
  // A standby that lacks that star, and whose numbers are as high.
  journal.name = "00000002";
  await source.hear(/never/).then(
    () => assert.fail("heard"),
    (error) => assert.match(String(error), /ended/),
  );
  await (await listen(lastId)).hear(/event: reset/);
  // An id of a build that did not name the journal.
  await (await listen("2026-11-20.2-0")).hear(/event: reset/);
  close();
});

test.run();
