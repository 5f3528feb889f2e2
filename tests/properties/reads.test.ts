/**
 * Goal: what anyone reads follows from what was done, by the contract alone, at every edge of hours,
 * days, months, seasons and events. Method: random imports, approvals, seasons, passes, XP and stars
 * under a clock that jumps to such edges, through two processes in turn; every read is compared with
 * bare facts, added up anew each time. What NFTs do is left to the properties of the rules: here
 * each wallet keeps its own.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS, dayOf, instant } from "../../actors/day.ts";
import { setApproval } from "../../src/catalogue/approve-records.ts";
import { creditXp } from "../../src/catalogue/credit-xp.ts";
import { importCatalog } from "../../src/catalogue/import-catalog.ts";
import { grantPass, revokePass } from "../../src/catalogue/premium.ts";
import { type RecordType, recordTypes } from "../../src/catalogue/record-type.ts";
import { addSeason, type Season } from "../../src/catalogue/seasons.ts";
import type { FollowedClock } from "../../src/clock.ts";
import { itemQuery, itemReader } from "../../src/http/voting/items.ts";
import { issueKey } from "../../src/keys/api-keys.ts";
import { readAttention } from "../../src/reads/attention.ts";
import { readStanding } from "../../src/reads/leaderboard.ts";
import { ensureStarPartitions } from "../../src/store/migrate.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { createEngine } from "../../src/voting/engine.ts";
import { readAllowance } from "../../src/voting/read-allowance.ts";
import { dice } from "../fuzz/dice.ts";
import { createHouse, EVENT_SOURCES, from } from "../http/v1/house.ts";
import { bodyOf, NO_SNAPSHOTS, verdictOf } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

const HOUR_MS = 3_600_000;
const STEPS = 120;
/** An ordinary day, the last moment of a year, and the days before 29 February of 2028 and 1 March of 2100. */
const STARTS = [
  Date.UTC(2026, 10, 20, 8, 30),
  Date.UTC(2027, 11, 31, 23, 59, 59, 990),
  Date.UTC(2028, 1, 28, 12),
  Date.UTC(2100, 1, 27, 23),
];

/** What each wallet holds: by number, by text and by their NFTs they come in different orders. */
const HELD: Readonly<
  Record<string, { collectionA: readonly number[]; collectionB: readonly number[] }>
> = {
  "0.0.9": { collectionA: [1, 2], collectionB: [] },
  "0.0.30": { collectionA: [], collectionB: [7] },
  "0.0.100": { collectionA: [3], collectionB: [8, 9] },
  "0.0.1001": { collectionA: [], collectionB: [] },
};
const WALLETS = Object.keys(HELD);
const IDS: Readonly<Record<RecordType, readonly string[]>> = {
  event: ["E1", "e2", "a-3", "_4"],
  token: ["0.0.9", "0.0.80", "0.0.700", "0.0.10"],
  collection: ["0.0.21", "0.0.3", "0.0.100"],
  project: ["p1", "P2", "p-3"],
};

/** A record as the API shows it, but for what is derived, with instants as numbers. */
type Entry = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly startsAt: number;
  readonly endsAt: number | null;
  readonly isForeverMint: boolean;
  readonly eventType: string;
  readonly country: string | null;
  isApproved: boolean;
};
interface Star {
  readonly at: number;
  readonly wallet: string;
  readonly type: RecordType;
  readonly id: string;
  readonly weight: number;
}
interface Credit {
  readonly at: number;
  readonly wallet: string;
  readonly points: number;
  readonly id: string;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const numberOf = (id: string): number => Number(id.split(".")[2]);
const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
const midnight = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** The facts, and what follows from them at an instant. */
class Oracle {
  now = 0;
  readonly records: Record<RecordType, Map<string, Entry>> = {
    event: new Map(),
    token: new Map(),
    collection: new Map(),
    project: new Map(),
  };
  readonly stars: Star[] = [];
  readonly credits: Credit[] = [];
  readonly seasons: Season[] = [];
  readonly passes = new Set<string>();

  weight(type: RecordType, id: string, since: number): number {
    const of = this.stars.filter(
      (star) => star.type === type && star.id === id && star.at >= since,
    );
    return sum(of.map(({ weight }) => weight));
  }

  total(type: RecordType, id: string): number {
    return this.weight(type, id, type === "event" ? 0 : midnight(this.now));
  }

  counts(type: RecordType, id: string) {
    const hour = Math.floor(this.now / HOUR_MS) * HOUR_MS;
    return {
      totalVotes: this.total(type, id),
      votes7d: this.weight(type, id, hour - 7 * DAY_MS),
      votes30d: this.weight(type, id, hour - 30 * DAY_MS),
    };
  }

  approved(type: RecordType): readonly Entry[] {
    return [...this.records[type].values()].filter(({ isApproved }) => isApproved);
  }

  season(): Season | undefined {
    return this.seasons.find(({ startsAt, endsAt }) => startsAt <= this.now && this.now < endsAt);
  }

  events() {
    const statusOf = ({ startsAt, endsAt }: Entry): string => {
      if (this.now < startsAt) return "upcoming";
      return endsAt !== null && endsAt <= this.now ? "ended" : "live";
    };
    return [...this.approved("event")]
      .sort((one, other) => one.startsAt - other.startsAt || byText(one.id, other.id))
      .map(({ isApproved: _, name, links: __, prizes: ___, country: ____, ...event }) => ({
        ...event,
        title: name,
        status: statusOf({ ...event, name, country: null, isApproved: true }),
        startsAt: instant(event.startsAt),
        endsAt: event.endsAt === null ? null : instant(event.endsAt),
        totalVotes: this.total("event", event.id),
        createdAt: instant(event.createdAt),
      }));
  }

  ranking(type: "token" | "collection") {
    return this.approved(type)
      .map((entry) => ({ ...entry, ...this.counts(type, entry.id) }))
      .sort(
        (one, other) =>
          other.totalVotes - one.totalVotes ||
          other.votes30d - one.votes30d ||
          numberOf(one.id) - numberOf(other.id),
      )
      .map(({ isApproved: _, createdAt: __, ...shown }, index) => ({ rank: index + 1, ...shown }));
  }

  projects() {
    return [...this.approved("project")]
      .sort((one, other) => other.createdAt - one.createdAt || byText(one.id, other.id))
      .map(({ isApproved: _, ...project }) => ({
        ...project,
        ...this.counts("project", project.id),
        createdAt: instant(project.createdAt),
      }));
  }

  board() {
    const season = this.season();
    if (season === undefined) return { season: null, leaderboard: [] };
    const { id, name, startsAt, endsAt } = season;
    const isIn = ({ at }: { readonly at: number }): boolean => startsAt <= at && at < endsAt;
    const entries = WALLETS.map((wallet) => {
      const own = this.stars.filter((star) => star.wallet === wallet && isIn(star));
      const booked = this.credits.filter((credit) => credit.wallet === wallet && isIn(credit));
      const points = own.length + sum(booked.map((credit) => credit.points));
      return { wallet, points, stars: own.length, weight: sum(own.map(({ weight }) => weight)) };
    });
    const leaderboard = entries
      .filter(({ points, stars }) => points > 0 || stars > 0)
      .sort(
        (one, other) =>
          other.points - one.points ||
          other.stars - one.stars ||
          numberOf(one.wallet) - numberOf(other.wallet),
      )
      .map((entry, index) => ({ rank: index + 1, ...entry }));
    const dates = { startsAt: instant(startsAt), endsAt: instant(endsAt) };
    return { season: { id, name, ...dates }, leaderboard };
  }

  attention() {
    const windows = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS };
    return Object.entries(windows).flatMap(([window, ms]) => {
      const within = this.stars.filter(({ at }) => at > this.now - ms);
      const items = new Set(within.map(({ type, id }) => `${type}/${id}`));
      return [...items].map((item) => {
        const own = within.filter(({ type, id }) => `${type}/${id}` === item);
        const wallets = new Set(own.map(({ wallet }) => wallet)).size;
        return `${item} ${window} ${own.length} ${sum(own.map(({ weight }) => weight))} ${wallets}`;
      });
    });
  }

  allowance(wallet: string) {
    const season = this.season();
    const premium = season !== undefined && this.passes.has(`${wallet} ${season.id}`);
    const limit = premium ? 20 : 5;
    const mine = this.stars.filter((star) => star.wallet === wallet);
    const used = mine.filter(({ at }) => midnight(at) === midnight(this.now)).length;
    return {
      wallet,
      day: dayOf(this.now),
      premium,
      limit,
      used,
      remaining: Math.max(0, limit - used),
    };
  }

  /** What becomes of a star, and its weight. */
  judge(wallet: string, type: RecordType, id: string): readonly [verdict: string, weight: number] {
    const entry = this.records[type].get(id);
    if (!entry?.isApproved) return ["NOT_FOUND", 0];
    const before = this.stars.filter((s) => s.wallet === wallet && s.type === type && s.id === id);
    const isToday = before.some(({ at }) => midnight(at) === midnight(this.now));
    if (isToday && !entry.isForeverMint) return ["ALREADY_STARRED", 0];
    if (this.allowance(wallet).remaining === 0) return ["ALLOWANCE_EXHAUSTED", 0];
    const { collectionA = [], collectionB = [] } = HELD[wallet] ?? {};
    const power = 1 + collectionA.length + (collectionB.length > 0 ? 5 : 0);
    return ["accepted", entry.isForeverMint && before.length > 0 ? 0 : power];
  }
}

/** A service of two processes under the oracle's clock. */
async function open(oracle: Oracle) {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 3, statementTimeoutMs: 60_000 });
  const writer = openPostgres(database.url, { connections: 2, writer: true });
  await sql.unsafe(`create table test_clock (at bigint); insert into test_clock values (0);
    grant select on test_clock to public;
    create or replace function now_ms() returns bigint language sql volatile as 'select at from test_clock'`);
  const clock: FollowedClock = {
    now: () => oracle.now,
    measure: async () => undefined,
    compare: async () => undefined,
    stop: () => undefined,
  };
  const contradictions: Error[] = [];
  const { key } = await issueKey(sql, "tests");
  const processes = [1, 2].map(() => ({
    app: createHouse({ sql, clock: { now: clock.now, set: () => undefined } }),
    items: itemReader({ sql, clock }),
    engine: createEngine({
      ...{ sql, writer, clock, snapshots: NO_SNAPSHOTS },
      collectionKeys: { a: "alpha", b: "beta" },
      readHoldings: async (wallet) => {
        const { collectionA = [], collectionB = [] } = HELD[wallet] ?? {};
        return { collectionA, collectionB, readAt: oracle.now };
      },
      hasTaken: async () => true,
      onAccepted: () => undefined,
      onContradiction: (error) => contradictions.push(error),
    }),
  }));
  return {
    ...{ sql, clock, processes, contradictions },
    headers: { Authorization: `Bearer ${key}` },
    async setClock(to: number): Promise<void> {
      oracle.now = to;
      await sql`update test_clock set at = ${to}`;
      await ensureStarPartitions(sql, dayOf(to));
    },
    async close(): Promise<void> {
      for (const { engine } of processes) await engine.settled();
      await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]);
      await database.close();
    },
  };
}
type Played = Awaited<ReturnType<typeof open>>;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** What is done, each with what the oracle says becomes of it. */
function actions(oracle: Oracle, played: Played, random: ReturnType<typeof dice>) {
  const { sql, setClock } = played;
  const { pick, below } = random;
  const isLucky = (chance: number): boolean => below(100) < 100 * chance;
  const one = () => pick(played.processes);
  const entryOf = (type: RecordType, id: string): Record<string, unknown> => {
    const created = isLucky(0.5) ? { createdAt: instant(pick([0, 5, oracle.now])) } : {};
    const common = { id, name: `Name ${below(4)}`, ...created };
    if (type === "token")
      return { ...common, symbol: "S", price: pick([null, 0, 0.125]), marketCap: null };
    if (type === "collection") return { ...common, owners: pick([null, 0, 7]), supply: 9 };
    if (type === "project")
      return { ...common, category: pick(["DEFI", "NFT"]), country: pick([null, "de", "FR"]) };
    const { name, ...event } = common;
    const isForeverMint = id === "_4" ? isLucky(0.9) : isLucky(0.05);
    const startsAt = oracle.now + pick([-9 * DAY_MS, -1, 0, 1, HOUR_MS, 20 * DAY_MS]);
    const end =
      isForeverMint || isLucky(0.5) ? null : instant(startsAt + pick([0, 1, HOUR_MS, DAY_MS]));
    const eventType = isForeverMint ? "MINT_EVENT" : pick(["MINT_EVENT", "HACKATHON", "OTHER"]);
    return {
      ...event,
      title: name,
      eventType,
      isForeverMint,
      startsAt: instant(startsAt),
      endsAt: end,
    };
  };
  /** The record that an accepted entry makes. */
  const recordOf = (type: RecordType, given: Record<string, unknown>, approve: boolean): Entry => {
    const id = String(given.id);
    const known = oracle.records[type].get(id);
    const at = (field: string): number | null =>
      typeof given[field] === "string" ? Date.parse(given[field]) : null;
    const createdAt = at("createdAt") ?? known?.createdAt ?? oracle.now;
    const isApproved = approve || (known?.isApproved ?? false);
    const common = { id, createdAt, isApproved, name: String(given.title ?? given.name) };
    const shown: Record<RecordType, object> = {
      event: {
        description: null,
        source: null,
        host: null,
        location: null,
        imageUrl: null,
        url: null,
      },
      token: { iconUrl: null },
      collection: { imageUrl: null },
      project: { slug: id, description: null, logoUrl: null, websiteUrl: null },
    };
    const { title: _, ...rest } = given;
    if (type !== "event") {
      const country =
        typeof given.country === "string" ? { country: given.country.toUpperCase() } : {};
      // A record made of what was given, and of the defaults above.
      return { ...shown[type], ...rest, ...common, ...country } as unknown as Entry;
    }
    const startsAt = at("startsAt") ?? 0;
    const usual =
      given.eventType === "MINT_EVENT" ? startsAt + 7 * DAY_MS : midnight(startsAt) + DAY_MS;
    const endsAt = given.isForeverMint === true ? null : (at("endsAt") ?? usual);
    // As above.
    return { ...shown.event, ...rest, ...common, startsAt, endsAt } as unknown as Entry;
  };
  return {
    async clock() {
      const { now, seasons, stars, records } = oracle;
      const hoursAfter = ({ at }: Star) => (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
      const edges = [
        (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
        midnight(now) + DAY_MS,
        Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() + 1, 1),
        ...seasons.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]),
        ...[...records.event.values()].flatMap(({ startsAt, endsAt }) => [startsAt, endsAt ?? 0]),
        ...stars
          .slice(-6)
          .flatMap((star) => [
            ...[1, 7, 30].map((days) => star.at + days * DAY_MS),
            ...[7, 30].map((days) => hoursAfter(star) + days * DAY_MS),
          ]),
      ].filter((at) => at > now + 1 && at < now + 32 * DAY_MS);
      const soonest = edges.sort((a, b) => a - b).slice(0, isLucky(0.7) ? 4 : edges.length);
      await setClock((soonest.length === 0 ? now + 2 : pick(soonest)) + pick([-1, 0, 0, 1]));
    },
    async import() {
      const type = pick(recordTypes);
      const ids = new Set([pick(IDS[type]), pick(IDS[type])]);
      const given = [...ids].map((id) => entryOf(type, id));
      const approve = isLucky(0.8);
      const isBad = given.some(({ id, isForeverMint = false }) => {
        const isStarred = oracle.stars.some((star) => star.type === type && star.id === id);
        const known = oracle.records[type].get(String(id));
        return type === "event" && isStarred && known?.isForeverMint !== isForeverMint;
      });
      const file = { [`${type}s`]: given };
      const options = { approve, eventSources: EVENT_SOURCES };
      const done = await importCatalog(sql, file, options).then(() => "stored", codeOf);
      assert.equal(done, isBad ? "INVALID_REQUEST" : "stored");
      if (isBad) return;
      for (const each of given)
        oracle.records[type].set(String(each.id), recordOf(type, each, approve));
    },
    async approval() {
      const [type, isApproved] = [pick(recordTypes), isLucky(0.8)];
      const id = pick(IDS[type]);
      await setApproval(sql, type, { ids: [id], isApproved });
      const entry = oracle.records[type].get(id);
      if (entry !== undefined) entry.isApproved = isApproved;
    },
    async season() {
      const { now, seasons, stars } = oracle;
      const edges = seasons.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]);
      const anchor = pick([
        now,
        now - DAY_MS,
        now + HOUR_MS,
        ...edges,
        ...stars.map(({ at }) => at),
      ]);
      const length = pick([1, HOUR_MS, DAY_MS, 3 * DAY_MS, 15 * DAY_MS]);
      const startsAt = isLucky(0.5) ? anchor : anchor - length;
      const season = { name: `Season ${seasons.length}`, startsAt, endsAt: startsAt + length };
      const isBad = seasons.some((s) => s.startsAt < season.endsAt && startsAt < s.endsAt);
      const added = await addSeason(sql, season).catch(codeOf);
      if (typeof added !== "string") seasons.push(added);
      assert.equal(
        typeof added === "string" ? added : "added",
        isBad ? "INVALID_REQUEST" : "added",
      );
    },
    async pass() {
      const season = oracle.season() ?? oracle.seasons.at(-1);
      if (season === undefined) return;
      const name = { wallet: pick(WALLETS), seasonId: season.id };
      const pass = `${name.wallet} ${name.seasonId}`;
      if (isLucky(0.7)) {
        await grantPass(sql, name);
        oracle.passes.add(pass);
      } else {
        const done = await revokePass(sql, name).then(
          () => true,
          () => false,
        );
        assert.equal(done, oracle.passes.delete(pass));
      }
    },
    async xp() {
      const { credits, now } = oracle;
      const repeated = credits.length > 0 && isLucky(0.25) ? pick(credits) : undefined;
      const fresh = {
        wallet: pick(WALLETS),
        points: pick([1, 10, -1, -2, -10]),
        id: `${credits.length}`,
      };
      const { wallet, points, id } = repeated ?? fresh;
      const board = oracle.board();
      const own = board.leaderboard.find((entry) => entry.wallet === wallet)?.points ?? 0;
      const isBad =
        repeated === undefined && points < 0 && (board.season === null || own + points < 0);
      const booked = await creditXp(sql, { wallet, points, id, reason: "r" }).catch(codeOf);
      const at = typeof booked === "string" ? booked : booked.creditedAt;
      assert.equal(at, isBad ? "INVALID_REQUEST" : (repeated?.at ?? now));
      if (!isBad && repeated === undefined) credits.push({ ...fresh, at: now });
    },
    async star() {
      const [wallet, type] = [pick(WALLETS), pick(recordTypes)];
      const id = pick(IDS[type]);
      const last = oracle.stars.findLast((star) => star.wallet === wallet);
      if (last !== undefined && oracle.now <= last.at) await setClock(last.at + 1);
      const [verdict, weight] = oracle.judge(wallet, type, id);
      const { casting } = one().engine;
      const asked = { voter: { wallet }, target: { type, id }, idempotencyKey: null };
      const result = await castStar(casting, asked).catch(codeOf);
      assert.equal(typeof result === "string" ? result : verdictOf(result), verdict);
      if (verdict !== "accepted" || typeof result === "string") return;
      oracle.stars.push({ at: oracle.now, wallet, type, id, weight });
      const { star, counter } = bodyOf(result);
      assert.deepEqual(
        [star.at, star.weight, counter.totalVotes],
        [instant(oracle.now), weight, oracle.total(type, id)],
      );
    },
  };
}

/** Compares every read of one process with the oracle. */
async function compare(oracle: Oracle, played: Played, { pick, below }: ReturnType<typeof dice>) {
  const { sql, clock, headers } = played;
  const { app, items, engine } = pick(played.processes);
  const read = async (path: string): Promise<unknown> => {
    const reply = await app.request(`/v1${path}`, { headers }, from("192.0.2.1"));
    return reply.status === 404 ? null : JSON.parse(await reply.text());
  };
  const page = (
    name: string,
    all: readonly object[],
    { limit, offset }: Record<"limit" | "offset", number>,
  ) => ({
    [name]: all.slice(offset, offset + limit),
    ...{ total: all.length, hasMore: offset + limit < all.length, limit, offset },
  });
  const part = { limit: 1 + below(4), offset: below(4) };
  const events = oracle.events();
  const notOver = events.filter(({ status }) => status !== "ended");
  assert.deepEqual(await read("/events"), page("events", notOver, { limit: 20, offset: 0 }));
  for (const status of ["upcoming", "live", "ended", "all"]) {
    const of = events.filter((event) => status === "all" || event.status === status);
    const query = `status=${status}&limit=${part.limit}&offset=${part.offset}`;
    assert.deepEqual(await read(`/events?${query}`), page("events", of, part));
  }
  const id = pick(IDS.event);
  const event = events.find((each) => each.id === id);
  assert.deepEqual(await read(`/events/${id}`), event ? { ...event, links: [], prizes: [] } : null);
  const [tokens, collections] = [oracle.ranking("token"), oracle.ranking("collection")];
  assert.deepEqual(await read("/tokens/top"), { tokens });
  assert.deepEqual(await read(`/tokens/top?limit=${part.limit}`), {
    tokens: tokens.slice(0, part.limit),
  });
  assert.deepEqual(await read("/collections/top"), { collections });
  const projects = oracle.projects();
  assert.deepEqual(await read("/ecosystem"), page("projects", projects, { limit: 50, offset: 0 }));
  const german = projects.filter(({ country }) => country === "DE");
  const query = `country=de&limit=${part.limit}&offset=${part.offset}`;
  assert.deepEqual(await read(`/ecosystem?${query}`), page("projects", german, part));
  assert.deepEqual(await read("/leaderboard"), oracle.board());
  const q = pick(["NAME 1", "e 2", "%"]);
  const isNamed = (entry: object): boolean =>
    Object.entries(entry).some(
      ([field, value]) =>
        /^(name|title|symbol)$/.test(field) &&
        String(value).toLowerCase().includes(q.toLowerCase()),
    );
  for (const [type, all] of Object.entries({
    event: notOver,
    token: tokens,
    collection: collections,
    project: projects,
  })) {
    const { bytes } = await items(itemQuery.parse({ type, q, ...strings(part) }));
    assert.deepEqual(
      JSON.parse(Buffer.from(bytes).toString()),
      page("items", all.filter(isNamed), part),
    );
  }
  const rows = await readAttention(sql, { window: undefined, type: undefined, limit: 1_000 });
  const lines = rows.map(
    (row) =>
      `${row.target_type}/${row.target_id} ${row.window} ${row.stars} ${row.weight} ${row.wallets}`,
  );
  assert.deepEqual(lines.sort(), oracle.attention().sort());
  for (const wallet of WALLETS) {
    const entry = oracle.board().leaderboard.find((each) => each.wallet === wallet) ?? null;
    assert.deepEqual(
      await readStanding(sql, { account: numberOf(wallet), now: oracle.now }),
      entry,
    );
    const { resetsAt: _, ...own } = await readAllowance({ clock, ...engine }, wallet);
    assert.deepEqual(own, oracle.allowance(wallet));
  }
}

const strings = (part: Record<string, number>): Record<string, string> =>
  Object.fromEntries(Object.entries(part).map(([name, value]) => [name, String(value)]));

for (const [seed, startsAt] of STARTS.entries()) {
  test(`from ${instant(startsAt)} on, what is read follows from what was done`, async () => {
    const [oracle, random] = [new Oracle(), dice(seed)];
    const played = await open(oracle);
    await played.setClock(startsAt);
    const acts = actions(oracle, played, random);
    const bag = [...Object.values(acts), ...Array.from({ length: 6 }, () => acts.star), acts.clock];
    const done: string[] = [];
    try {
      for (let step = 0; step < STEPS; step += 1) {
        const act = step < 10 ? acts.import : random.pick(bag);
        done.push(`${act.name} at ${instant(oracle.now)}`);
        await act();
        if (step % 3 === 0) await compare(oracle, played, random);
      }
      assert.deepEqual(played.contradictions, []);
      assert.ok(oracle.stars.length > 10, `${oracle.stars.length} stars`);
    } catch (error) {
      process.stdout.write(`${done.slice(-20).join("\n")}\n`);
      throw error;
    } finally {
      await played.close();
    }
  });
}

test.run();
