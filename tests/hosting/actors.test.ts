/**
 * Goal: everything a wallet or an event did can be rebuilt from the journal, and an edit anywhere
 * else shows. Method: real stars; then one projection row, one claim or one snapshot is changed
 * behind the service's back.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { subcommand as actorsCommand } from "../../src/cli/actors.ts";
import { actorWithHistory } from "../../src/hosting/actor-body.ts";
import { type ActorName, formatActorName, parseActorName } from "../../src/hosting/actor-name.ts";
import { type ActorQuery, type ListedActor, listActors } from "../../src/hosting/list-actors.ts";
import {
  createMintSnapshots,
  MINT_SNAPSHOT_WEIGHT_MAX,
  type MintSnapshots,
  mintKey,
} from "../../src/hosting/mint-snapshots.ts";
import { replayActor } from "../../src/hosting/replay-actor.ts";
import { type ShownActor, showActor } from "../../src/hosting/show-actor.ts";
import { createSnapshots, type Snapshots, snapshotKey } from "../../src/hosting/snapshots.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { silentLogger } from "../../src/log.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { closeRedis, openRedis, type Redis } from "../../src/store/redis.ts";
import { withDeadline } from "../../src/with-deadline.ts";
import { runCli } from "../cli/run-cli.ts";
import { type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";
import { SLACK_MS } from "../support/slack.ts";
import { readsOf } from "../support/table-reads.ts";

interface Context {
  engine: Engine;
  redis: Redis;
  snapshots: Snapshots;
  mintSnapshots: MintSnapshots;
  day: string;
  settings: Readonly<Record<string, string>>;
  close: () => Promise<void>;
}

const test = suite<Context>("actors, inspected");
const WALLET = "0.0.801";

test.before.each(async (context) => {
  const [database, server] = await Promise.all([testDatabase({ migrated: true }), testRedis()]);
  const redis = openRedis(server.url, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  const snapshots = createSnapshots(redis, SLACK_MS);
  const mintSnapshots = createMintSnapshots(redis);
  const engine = await startEngine(database.url, snapshots);
  await seedDirectory(engine.sql);
  engine.holdings.set(WALLET, { collectionA: [1, 2], collectionB: [7] });
  engine.holdings.set("0.0.802", { collectionA: [2, 3], collectionB: [7, 8] });
  for (const target of ["event/meetup", "token/0.0.9001", "event/mint", "event/mint"]) {
    await engine.cast(WALLET, target);
  }
  for (const target of ["event/meetup", "event/mint"]) await engine.cast("0.0.802", target);
  await snapshots.settled();
  Object.assign(context, {
    engine,
    redis,
    snapshots,
    mintSnapshots,
    day: dayOf(engine.clock.now()),
    settings: { DATABASE_URL: database.url, REDIS_URL: server.url },
    close: async () => {
      await engine.close();
      await closeRedis(redis);
      await Promise.all([server.close(), database.close()]);
    },
  });
});
test.after.each((context) => context.close());

function named(text: string): ActorName {
  const name = parseActorName(text);
  assert.ok(name, text);
  assert.equal(formatActorName(name), text);
  return name;
}

const show = (c: Context, text: string): Promise<ShownActor> =>
  showActor(c.engine.sql, restingIn(c), named(text));
const replay = (c: Context, text: string) => replayActor(c.engine.sql, restingIn(c), named(text));
const restingIn = ({ snapshots, mintSnapshots }: Context) => ({ snapshots, mintSnapshots });

test("an actor is shown by its public name: state, context, version, source", async (c) => {
  const wallet = await show(c, `wallet-day/${WALLET}/${c.day}`);
  assert.deepEqual([wallet.state, wallet.version, wallet.source], ["open", 4, "snapshot"]);
  const event = await show(c, `event-day/meetup/${c.day}`);
  assert.deepEqual([event.state, event.version], ["counting", 2]);
  assert.deepEqual(event.context, {
    event: "meetup",
    day: c.day,
    weight: 8 + 7,
    stars: 2,
    counted: { A: { 1: WALLET, 2: WALLET, 3: "0.0.802" }, B: { 7: WALLET, 8: "0.0.802" } },
  });
  const mint = await show(c, "forever-mint/mint");
  assert.deepEqual([mint.state, mint.version], ["collecting", 3]);
  const unknown = await show(c, `wallet-day/0.0.5/${c.day}`);
  assert.deepEqual([unknown.state, unknown.version, unknown.source], ["open", 0, "journal"]);
});

test("an actor's history is that of its state, also where a star comes while both are read", async (c) => {
  c.engine.holdings.set("0.0.803", { collectionA: [], collectionB: [] });
  for (const [id, wallet, target, stars] of [
    [`wallet-day/${WALLET}/${c.day}`, WALLET, "token/0.0.9002", 4],
    [`event-day/meetup/${c.day}`, "0.0.803", "event/meetup", 2],
    ["forever-mint/mint", "0.0.803", "event/mint", 3],
  ] as const) {
    const castMeanwhile = new Proxy(c.engine.sql, {
      apply(sql, self, args) {
        const query = Reflect.apply(sql, self, args);
        const isHistory = String(args[0]).includes('as "votingPower"');
        return isHistory ? c.engine.cast(wallet, target).then(() => query) : query;
      },
    });
    const { version, history } = await actorWithHistory(castMeanwhile, restingIn(c), named(id));
    assert.deepEqual([version, history.length], [stars, stars], id);
    const now = await actorWithHistory(c.engine.sql, restingIn(c), named(id));
    assert.deepEqual(now.history.slice(1), history, id);
  }
});

test("what the journal makes equals what is live (A26 replay, P8)", async (c) => {
  for (const id of [
    `wallet-day/${WALLET}/${c.day}`,
    `event-day/meetup/${c.day}`,
    "forever-mint/mint",
  ]) {
    const { equal, differences, rules } = await replay(c, id);
    assert.deepEqual([equal, differences, rules], [true, [], [1]], id);
  }
});

test("replay names the versions of the rules by their numbers, the lowest first", async (c) => {
  const { sql } = c.engine;
  await sql`alter table star disable trigger star_facts_stand`;
  await sql`update star set rules = case slot when 1 then 2 else 10 end where wallet = 801`;
  assert.deepEqual((await replay(c, `wallet-day/${WALLET}/${c.day}`)).rules, [2, 10]);
});

test("a Redis that answers nothing keeps no mint from being shown", async (c) => {
  const silent = () => new Promise<never>(() => undefined);
  const mintSnapshots = createMintSnapshots({ isReady: true, get: silent, set: silent } as never);
  const showing = showActor(c.engine.sql, { mintSnapshots }, named("forever-mint/mint"));
  assert.equal((await withDeadline(showing, SLACK_MS)).source, "journal");
});

test("a web process shows what is in its memory, as long as the journal says the same", async (c) => {
  const { host } = c.engine.parts.casting;
  const name = named(`wallet-day/${WALLET}/${c.day}`);
  const shown = await showActor(c.engine.sql, { ...restingIn(c), host }, name);
  assert.deepEqual({ ...shown, source: "snapshot" }, await show(c, shown.id));
  assert.equal(shown.source, "memory");
});

test("a forever mint shows each wallet's state and when it voted last", async (c) => {
  const { context } = await show(c, "forever-mint/mint");
  assert.deepEqual(context, {
    event: "mint",
    weight: 8 + 0 + 7,
    stars: 3,
    wallets: {
      [WALLET]: { state: "carrying", votedOn: c.day },
      "0.0.802": { state: "carrying", votedOn: c.day },
    },
    counted: { A: { 1: WALLET, 2: WALLET, 3: "0.0.802" }, B: { 7: WALLET, 8: "0.0.802" } },
  });
});

test("an actor's history is the same after Redis lost everything and a restart", async (c) => {
  const id = `wallet-day/${WALLET}/${c.day}`;
  const before = await show(c, id);
  await c.redis.del(snapshotKey(c.day));
  const after = await show(c, id);
  assert.equal(after.source, "journal");
  assert.deepEqual({ ...after, source: "snapshot" }, before);
});

test("an edited snapshot does not equal the journal", async (c) => {
  const key = snapshotKey(c.day);
  const text = (await c.redis.hGet(key, WALLET)) ?? "";
  await c.redis.hSet(key, WALLET, text.replace("token/0.0.9001", "token/0.0.9002"));
  const id = `wallet-day/${WALLET}/${c.day}`;
  const { equal, differences } = await replay(c, id);
  assert.equal(equal, false);
  assert.equal(differences.length, 1);
  Object.assign(process.env, c.settings);
  const { stdout, exitCode } = await runCli(actorsCommand, ["replay", id, "--json"]);
  for (const name of Object.keys(c.settings)) delete process.env[name];
  assert.deepEqual([JSON.parse(stdout).equal, exitCode], [false, 1]);
});

test("a mint comes back from its snapshot and what happened since", async (c) => {
  const first = await show(c, "forever-mint/mint");
  assert.equal(first.source, "journal");
  const again = await show(c, "forever-mint/mint");
  assert.deepEqual(again, { ...first, source: "snapshot" });
  c.engine.holdings.set("0.0.803", { collectionA: [3, 4], collectionB: [] });
  await c.engine.cast("0.0.803", "event/mint");
  const later = await show(c, "forever-mint/mint");
  assert.deepEqual([later.source, later.version], ["snapshot", 4]);
  await c.redis.del(mintKey("mint"));
  assert.deepEqual(await show(c, "forever-mint/mint"), { ...later, source: "journal" });
});

test("a mint is the same without Redis, and nothing is put there for it", async (c) => {
  for (const mint of ["forever-mint/mint", "forever-mint/untouched"]) {
    const shown = await showActor(c.engine.sql, {}, named(mint));
    assert.equal(shown.source, "journal");
    assert.equal(await c.redis.exists(mintKey("mint")), 0);
  }
  assert.equal((await replayActor(c.engine.sql, {}, named("forever-mint/mint"))).equal, true);
});

const oddMints: Readonly<Record<string, (good: string) => string>> = {
  "of another schema": (good) => good.replace('"schema":4', '"schema":3'),
  "of other rules": (good) => good.replace('"rules":1', '"rules":2'),
  "of another mint": (good) => good.replace('"mint":"mint"', '"mint":"other"'),
  "a star short": (good) => good.replace('"stars":3', '"stars":2'),
  "ahead of the journal": (good) => good.replace('"stars":3', '"stars":4'),
  rubbish: () => "rubbish",
};
for (const [name, change] of Object.entries(oddMints)) {
  test(`a mint's snapshot that is ${name} is thrown away`, async (c) => {
    await show(c, "forever-mint/mint");
    const good = (await c.redis.get(mintKey("mint"))) ?? "";
    assert.notEqual(change(good), good);
    await c.redis.set(mintKey("mint"), change(good));
    assert.equal((await show(c, "forever-mint/mint")).source, "journal");
    assert.equal((await show(c, "forever-mint/mint")).source, "snapshot", "written anew");
  });
}

test("a mint's snapshot of another journal is thrown away, also where stars and weight are the same", async (c) => {
  const shown = await show(c, "forever-mint/mint");
  const database = await testDatabase({ migrated: true });
  const other = await startEngine(database.url);
  await seedDirectory(other.sql);
  other.holdings.set("0.0.803", { collectionA: [1, 2], collectionB: [7] });
  other.holdings.set("0.0.804", { collectionA: [3], collectionB: [8] });
  for (const wallet of ["0.0.803", "0.0.803", "0.0.804"]) await other.cast(wallet, "event/mint");
  const name = named("forever-mint/mint");
  const replayed = await replayActor(other.sql, restingIn(c), name);
  const mint = await showActor(other.sql, restingIn(c), name);
  await other.close();
  await database.close();
  assert.deepEqual(replayed.differences, []);
  assert.deepEqual([mint.source, mint.version], ["journal", shown.version]);
  assert.deepEqual(Object.keys((mint.context as { wallets: object }).wallets), [
    "0.0.803",
    "0.0.804",
  ]);
});

test("a mint's snapshot from before a star came back is thrown away", async (c) => {
  await c.engine.sql`select setval('forever_mint_order', nextval('forever_mint_order') + 1)`;
  await c.engine.cast("0.0.805", "event/mint");
  await show(c, "forever-mint/mint");
  // A recovery gives a star the place that its export tells.
  await c.engine.cast("0.0.806", "event/mint");
  await c.engine.sql.unsafe(`set session_replication_role = replica;
    update mint_star set seq = (select max(seq) from mint_star) - 2 where wallet = 806;
    reset session_replication_role`);
  const replayed = await replay(c, "forever-mint/mint");
  assert.deepEqual(replayed.differences, []);
  assert.equal((await show(c, "forever-mint/mint")).source, "journal");
});

test("a mint's snapshot with a release that the journal has lost is thrown away", async (c) => {
  const { sql } = c.engine;
  const release = async (serial: number) => {
    const run = randomUUID();
    await sql`
      insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
      values (${run}, ${c.day}, 'manual', 'done', 0, 0)`;
    await sql`
      select from release_claims(${run}, 'mint', (
        select json_agg(json_build_object('collection', collection, 'serial', serial, 'wallet', wallet, 'star_id',
          star_id, 'weight', 1, 'deleted', false, 'held_b', '{}'::bigint[], 'counted_b', '{}'::bigint[],
          'listed_at', now_ms() + 1000, 'read_at', now_ms() + 1000))
        from serial_claim where event_id = 'mint' and collection = 'A' and serial = ${serial}), now_ms() + 1000)`;
  };
  await release(1);
  await show(c, "forever-mint/mint");
  // As in a dump of before: the numbers are drawn again.
  await sql.unsafe(`set session_replication_role = replica;
    update serial_claim set released_at = null;
    delete from claim_release;
    update event_total set releases = 0, weight = weight + 1 where event_id = 'mint';
    reset session_replication_role;
    select setval('forever_mint_order', currval('forever_mint_order') - 1)`);
  await release(2);
  assert.deepEqual((await replay(c, "forever-mint/mint")).differences, []);
  const { source, context } = await show(c, "forever-mint/mint");
  assert.equal(source, "journal");
  assert.deepEqual((context as { counted: object }).counted, {
    A: { 1: WALLET, 3: "0.0.802" },
    B: { 7: WALLET, 8: "0.0.802" },
  });
});

test("a mint too large to be taken from Redis at once has no snapshot", async (c) => {
  await c.engine
    .sql`update event_total set weight = ${MINT_SNAPSHOT_WEIGHT_MAX + 1} where event_id = 'mint'`;
  assert.equal((await show(c, "forever-mint/mint")).source, "journal");
  assert.equal(await c.redis.exists(mintKey("mint")), 0);
});

test("a mint with very many stars since its snapshot comes from its claims, and has a new one", async (c) => {
  await show(c, "forever-mint/mint");
  const since = 1_001;
  await c.engine.sql`
    with given as (
      insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
        weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
      select gen_random_uuid(), day, 2000000 + n, 1, at, target_type, target_id, true, 1, 0, 0, 0, 0, '{}', '{}', at, 5
      from star, generate_series(1, ${since}::integer) as n where wallet = 802 and target_id = 'mint'
      returning id, day, wallet
    )
    insert into mint_star (event_id, day, wallet, star_id) select 'mint', day, wallet, id from given`;
  await c.engine.sql`update event_total set stars = stars + ${since} where event_id = 'mint'`;
  const first = await show(c, "forever-mint/mint");
  assert.deepEqual([first.source, first.version], ["journal", 3 + since]);
  assert.equal((await show(c, "forever-mint/mint")).source, "snapshot");
});

test("an edited snapshot of a mint does not equal the journal", async (c) => {
  await show(c, "forever-mint/mint");
  const good = (await c.redis.get(mintKey("mint"))) ?? "";
  await c.redis.set(mintKey("mint"), good.replace(`[1,"${WALLET}"`, '[1,"0.0.999"'));
  const { equal, differences } = await replay(c, "forever-mint/mint");
  assert.deepEqual([equal, differences.length], [false, 1]);
});

test("an edited total does not equal the journal", async (c) => {
  await c.engine.sql`update event_total set weight = weight + 1`;
  for (const id of [`event-day/meetup/${c.day}`, "forever-mint/mint"]) {
    assert.equal((await replay(c, id)).equal, false, id);
  }
});

test("a claim that no star made does not equal the journal", async (c) => {
  await c.engine.sql`
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select 'meetup', ${c.day}, 'A', 99, 803, id from star limit 1`;
  const { equal, differences } = await replay(c, `event-day/meetup/${c.day}`);
  assert.equal(equal, false);
  assert.match(
    differences[0] ?? "",
    /^A 99: the journal counts it for none, the claims for 0\.0\.803$/,
  );
});

test("actors are listed newest first, by type and by text", async (c) => {
  const all = await listActors(c.engine.sql, { limit: 50 });
  assert.deepEqual(
    new Set(all.map(({ id }) => id)),
    new Set([
      `wallet-day/${WALLET}/${c.day}`,
      `wallet-day/0.0.802/${c.day}`,
      `event-day/meetup/${c.day}`,
      "forever-mint/mint",
    ]),
  );
  const mints = await listActors(c.engine.sql, { type: "forever-mint", limit: 50 });
  assert.deepEqual(
    mints.map(({ id, version }) => [id, version]),
    [["forever-mint/mint", 3]],
  );
  const found = await listActors(c.engine.sql, { q: "0.0.802", limit: 50 });
  assert.deepEqual(
    found.map(({ id }) => id),
    [`wallet-day/0.0.802/${c.day}`],
  );
  assert.deepEqual(await listActors(c.engine.sql, { q: "%", limit: 50 }), []);
});

test("an actor is found among all stars, however many are newer, with all its stars", async (c) => {
  const newer = 20_001;
  await insertStars(
    c,
    Array.from({ length: newer }, (_, n) => [2_000_000 + n, "meetup", 0]),
  );
  const versions = async (query: Omit<ActorQuery, "limit">) =>
    Object.fromEntries(
      (await listActors(c.engine.sql, { ...query, limit: 50 })).map(({ id, version }) => [
        id,
        version,
      ]),
    );
  const days = `event-day/meetup/${c.day}`;
  assert.deepEqual(await versions({ q: WALLET }), { [`wallet-day/${WALLET}/${c.day}`]: 4 });
  assert.deepEqual(await versions({ type: "event-day" }), { [days]: newer + 2 });
  assert.deepEqual(await versions({ q: "MEET" }), { [days]: newer + 2 });
  for (const id of [days, "forever-mint/mint", `wallet-day/0.0.802/${c.day}`]) {
    assert.deepEqual(Object.keys(await versions({ q: id })), [id]);
  }
  for (const q of ["0.0.80", `event-day/meet/${c.day}`, "0.0.801/meetup", "%"]) {
    assert.deepEqual(await versions({ q }), {}, q);
  }
});

test("a list goes on where its page ended, each actor once, also of one millisecond", async (c) => {
  const events = ["hack", "meetup", "hidden"];
  await insertStars(
    c,
    Array.from({ length: 60 }, (_, n) => [3_000_000 + n, events[n % 3] ?? "", n % 4]),
  );
  for (const query of [{}, { type: "event-day" }, { q: c.day }, { q: "h" }] as const) {
    const whole = await listActors(c.engine.sql, { ...query, limit: 1_000 });
    const paged: ListedActor[] = [];
    for (;;) {
      const page = await listActors(c.engine.sql, { ...query, limit: 2, after: paged.at(-1) });
      if (page.length === 0) break;
      paged.push(...page);
    }
    assert.deepEqual(paged, whole);
    assert.equal(new Set(whole.map(({ id }) => id)).size, whole.length);
    const instants = whole.map(({ lastAt }) => lastAt);
    assert.deepEqual(
      instants,
      instants.toSorted((one, other) => other - one),
    );
  }
  const days = await listActors(c.engine.sql, { type: "event-day", limit: 1_000 });
  assert.equal(days.length, 12);
  const stars = days.reduce((sum, { version }) => sum + version, 0);
  assert.equal(stars, 60 + 2);
});

test("a page of many event-days is counted a few days at a time", async (c) => {
  const daysAgo = Array.from({ length: 12 }, (_, ago) => ago);
  await insertStars(
    c,
    daysAgo.map((ago) => [5_000_000 + ago, "meetup", ago]),
  );
  const counted: number[] = [];
  const watched = new Proxy(c.engine.sql, {
    apply(sql, self, given: [readonly string[], ...unknown[]]) {
      const [texts, ...values] = given;
      const isCount = texts.join("").includes("count(*)");
      if (isCount)
        counted.push(...values.flatMap((each) => (Array.isArray(each) ? each.length : [])));
      return Reflect.apply(sql, self, given);
    },
  });
  const days = await listActors(watched, { type: "event-day", limit: 50 });
  assert.equal(days.length, daysAgo.length);
  assert.equal(
    days.reduce((sum, { version }) => sum + version, 0),
    daysAgo.length + 2,
  );
  assert.ok(counted.length > 0 && Math.max(...counted) <= 5, String(counted));
});

test("an event's actors are found by its title, and mints of a day where mints alone are asked for", async (c) => {
  await c.engine.sql`update event set title = 'Spring / Gathering' where id = 'meetup'`;
  const idsOf = async (query: Omit<ActorQuery, "limit">) =>
    (await listActors(c.engine.sql, { ...query, limit: 50 })).map(({ id }) => id);
  for (const q of [`spring / ${c.day} gath`, `event-day/GATHERING ${c.day}`]) {
    assert.deepEqual(await idsOf({ q }), [`event-day/meetup/${c.day}`], q);
  }
  assert.deepEqual(await idsOf({ type: "forever-mint", q: c.day }), ["forever-mint/mint"]);
  assert.deepEqual(await idsOf({ type: "forever-mint", q: "2020-01-01" }), []);
  assert.ok(!(await idsOf({ q: c.day })).includes("forever-mint/mint"));
});

test("the newest actors are listed without a look at each event in months that they are not of", async (c) => {
  const events = ["hack", "meetup", "hidden"];
  const daysAgo = [0, 1, 2, 100, 400, 800];
  await insertStars(
    c,
    daysAgo.flatMap((ago, n) =>
      events.map((event, m) => [4_000_000 + 3 * n + m, event, ago] as const),
    ),
  );
  const old = `star_${dayOf(startOfDay(c.day) - 400 * DAY_MS)
    .slice(0, 7)
    .replace("-", "_")}`;
  const listed = (query: ActorQuery) =>
    c.engine.sql.begin(async (held) => {
      // A transaction asks as a pool does.
      const pool = held as unknown as Sql;
      let actors: Awaited<ReturnType<typeof listActors>> = [];
      const { indexScans } = await readsOf(pool, old, async () => {
        actors = await listActors(pool, query);
      });
      return {
        days: actors.map(({ id }) => id.slice(-10)),
        scans: indexScans,
        last: actors.at(-1),
      };
    });
  const ofDays = (...ago: readonly number[]) =>
    ago.flatMap((days) => events.map(() => dayOf(startOfDay(c.day) - days * DAY_MS)));
  // The journal's first day and its last one are looked up, once each.
  const newest = await listed({ type: "event-day", limit: 9 });
  assert.deepEqual(newest.days, ofDays(0, 1, 2));
  assert.ok(newest.scans <= 2, `${newest.scans} scans`);
  const next = await listed({ type: "event-day", limit: 3, after: newest.last });
  assert.deepEqual(next.days, ofDays(100));
  assert.ok(next.scans <= 2, `${next.scans} scans`);
  const all = await listed({ type: "event-day", limit: 1_000 });
  assert.deepEqual(all.days, ofDays(...daysAgo));
});

/** Stars of wallets on events, so many days ago; those of one day in one millisecond. */
async function insertStars(
  { engine, day }: Context,
  stars: readonly (readonly [wallet: number, event: string, daysAgo: number])[],
): Promise<void> {
  const now = startOfDay(day) + DAY_MS - 1;
  const rows = stars.map(([wallet, event, daysAgo]) => {
    const at = now - daysAgo * DAY_MS;
    return { id: newStarId(at), day: dayOf(at), wallet, event, at };
  });
  for (const each of new Set(rows.map((row) => row.day))) {
    await engine.sql`select ensure_star_partition(${each})`;
  }
  await engine.sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select id, day, wallet, 1, at, 'event', event, false, 1, 1, 1, 0, 0, '{}', '{}', at, 5
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as given (id uuid, day date, wallet bigint, event text, at bigint)`;
  await engine.sql`
    insert into event_total (event_id, weight, stars)
    select target_id, sum(weight), count(*) from star where target_type = 'event' group by target_id
    on conflict (event_id) do update set stars = excluded.stars, weight = excluded.weight`;
}

test("what happens while a replay reads is no difference", async (c) => {
  const { sql } = c.engine;
  await show(c, "forever-mint/mint");
  const [eventDay, mint] = [`event-day/meetup/${c.day}`, "forever-mint/mint"];
  const replayed = (id: string, during: { says: string; happens: () => PromiseLike<unknown> }) =>
    replayActor(after(sql, during), restingIn(c), named(id));
  c.engine.holdings.set("0.0.803", { collectionA: [31], collectionB: [] });
  const starred = await replayed(eventDay, {
    says: "from serial_claim",
    happens: () => c.engine.cast("0.0.803", "event/meetup"),
  });
  assert.deepEqual([starred.differences, starred.replayed.version], [[], 2]);
  assert.equal((await replay(c, eventDay)).replayed.version, 3);
  const released = await replayed(mint, {
    says: "from claim_release\n      where",
    happens: () => releaseFirst(sql, c.day),
  });
  assert.deepEqual(released.differences, []);
});

test("a mint is shown as it was at one time, whatever happens while it is read", async (c) => {
  const { sql } = c.engine;
  const first = await show(c, "forever-mint/mint");
  for (const [wallet, serial] of [
    ["0.0.803", 31],
    ["0.0.804", 32],
  ] as const) {
    c.engine.holdings.set(wallet, { collectionA: [serial], collectionB: [] });
  }
  const starred = after(sql, {
    says: "select stars, weight",
    happens: () => c.engine.cast("0.0.803", "event/mint"),
  });
  const released = after(starred, {
    says: "from mint_star\n",
    happens: () => c.engine.cast("0.0.804", "event/mint").then(() => releaseFirst(sql, c.day)),
  });
  const shown = await showActor(released, restingIn(c), named("forever-mint/mint"));
  assert.deepEqual(shown, { ...first, source: "snapshot" });
});

/** Writes a release of the first NFT of the mint, as if the check had ended its claim. */
function releaseFirst(sql: Sql, day: string): PromiseLike<unknown> {
  return sql`
    with run as (
      insert into holdings_check_run (id, day, kind, state, started_at)
      values (gen_random_uuid(), ${day}, 'manual', 'running', 0) returning id
    )
    insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight,
      deleted, listed_at, read_at, released_at)
    select event_id, nextval('forever_mint_order'), 1, run.id, collection, serial, wallet, star_id, 1, true, 0, 0, 0
    from run, serial_claim where event_id = 'mint' and collection = 'A' and serial = 1`;
}

/** Lets something happen once, after the first statement that says a text. */
function after(
  sql: Sql,
  { says, happens }: { says: string; happens: () => PromiseLike<unknown> },
): Sql {
  let isLeft = true;
  return new Proxy(sql, {
    apply(target, self, args) {
      const query = Reflect.apply(target, self, args);
      if (!isLeft || !(args[0] as readonly string[]).join("").includes(says)) return query;
      isLeft = false;
      return query.then(async (rows: unknown) => {
        await happens();
        return rows;
      });
    },
  });
}

test("an event's actors are of its own kind alone", async (c) => {
  for (const look of [show, replay]) {
    await assert.rejects(look(c, "forever-mint/meetup"), /meetup is no forever mint/);
    await assert.rejects(look(c, `event-day/mint/${c.day}`), /mint is a forever mint/);
  }
  assert.equal((await show(c, "forever-mint/unknown")).version, 0);
});

test("a text that names no actor is not found", () => {
  for (const text of [
    "",
    "wallet-day",
    "wallet-day/0.0.1",
    "wallet-day/1/2026-11-20",
    "wallet-day/0.0.1/2026-02-30",
    "event-day/a b/2026-11-20",
    "forever-mint/",
    "forever-mint/a/",
    "forever-mint/a/b",
    "token/0.0.1",
  ]) {
    assert.equal(parseActorName(text), undefined, text);
  }
});

test.run();
