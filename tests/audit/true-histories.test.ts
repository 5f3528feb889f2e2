/**
 * Goal: what is true always passes, with exports and without; what rankings show before the ledger
 * does is waited for, and is a mismatch when it does not come. Method: histories at random, made
 * by the service's own machines, NFTs changing hands all the while.
 */
import * as assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "uvu";
import { DAY_MS, type Day, dayOf, endOfDay, startOfDay } from "../../actors/day.ts";
import { RULES, type Rules, rulesOn, rulesVersions } from "../../actors/rules.ts";
import { newAuditState } from "../../src/audit/audit-state.ts";
import { openDayBook } from "../../src/audit/day-book.ts";
import {
  boundsOfEvent,
  countEventStar,
  noEventAccounts,
  releaseFromMint,
} from "../../src/audit/event-accounts.ts";
import { countWithoutExport } from "../../src/audit/events-without-export.ts";
import { asRead } from "../../src/audit/match-messages.ts";
import { addRelease, type MintHappening, splitAfter } from "../../src/audit/mint-order.ts";
import type { ExportEntry, ExportStar } from "../../src/journal/export-format.ts";
import { type Auditing, auditWorld } from "./audit-world.ts";
import { writeExports } from "./serve-world.ts";
import { A, B, makeWorld, rechain, type Topic, TREASURY, tell, type World } from "./world.ts";

const RUNS = 12;

test("random true histories always pass", async () => {
  const making = fc.record({
    seed: fc.integer({ min: 1, max: 2 ** 31 }),
    days: fc.integer({ min: 1, max: 9 }),
    starsPerDay: fc.integer({ min: 0, max: 60 }),
    wallets: fc.integer({ min: 2, max: 15 }),
    moves: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(making, fc.boolean(), async (given, withExports) => {
      const world = makeWorld(given);
      const { ok, mismatches, unprovable } = await auditWorld(world, { withExports });
      assert.equal(ok, true, JSON.stringify(mismatches[0]));
      if (withExports) assert.deepEqual(unprovable, []);
    }),
    { numRuns: RUNS },
  );
});

test("without transfers no event's total needs an export", async () => {
  const world = makeWorld({ seed: 3, days: 4, starsPerDay: 60, moves: false });
  const { ok, unprovable } = await auditWorld(world, { withExports: false });
  assert.equal(ok, true);
  assert.deepEqual(
    unprovable.filter((line) => line.includes("event/")),
    [],
  );
});

/** Runs with one more version from a day on: another bonus and another limit. */
async function withNewRules<T>(from: Day, work: () => Promise<T>): Promise<T> {
  // The list is readonly to the product alone: a version of its own is what the test is about.
  const versions = rulesVersions as Rules[];
  versions.push({ ...rulesOn(from), version: RULES + 1, from, flatBonus: 7, freeVotes: 3 });
  try {
    return await work();
  } finally {
    versions.pop();
  }
}

test("rules that change in the middle of a history: each star is judged under those of its day", async () => {
  const changedOn = dayOf(Date.now() - 3 * DAY_MS);
  await withNewRules(changedOn, async () => {
    const world = makeWorld({ seed: 5, days: 7, starsPerDay: 60 });
    assert.deepEqual([...new Set(world.stars.map(({ rules }) => rules))], [1, RULES + 1]);
    for (const withExports of [true, false]) {
      const { ok, mismatches } = await auditWorld(world, { withExports });
      assert.equal(ok, true, JSON.stringify(mismatches[0]));
    }
    const star = world.stars.findIndex(({ rules }) => rules === 1);
    world.stars[star] = { ...(world.stars[star] as ExportStar), rules: RULES + 1 };
    const forged = await auditWorld(world);
    assert.deepEqual(
      forged.mismatches.map(({ kind, expected, found }) => [kind, expected, found]),
      [["export", "rules 1", RULES + 1]],
    );
  });
});

/** A world before its last message, of a star on a token, had come; and how to let it come. */
function beforeLast(): { readonly world: World; readonly arrive: () => void } {
  for (let seed = 1; ; seed++) {
    const world = makeWorld({ seed, days: 3, starsPerDay: 40 });
    const { messages } = world.topics.asset;
    const last = messages.at(-1);
    if (last?.text.includes('"token"') !== true) continue;
    messages.pop();
    return { world, arrive: () => void messages.push(last) };
  }
}

test("a star that rankings show and the ledger does not yet is waited for", async () => {
  const { world, arrive } = beforeLast();
  const timer = setTimeout(arrive, 500);
  const found = await auditWorld(world, { withExports: false, settleMs: 20_000 });
  clearTimeout(timer);
  assert.equal(found.ok, true, JSON.stringify(found.mismatches[0]));
});

test("an event whose kind an import changed after it was read, and before its first star", async () => {
  const world = makeWorld({ seed: 1, days: 1, starsPerDay: 30 });
  const { messages } = world.topics.event;
  const since = messages.splice(0);
  assert.ok(since.some(({ text }) => text.includes("FOREVER_MINT")));
  const onAnswer: Auditing["onAnswer"] = (path, body) => {
    if (path !== "/v1/events") return body;
    messages.push(...since);
    const { events, ...page } = body as { events: object[] };
    const read = { isForeverMint: false, totalVotes: 0 };
    return { ...page, events: events.map((event) => ({ ...event, ...read })) };
  };
  const { ok, mismatches } = await auditWorld(world, { onAnswer });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
});

test("an event's star whose message comes while the rankings are read", async () => {
  const world = makeWorld({ seed: 2, days: 2, starsPerDay: 40 });
  const { messages } = world.topics.event;
  const last = messages.splice(-1);
  const onAnswer: Auditing["onAnswer"] = (path, body) => {
    if (path === "/v1/events") messages.push(...last.splice(0));
    return body;
  };
  const { ok, mismatches } = await auditWorld(world, { onAnswer });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
});

test("exports that end before the rankings were read leave stars to wait for", async () => {
  const { world, arrive } = beforeLast();
  // Today's export is not there.
  const onExports = (folder: string) =>
    rmSync(join(folder, readdirSync(folder).sort().at(-1) ?? ""));
  const timer = setTimeout(arrive, 500);
  const found = await auditWorld(world, { onExports, settleMs: 20_000 });
  clearTimeout(timer);
  assert.equal(found.ok, true, JSON.stringify(found.mismatches[0]));
});

test("an export kept before its day was over leaves that day's later stars unproved", async () => {
  const world = makeWorld({ seed: 13, days: 3, starsPerDay: 60 });
  const midnight = startOfDay(dayOf(Date.now()));
  const yesterday = dayOf(midnight - 1);
  const since = world.stars.filter(({ at }) => at.startsWith(yesterday)).slice(-10);
  const kept = { ...world, stars: world.stars.filter((star) => !since.includes(star)) };
  const onExports = (folder: string) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeExports(kept, folder, midnight - 1);
  };
  const { mismatches, unprovable } = await auditWorld(world, { onExports });
  assert.deepEqual(mismatches, []);
  const doubt = `the export of ${yesterday} is not final and lacks stars of its messages`;
  assert.ok(unprovable.includes(doubt), String(unprovable));
  assert.ok(unprovable.some((line) => line.startsWith("totalVotes of") && line.endsWith(doubt)));
  // What a service writes when it is asked holds every star: there such messages are of no star.
  const live = await auditWorld(world, { onExports, isLive: true });
  const noStar = live.mismatches.filter(({ kind }) => kind === "no-star");
  assert.equal(noStar.length, since.length);
});

test("exports of which the first was kept before its day was over prove nothing of forever mints", async () => {
  const world = makeWorld({ seed: 14, days: 3, starsPerDay: 60 });
  const midnight = startOfDay(dayOf(Date.now()));
  const onExports = (folder: string) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeExports(world, folder, midnight - 1);
    for (const name of readdirSync(folder).sort().slice(0, -1)) rmSync(join(folder, name));
  };
  const { ok, mismatches, unprovable } = await auditWorld(world, { onExports });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  assert.ok(unprovable.some((line) => line.startsWith("totalVotes of event/mint: ")));
});

test("a final export after one that was kept before its day was over leaves their order unproved", async () => {
  const world = makeWorld({ seed: 13, days: 4, starsPerDay: 60 });
  const midnight = startOfDay(dayOf(Date.now()));
  const second = dayOf(midnight - 2 * DAY_MS);
  const stars = world.stars.filter(({ at }) => at.startsWith(second)).slice(-10);
  const kept = { ...world, stars: world.stars.filter((star) => !stars.includes(star)) };
  const onExports = (folder: string) => {
    const other = mkdtempSync(join(tmpdir(), "kept-"));
    writeExports(kept, other, midnight - DAY_MS - 1);
    cpSync(join(other, `${second}.ndjson`), join(folder, `${second}.ndjson`));
    rmSync(other, { recursive: true });
  };
  const { ok, mismatches, unprovable } = await auditWorld(world, { onExports });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  const third = dayOf(midnight - DAY_MS);
  const doubt = `whether ${third} follows ${second}: that was not final when it was read`;
  assert.ok(unprovable.includes(doubt), String(unprovable));
});

/** Exports of which those from the last star's day on are not final, and how that day is sent. */
function cutOnLastDay(sent: (text: string, asked: number) => { text: string; cut: boolean }) {
  const world = makeWorld({ seed: 13, days: 4, starsPerDay: 60 });
  const { at } = world.stars.at(-1) as ExportStar;
  let asked = 0;
  const auditing: Auditing = {
    isServed: true,
    onExports(folder) {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      writeExports(world, folder, Date.parse(at));
    },
    onExport(day, file, response) {
      if (!at.startsWith(day)) return false;
      asked += 1;
      const { text, cut } = sent(file, asked);
      if (cut) response.write(text.slice(0, text.length / 2), () => response.destroy());
      else response.end(text);
      return true;
    },
  };
  return { world, auditing };
}

/** As the export was before its first star was published. */
function before(text: string): string {
  const [header = "", first = "", ...rest] = text.split("\n");
  const star = JSON.stringify({ ...JSON.parse(first), publication: UNSEEN });
  return [header, star, ...rest].join("\n");
}

test("an export that is cut and has changed since, as it may before its day is final, is read again", async () => {
  // Asked for once for what it sets apart, then to be judged.
  const { world, auditing } = cutOnLastDay((text, asked) =>
    asked === 2 ? { text: before(text), cut: true } : { text, cut: false },
  );
  const { ok, mismatches, unprovable } = await auditWorld(world, auditing);
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  assert.deepEqual(unprovable, []);
});

test("an export that goes on to change, and is cut, before its day is final ends the audit and accuses of nothing", async () => {
  const { world, auditing } = cutOnLastDay((text, asked) =>
    asked % 2 === 0 ? { text: before(text), cut: true } : { text, cut: false },
  );
  await assert.rejects(
    auditWorld(world, auditing),
    /^ProvisionalChanged: the export of \S+, which is not final, was cut, and is another one now: audit again$/,
  );
});

test("exports read from the service pass, and so does a day that became final since their list was read", async () => {
  const world = makeWorld({ seed: 13, days: 4, starsPerDay: 60 });
  for (const late of [0, 1]) {
    const onAnswer: Auditing["onAnswer"] = (path, body) => {
      if (path !== "/exports") return body;
      const { exports } = body as { exports: ExportEntry[] };
      const open = { final: false, stars: null, releases: null, sha256: null, chain: null };
      const last = exports.findLastIndex(({ final }) => final) + 1 - late;
      return {
        exports: exports.map((entry, place) =>
          place < last ? entry : { ...entry, ...open, bytes: null },
        ),
      };
    };
    const { ok, mismatches, unprovable } = await auditWorld(world, { isServed: true, onAnswer });
    assert.equal(ok, true, JSON.stringify(mismatches[0]));
    assert.deepEqual(unprovable, []);
  }
});

test("a star that rankings show and the ledger never does is a mismatch", async () => {
  const { world } = beforeLast();
  const found = await auditWorld(world, { withExports: false, settleMs: 0 });
  assert.equal(found.ok, false);
  assert.deepEqual(Object.keys(found.byKind), ["ranking"]);
});

test("exports that begin late, or leave a day out, prove what they contain and no more", async () => {
  const world = makeWorld({ seed: 21, days: 6, starsPerDay: 60 });
  const drop = (index: number) => (folder: string) => {
    rmSync(join(folder, readdirSync(folder).sort()[index] ?? ""));
  };
  const late = await auditWorld(world, { onExports: drop(0) });
  assert.equal(late.ok, true, JSON.stringify(late.mismatches[0]));
  assert.ok(late.unprovable.some((line) => line.startsWith("totalVotes of event/")));
  const weights = "weights on the leaderboard: those of some events are not proved";
  assert.deepEqual(
    late.unprovable.filter((line) => line === weights),
    [weights],
  );
  const gap = await auditWorld(world, { onExports: drop(2) });
  assert.deepEqual(gap.byKind, { export: 2 }, JSON.stringify(gap.mismatches));
});

/** Takes the message of the last star for an event off its topic. */
function beforeLastOfEvents() {
  const world = makeWorld({ seed: 7, days: 3, starsPerDay: 60 });
  const { event } = world.topics;
  const message = event.messages.at(-1);
  assert.ok(message !== undefined);
  event.messages.pop();
  const index = world.stars.findIndex(({ id }) => id === message.starId);
  const star = { ...(world.stars[index] as ExportStar), publication: UNSEEN };
  world.stars[index] = star;
  return { world, star, arrive: () => void event.messages.push(message) };
}

const UNSEEN: ExportStar["publication"] = {
  state: "submitted",
  topicId: null,
  transactionId: null,
  sequenceNumber: null,
  consensusTimestamp: null,
  runningHash: null,
};

test("a star of an event that an export says is not published yet counts once its message is read", async () => {
  const { world, star, arrive } = beforeLastOfEvents();
  const day = star.at.slice(0, 10);
  // Its day is not final.
  const onExports = (folder: string) => {
    writeExports(world, folder, Date.parse(star.at));
    for (const name of readdirSync(folder)) if (name > `${day}.ndjson`) rmSync(join(folder, name));
  };
  const never = await auditWorld(world, { onExports, isLive: true });
  const where = `totalVotes of event/${star.target.id}`;
  const total = never.mismatches.find((each) => each.where === where);
  assert.equal(total?.found, Number(total?.expected) + star.weight);
  const timer = setTimeout(arrive, 500);
  const found = await auditWorld(world, { onExports, isLive: true, settleMs: 20_000 });
  clearTimeout(timer);
  assert.equal(found.ok, true, JSON.stringify(found.mismatches[0]));
});

test("an event's star that was published after its day was judged is late, and its total right", async () => {
  const world = makeWorld({ seed: 7, days: 5, starsPerDay: 60 });
  const { event } = world.topics;
  const message = event.messages.find(({ text }) => text.includes("HACKATHON"));
  assert.ok(message !== undefined);
  const [seconds, nanos] = message.consensus.split(".");
  message.consensus = `${Number(seconds) + 50 * 3_600}.${nanos}`;
  reorder(world, event);
  const { byKind } = await auditWorld(world);
  assert.deepEqual(byKind, { "wrong-day": 1, "no-message": 1 });
});

/** Puts a topic's messages in the order of consensus, and tells the stars. */
function reorder(world: World, topic: Topic): void {
  topic.messages.sort((one, other) => (one.consensus < other.consensus ? -1 : 1));
  topic.messages.forEach((each, index) => {
    each.sequence = index + 1;
  });
  rechain(topic);
  tell(world, topic);
}

test("a day without stars, a season without any, and a last millisecond's star whose message is of the next day", async () => {
  const quiet = (world: World) => dayOf(startOfDay(world.firstDay) + DAY_MS);
  const made = (seed: number): World => {
    const world = makeWorld({ seed, days: 4, starsPerDay: 6, moves: false });
    const isQuiet = ({ at }: ExportStar) => at.startsWith(quiet(world));
    // Later stars of a mint rest on earlier ones.
    const rests = world.stars.some((star) => isQuiet(star) && star.scope === "forever-mint");
    return rests ? made(seed + 1) : { ...world, stars: world.stars.filter((one) => !isQuiet(one)) };
  };
  const world = made(1);
  const third = dayOf(startOfDay(quiet(world)) + DAY_MS);
  const index = world.stars.findLastIndex(({ at }) => at.startsWith(third));
  const star = world.stars[index] as ExportStar;
  const at = new Date(endOfDay(third) - 1).toISOString();
  const text = star.message.replace(`${Date.parse(star.at)}`, `${endOfDay(third) - 1}`);
  world.stars[index] = { ...star, at, message: text, held: { ...star.held, readAt: at } };
  const ids = new Set(world.stars.map(({ id }) => id));
  for (const topic of Object.values(world.topics)) {
    topic.messages = topic.messages.filter(({ starId }) => ids.has(starId));
    const message = topic.messages.find(({ starId }) => starId === star.id);
    const consensus = `${endOfDay(third) / 1_000 + 2}.000000000`;
    if (message !== undefined) Object.assign(message, { text, consensus });
    reorder(world, topic);
  }
  const onAnswer: Auditing["onAnswer"] = (path, body) => {
    const startsAt = new Date(Date.now()).toISOString();
    const { season } = body as { season: object };
    const none = { season: { ...season, startsAt }, leaderboard: [] };
    return path === "/v1/leaderboard" ? none : body;
  };
  for (const auditing of [{ isServed: true }, { withExports: false }, { onAnswer }]) {
    const { ok, mismatches } = await auditWorld(world, auditing);
    assert.equal(ok, true, JSON.stringify(mismatches[0]));
  }
});

test("a collection of which no NFT was minted yet gives no weight", async () => {
  const world = makeWorld({ seed: 3, days: 2, starsPerDay: 0 });
  const nfts = { [A]: new Map(), [B]: new Map() };
  const { ok, mismatches } = await auditWorld({ ...world, nfts });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
});

test("a removal while the rankings were read may be in them or not", () => {
  const accounts = noEventAccounts();
  const reading = { from: 10, until: 20, ends: null };
  const star = { event: "mint", isForeverMint: true, starId: "", wallet: "0.0.1", at: 1 };
  const counts = { held: { A: [1], B: [] }, recorded: null, isRead: true, isSettled: true };
  countEventStar(accounts, { ...star, ...counts }, reading);
  const losses = [{ wallet: "0.0.1", lostA: [1], lostB: [], heldB: [] }];
  releaseFromMint(accounts, { event: "mint", at: 15, losses }, reading);
  assert.deepEqual(boundsOfEvent(accounts, "mint"), { low: 1, high: 2 });
});

test("an NFT that left its wallet in the minute before a day may have been seen there by that day's check", async () => {
  const holderOnce = (seed: number): readonly [World, ExportStar] => {
    const world = makeWorld({ seed, days: 3, starsPerDay: 12, moves: false });
    const isFirst = ({ at }: ExportStar) => at.startsWith(world.firstDay);
    const star = world.stars.find(
      ({ wallet, scope, counted }) =>
        scope === "forever-mint" &&
        counted?.collectionA.length !== 0 &&
        world.stars.every((other) => other.wallet !== wallet || isFirst(other)),
    );
    return star === undefined ? holderOnce(seed + 1) : [world, star];
  };
  for (const [beforeMs, byKind] of [
    [30_000, {}],
    [120_000, { removal: 1 }],
  ] as const) {
    const [world, { wallet: sender, counted }] = holderOnce(1);
    const at = endOfDay(world.firstDay) - beforeMs;
    const move = { at, type: "CRYPTOTRANSFER", sender, receiver: TREASURY };
    world.nfts[A]?.get(counted?.collectionA[0] ?? 0)?.push(move);
    const found = await auditWorld(world);
    assert.deepEqual(found.byKind, byKind, JSON.stringify(found.mismatches));
  }
});

test("an NFT that its wallet held at the first star is known, on whichever topic that is and however late", async () => {
  const holdsOnce = (seed: number, topics: string): readonly [World, ExportStar] => {
    const world = makeWorld({ seed, days: 3, starsPerDay: 1, moves: false });
    const [first, ...others] = world.stars;
    const isIt =
      world.stars.map(({ topic }) => topic).join() === topics &&
      first?.scope !== "forever-mint" &&
      first?.held.collectionA.length !== 0 &&
      others.every(({ wallet }) => wallet !== first?.wallet);
    return isIt && first !== undefined ? [world, first] : holdsOnce(seed + 1, topics);
  };
  for (const [topics, lateHours] of [
    ["asset,event,event", 0],
    ["event,asset,asset", 0],
    ["asset,event,event", 20],
  ] as const) {
    const [world, star] = holdsOnce(1, topics);
    const at = Date.parse(star.at);
    const move = { type: "CRYPTOTRANSFER", sender: star.wallet, receiver: TREASURY };
    world.nfts[A]?.get(star.held.collectionA[0] ?? 0)?.push({ at: at + 3_600_000, ...move });
    const topic = world.topics[star.topic];
    const [message] = topic.messages;
    assert.ok(message !== undefined);
    message.consensus = `${Math.floor(at / 1_000) + 2 + lateHours * 3_600}.000000000`;
    reorder(world, topic);
    const { mismatches } = await auditWorld(world, { lateMs: (lateHours + 1) * 3_600_000 });
    assert.deepEqual(mismatches, []);
  }
});

test("stars of an event count by their instants, whatever the order of their messages", () => {
  const [noon, ever] = [Date.UTC(2026, 10, 20, 12), Number.POSITIVE_INFINITY];
  const state = newAuditState(["0.0.8001"]);
  const book = openDayBook(dayOf(noon));
  const star = { topic: "0.0.8001", sequenceNumber: 1 };
  const [former, later] = [noon - 120_000, noon + 120_000];
  book.events.set("meetup", {
    kind: "ECOSYSTEM_MEETUP",
    stars: [
      { ...star, wallet: "0.0.2", at: later },
      { ...star, wallet: "0.0.1", at: former },
    ],
  });
  const tenures = new Map([
    ["0.0.1", [{ serial: 5, from: 0, to: noon }]],
    [
      "0.0.2",
      [
        { serial: 5, from: noon, to: ever },
        { serial: 6, from: 0, to: ever },
      ],
    ],
  ]);
  const ownerships = {
    A: { tenures: new Map(), isPartial: false },
    B: { tenures, isPartial: false },
  };
  const reading = { from: later + 1, until: later + 1, ends: null };
  countWithoutExport(state, book, { ownerships, excluded: new Set(), reading });
  // The first spent the serial that the second had by then, and the second its other one.
  assert.deepEqual(boundsOfEvent(state.accounts, "meetup"), { low: 12, high: 12 });
});

test("a star whose message is not read is at no other star's place", () => {
  const { stars } = makeWorld({ seed: 3, days: 2, starsPerDay: 60 });
  const mintStar = stars.find(({ scope }) => scope === "forever-mint");
  assert.ok(mintStar !== undefined);
  const star = { ...mintStar, publication: UNSEEN };
  const { wallet } = star;
  const at = Date.parse(star.at);
  const read = [
    { wallet, at: at + 1, topic: "0.0.8001", sequenceNumber: 1 },
    { wallet: "0.0.1", at, topic: "0.0.8001", sequenceNumber: 2 },
  ];
  const book = openDayBook(dayOf(at));
  book.events.set(star.target.id, { kind: "FOREVER_MINT", stars: read });
  assert.equal(asRead(star, book), star);
  read.push({ wallet, at, topic: "0.0.8001", sequenceNumber: 3 });
  assert.equal(asRead(star, book).publication.sequenceNumber, 3);
});

test("a mint's day may hold more stars than a call takes arguments", () => {
  const [star] = makeWorld({ seed: 3, days: 2, starsPerDay: 60 }).stars;
  assert.ok(star !== undefined);
  const day = star.at.slice(0, 10);
  const happenings = Array.from({ length: 200_000 }, (_, order) => ({ order, day, star }));
  assert.equal(splitAfter(happenings, day).due.at(-1)?.order, 199_999);
});

test("each release of a mint's day is put in its place without a look at all before it", () => {
  const { releases } = makeWorld({ seed: 3, days: 4, starsPerDay: 60 });
  const [release] = releases;
  assert.ok(release !== undefined);
  const kept: MintHappening[] = [];
  let looks = 0;
  const happenings = new Proxy(kept, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  for (let n = 0; n < 3_000; n += 1) {
    const mintOrder = 1 + Math.floor(n / 2);
    addRelease(happenings, { ...release, mintOrder, serial: 1 + n }, release.checkDay);
  }
  assert.equal(kept.length, 1_500);
  assert.ok(kept.every((each) => "releases" in each && each.releases.length === 2));
  assert.ok(looks <= 2 * 3_000, `${looks} looks`);
});

test("stars on a topic that no header names leave counters unproved, and refute none", async () => {
  const world = makeWorld({ seed: 9, days: 3, starsPerDay: 40 });
  const { asset } = world.topics;
  const first = new Set(
    world.stars.flatMap(({ id, at }) => (at.startsWith(world.firstDay) ? [id] : [])),
  );
  asset.messages = asset.messages.filter(({ starId }) => !first.has(starId));
  asset.messages.forEach((each, index) => {
    each.sequence = index + 1;
  });
  rechain(asset);
  tell(world, asset);
  for (const [index, star] of world.stars.entries()) {
    if (!first.has(star.id) || star.topic !== "asset") continue;
    world.stars[index] = { ...star, publication: { ...star.publication, topicId: "0.0.8009" } };
  }
  const { mismatches, unprovable } = await auditWorld(world);
  assert.deepEqual(mismatches, []);
  assert.ok(unprovable.includes("messages on 0.0.8009: that topic is not audited"));
  // They explain as much as they weigh, and no more.
  const star = world.stars.find(
    ({ id, topic }) => first.has(id) && topic === "asset",
  ) as ExportStar;
  world.edits.set(`${star.target.type}/${star.target.id}`, 1_000);
  const { byKind } = await auditWorld(world);
  assert.deepEqual(byKind, { ranking: 1 });
});

test("a wallet that is excluded from noon on: its stars of that morning stand as they were cast", async () => {
  const world = makeWorld({ seed: 9, days: 4, starsPerDay: 40 });
  const holds = ({ held }: ExportStar) => held.collectionA.length > 0;
  const star = world.stars.findLast(holds) as ExportStar;
  const days = [...new Set(world.stars.map(({ at }) => at.slice(0, 10)))];
  const changed = days.indexOf(star.at.slice(0, 10));
  const excludedSince = (first: number) => ({
    ...world,
    excluded: [...world.excluded, star.wallet],
    excludedOn: new Map(days.slice(0, first).map((day) => [day, world.excluded])),
  });
  const { ok, mismatches } = await auditWorld(excludedSince(changed));
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  // Excluded on every day, also where one day's export alone is read.
  const always = { ...world, excluded: [...world.excluded, star.wallet] };
  const ofOneDay = await auditWorld(always, { day: star.at.slice(0, 10) });
  assert.ok((ofOneDay.byKind.holdings ?? 0) > 0, JSON.stringify(ofOneDay.byKind));
  // Excluded since the day before, it shows NFTs that nothing had read.
  const { byKind } = await auditWorld(excludedSince(changed - 1));
  assert.ok((byKind.holdings ?? 0) > 0, JSON.stringify(byKind));
});

test("one day alone", async () => {
  const world = makeWorld({ seed: 9, days: 5, starsPerDay: 40 });
  const day = world.stars[Math.floor(world.stars.length / 2)]?.at.slice(0, 10) ?? "";
  const stars = world.stars.filter(({ at }) => at.startsWith(day)).length;
  const { ok, checked, mismatches, unprovable } = await auditWorld(world, { day });
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  assert.equal(checked.eventStars + checked.assetStars, stars);
  assert.ok(unprovable.some((line) => line.startsWith("weights on forever mints: ")));
  assert.equal(checked.messages, world.stars.length);
  const none = await auditWorld(world, { day: "2999-01-01" });
  assert.deepEqual(none.notes, ["2999-01-01 has no star and no export: nothing of it was judged"]);
});

test("a project that only an export of another day names by its ledger id is unproved", async () => {
  const world = makeWorld({ seed: 2, days: 6, starsPerDay: 12 });
  const isWallet = ({ target }: ExportStar) => target.id === "wallet";
  const starred = new Set(world.stars.filter(isWallet).map(({ at }) => at.slice(0, 10)));
  const day = world.stars.map(({ at }) => at.slice(0, 10)).find((each) => !starred.has(each));
  assert.ok(starred.size > 0 && day !== undefined);
  const { mismatches, unprovable } = await auditWorld(world, { day });
  assert.deepEqual(mismatches, []);
  assert.ok(unprovable.some((line) => line.startsWith("votes7d of project/wallet")));
  // It says nothing of other counters.
  world.edits.set("token/0.0.7101", 1_000);
  assert.deepEqual((await auditWorld(world, { day })).byKind, { ranking: 1 });
});

test.run();
