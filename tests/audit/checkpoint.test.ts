/**
 * Goal: an interrupted audit resumes where it stopped and reports the same in the end; a damaged
 * or foreign checkpoint is refused. Method: a made-up history that is read in two halves.
 */
import * as assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { DAY_MS, dayOf, endOfDay } from "../../actors/day.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import type { Conclusion } from "../../src/audit/conclude.ts";
import { silentLogger } from "../../src/log.ts";
import { auditWorld } from "./audit-world.ts";
import { serveWorld, writeExports } from "./serve-world.ts";
import { makeWorld, type World } from "./world.ts";

const MINUTE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
const truth = () => makeWorld({ seed: 11, days: 6, starsPerDay: 50 });
test.after(() => rmSync(folder, { recursive: true }));

/** The world as it was when so many messages of each topic were there. */
function earlier(world: World, share: number): World {
  const cut = ({ id, messages }: World["topics"]["event"]) => ({
    id,
    messages: messages.slice(0, Math.floor(messages.length * share)),
  });
  return { ...world, topics: { event: cut(world.topics.event), asset: cut(world.topics.asset) } };
}

function essence({ isAhead: _, ...rest }: Conclusion) {
  return rest;
}

for (const withExports of [true, false]) {
  test(`an audit in three parts reports what a single audit reports, ${withExports ? "with" : "without"} exports`, async () => {
    const world = truth();
    const whole = await auditWorld(world, { withExports });
    const stateFile = join(folder, `parts-${withExports}`);
    for (const share of [0.3, 0.7]) {
      // The rankings are ahead of what is read: that is not kept.
      await auditWorld(earlier(world, share), { withExports, stateFile });
    }
    const resumed = await auditWorld(world, { withExports, stateFile });
    assert.equal(whole.ok, true);
    assert.deepEqual(essence(resumed), essence(whole));
    const again = await auditWorld(world, { withExports, stateFile });
    assert.deepEqual(essence(again), essence(whole));
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith(".tmp")),
      [],
    );
  });
}

test("an export that is not there yet when an audit leaves off is judged when it is", async () => {
  const world = truth();
  const stateFile = join(folder, "late-exports");
  const onExports = (exports: string) => {
    for (const name of readdirSync(exports).sort().slice(2)) rmSync(join(exports, name));
  };
  // The newest of them was kept before its day was over.
  const onFirst = (exports: string) => {
    const [first = "", second = ""] = readdirSync(exports).sort();
    const kept = {
      ...world,
      stars: world.stars.filter(({ at }) => !at.startsWith(second.slice(0, 10))),
    };
    writeExports(kept, exports, endOfDay(first.slice(0, 10)));
    onExports(exports);
  };
  const early = await auditWorld(world, { onExports: onFirst, stateFile });
  assert.equal(early.ok, true);
  const resumed = await auditWorld(world, { stateFile });
  assert.deepEqual(essence(resumed), essence(await auditWorld(world)));
});

test("a day to which stars came back after it was judged is known to have another chain", async () => {
  const world = truth();
  const days = Array.from({ length: 3 }, (_, n) => dayOf(Date.parse(world.firstDay) + n * DAY_MS));
  const [first = "", judged = "", next = ""] = days;
  // The newest day that is there waits for the next audit.
  const onExports = (exports: string) => {
    for (const name of readdirSync(exports))
      if (name > `${next}.ndjson`) rmSync(join(exports, name));
  };
  const found = async (changed: Partial<World>) => {
    const stateFile = join(folder, "came-back");
    rmSync(stateFile, { force: true });
    assert.equal((await auditWorld(world, { onExports, stateFile })).ok, true);
    const { ok, mismatches, known } = await auditWorld({ ...world, ...changed }, { stateFile });
    return [ok, mismatches.map(({ kind, where }) => `${kind} ${where}`), known];
  };
  const known = [{ kind: "chain", topic: null, sequenceNumber: null, day: next }];
  assert.deepEqual(await found({ recovered: [judged] }), [true, [], known]);
  // Another chain for any other reason is what a kept state is there to find.
  const changed = [false, [`export ${next}`], []];
  assert.deepEqual(await found({ excludedOn: new Map([[judged, ["0.0.4711"]]]) }), changed);
  assert.deepEqual(await found({ recovered: [first] }), changed);
});

test("a checkpoint made without rankings cannot judge the leaderboard, and says so", async () => {
  const world = truth();
  const stateFile = join(folder, "no-season");
  await auditWorld(earlier(world, 0.5), { withApi: false, stateFile });
  const { ok, unprovable } = await auditWorld(world, { stateFile });
  assert.equal(ok, true);
  assert.deepEqual(unprovable, ["leaderboard: --state started when another season was on"]);
});

test("the leaderboard of a season that starts after an audit leaves off is judged", async () => {
  const world = truth();
  const stateFile = join(folder, "next-season");
  // All of it is of the first day, and the season begins with the second.
  const early = await auditWorld(earlier(world, 0.1), { withApi: false, stateFile });
  assert.ok(early.checked.messages > 0);
  const resumed = await auditWorld(world, { stateFile });
  assert.deepEqual(essence(resumed), essence(await auditWorld(world)));
});

test("messages that a mirror node leaves out while it is behind are waited for, and no state keeps that", async () => {
  const world = truth();
  const whole = await auditWorld(world);
  const served = await serveWorld(world);
  const mirror = openAuditMirror({
    urls: [served.url],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  let behind = Number.POSITIVE_INFINITY;
  const topicMessages: typeof mirror.topicMessages = async (topic, from) => {
    const page = await mirror.topicMessages(topic, from);
    if (from.newestFirst || behind === 0) return page;
    const messages = page.messages.filter(({ sequenceNumber }) => sequenceNumber < 60);
    if (messages.length === 0) behind -= 1;
    return { ...page, messages };
  };
  const stateFile = join(folder, "behind");
  const given = { mirror: { ...mirror, topicMessages }, stateFile };
  const short = await auditWorld(world, given);
  // So many empty answers are more than one reading asks for.
  behind = 15;
  const waited = await auditWorld(world, { ...given, settleMs: Number.POSITIVE_INFINITY });
  await Promise.all([mirror.close(), served.close()]);
  assert.ok("gap" in short.byKind, JSON.stringify(short.byKind));
  assert.deepEqual([waited.ok, essence(waited), behind], [true, essence(whole), 0]);
});

test("stars of after the rankings, read while the audit waited, are on the board of the next audit", async () => {
  // On this very day: the rankings of the next one begin at zero.
  const soon = Math.min(Date.now() + 3_600_000, endOfDay(dayOf(Date.now())) - 1);
  // The later the day, the more stars must fall into what is left of it.
  const starsPerDay = Math.ceil((10 * DAY_MS) / Math.max(MINUTE_MS, soon - Date.now() - MINUTE_MS));
  const making = {
    seed: 11,
    days: 2,
    starsPerDay,
    wallets: Math.ceil(starsPerDay / 2),
    moves: false,
  };
  const world = makeWorld({ ...making, now: soon });
  const stars = world.stars.filter(({ at }) => Date.parse(at) <= Date.now());
  const shown = new Set(stars.map(({ id }) => id));
  const cut = ({ id, messages }: World["topics"]["event"]) => ({
    id,
    messages: messages.filter(({ starId }) => shown.has(starId)),
  });
  const { event, asset } = world.topics;
  const earlierWorld = { ...world, stars, topics: { event: cut(event), asset: cut(asset) } };
  assert.ok(cut(asset).messages.length < asset.messages.length);
  const [first, second] = await Promise.all([serveWorld(earlierWorld), serveWorld(world)]);
  const open = (url: string) =>
    openAuditMirror({ urls: [url], log: silentLogger, requestsPerSecond: 1_000 });
  const [early, late] = [open(first.url), open(second.url)];
  // The ends of both topics before the rankings, and everything else after them.
  let asked = 0;
  const topicMessages: typeof late.topicMessages = (...given) =>
    (asked++ < 2 ? early : late).topicMessages(...given);
  const stateFile = join(folder, "later");
  const given = { withExports: false, stateFile };
  const mirror = { ...late, topicMessages };
  const { mismatches } = await auditWorld(earlierWorld, { ...given, mirror });
  const next = await auditWorld(world, given);
  for (const each of [early, late, first, second]) await each.close();
  assert.deepEqual([mismatches, next.mismatches], [[], []]);
});

test("what was verified is not read again", async () => {
  const world = truth();
  const stateFile = join(folder, "once");
  await auditWorld(world, { stateFile, withApi: false });
  const served = await serveWorld(world);
  const mirror = openAuditMirror({
    urls: [served.url],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  await auditWorld(world, { stateFile, withApi: false, mirror });
  await served.close();
  const pages = served.asked.filter((path) => path.includes("/messages") && !path.includes("desc"));
  assert.deepEqual(pages, []);
});

test("a mismatch that was found stays found", async () => {
  const world = truth();
  const stateFile = join(folder, "found");
  const [message] = world.topics.event.messages;
  assert.ok(message !== undefined);
  message.hash = Buffer.alloc(48, 1).toString("base64");
  const first = await auditWorld(earlier(world, 0.5), {
    stateFile,
    withApi: false,
    withExports: false,
  });
  assert.equal(first.ok, false);
  const second = await auditWorld(world, { stateFile, withApi: false, withExports: false });
  assert.equal(second.mismatchCount, first.mismatchCount);
});

test("an audit goes on where another wallet was excluded since", async () => {
  const world = truth();
  const given = { stateFile: join(folder, "excluded"), withApi: false };
  await auditWorld(earlier(world, 0.5), given);
  const days = [...new Set(world.stars.map(({ at }) => at.slice(0, 10)))];
  const { ok, mismatches } = await auditWorld(
    {
      ...world,
      excluded: [...world.excluded, "0.0.4711"],
      excludedOn: new Map(days.slice(0, -1).map((day) => [day, world.excluded])),
    },
    given,
  );
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
});

test("a checkpoint that is damaged, of another audit or no checkpoint is refused in one line", async () => {
  const world = truth();
  const stateFile = join(folder, "damaged");
  await auditWorld(world, { stateFile, withApi: false });
  assert.ok(existsSync(stateFile));
  const other = { stateFile, withApi: false, lateMs: 1 };
  await assert.rejects(
    auditWorld(world, other),
    /damaged is the checkpoint of an audit with other settings$/,
  );
  const text = readFileSync(stateFile, "utf8");
  writeFileSync(stateFile, text.replace(/"messages":\d/, '"messages":9'));
  await assert.rejects(auditWorld(world, { stateFile, withApi: false }), /damaged is damaged$/);
  writeFileSync(stateFile, text.slice(0, text.length / 2));
  await assert.rejects(auditWorld(world, { stateFile, withApi: false }), /is damaged$/);
  writeFileSync(stateFile, "{}");
  await assert.rejects(
    auditWorld(world, { stateFile, withApi: false }),
    /no checkpoint of this audit$/,
  );
});

test.run();
