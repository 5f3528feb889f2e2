// timeout: 120 s
/**
 * Goal: a recovery comes to its end beside processes that are up. Method: some stars are lost, and an
 * empty database gets them back while another process reads the topics; a trigger holds the
 * recovery's statement right before its commit, where the other one is let in.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS, startOfDay } from "../../actors/day.ts";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { entityNumber } from "../../src/ledger/entity-id.ts";
import { MirrorClient } from "../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../src/log.ts";
import { countLost } from "../../src/publishing/journal-behind.ts";
import { watchJournal } from "../../src/publishing/journal-watch.ts";
import { recover } from "../../src/recovery/recover.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { startRewards } from "../../src/upkeep/offer-rewards.ts";
import type { QueueMemory, RewardsQueue } from "../../src/upkeep/rewards-queue.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { foldedScores, scores } from "../support/xp.ts";
import { openLostWorld } from "./world.ts";

const world = await openLostWorld({ wallets: 4, days: 2 });
const { sql, settings, topics, hedera } = world.network;
test.after(() => world.close());
test.before(async () => {
  await world.goTo(sql, 0, 3_600_000);
  const stars = world.wallets.map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
});

test("what a process that reads the topics finds lost, while it comes back, is not lost afterwards", async () => {
  const fresh = await world.freshDatabase();
  await fresh.sql.unsafe(`
    create function hold() returns trigger language plpgsql as $$
      begin perform pg_sleep(1); return null; end $$;
    create constraint trigger hold after insert on recovered_day
      deferrable initially deferred for each row execute function hold()`);
  const recovering = recover(world.recovery(fresh.sql));
  await until("the stars are about to be committed", async () => {
    const [row] = await fresh.sql`select from pg_stat_activity where wait_event = 'PgSleep'
      and datname = current_database()`;
    return row !== undefined;
  });
  const mirror = new MirrorClient({ urls: [hedera.mirrorUrl], log: silentLogger });
  const watch = watchJournal({
    sql: fresh.sql,
    mirror,
    topics: [topics.event, topics.asset],
    payer: settings.HEDERA_OPERATOR_ID,
    log: silentLogger,
  });
  const { recovered } = await recovering;
  await watch.firstState;
  assert.equal(recovered, 4);
  assert.equal(await countLost(fresh.sql), 0);
  await watch.close();
  await mirror.close();
});

for (const worker of ["is started afterwards", "stays up"] as const) {
  test(`what comes back under numbers that were handed off as drawn is handed to rewards: the worker ${worker}`, async () => {
    const fresh = await world.freshDatabase();
    const source = await world.keepExports(sql);
    // After a failover the sequence stands further than the stars that the standby had.
    await fresh.sql`select setval('journal_seq', 32)`;
    let offered = 0;
    let memory: QueueMemory = { text: "", word: "", offeredSeq: 0 };
    const queue: RewardsQueue = {
      ready: async () => undefined,
      recall: async () => memory,
      remember: async (_before, next) => {
        memory = { ...next, text: JSON.stringify(next) };
        return memory;
      },
      unfinished: async () => 0,
      offer: async (offers) => {
        offered += offers.length;
      },
      offerAgain: async () => undefined,
      close: async () => undefined,
    };
    const handOff = () =>
      startRewards({
        sql: fresh.sql,
        redisUrl: "redis://none",
        log: silentLogger,
        pollEveryMs: 20,
        openQueue: () => queue,
      });
    const offeredSeq = async (): Promise<number> => {
      const [row] = await fresh.sql`select offered_seq as seq from reward_hand_off`;
      return Number(row?.seq);
    };
    const before = handOff();
    await until("the hand-off has come to its end", async () => (await offeredSeq()) === 32);
    if (worker === "is started afterwards") await before.close();
    await recover(world.recovery(fresh.sql, { exports: { source, days: await source.days() } }));
    const after = worker === "stays up" ? before : handOff();
    await until("all are handed off", () => offered === 4, 5_000);
    await after.close();
  });
}

test("a star that repeats one which is just coming back gives way to it", async () => {
  const fresh = await world.freshDatabase();
  const source = await world.keepExports(sql);
  const [wallet = ""] = world.wallets;
  const lines: typeof source.lines = async function* (day) {
    // After each look for repeats: it is refused where the last one still stands.
    await world.cast(fresh.url, [{ wallet, target: "token/0.0.9001" }]).catch(() => undefined);
    yield* source.lines(day);
  };
  const exports = { source: { ...source, lines }, days: await source.days() };
  const { recovered } = await recover(world.recovery(fresh.sql, { exports, accepts: true }));
  assert.equal(recovered, 4);
  const stars = (from: Sql) => from`select id from star where wallet = ${entityNumber(wallet)}`;
  assert.deepEqual([...(await stars(fresh.sql))], [...(await stars(sql))]);
});

test("a season that is added while stars come back has their points", async () => {
  const fresh = await world.freshDatabase();
  const source = await world.keepExports(sql);
  await fresh.sql`delete from season_score`;
  await fresh.sql`delete from premium_pass`;
  await fresh.sql`delete from season`;
  await fresh.sql`select setval('journal_seq', 32)`;
  // The first sum over a million stars takes seconds: here a lock stands for them.
  await fresh.sql.unsafe(`alter function xp_between rename to xp_between_freely;
    create function xp_between(span season, after xp_place, up_to xp_place)
    returns setof season_score language plpgsql as $$
    begin
      return query select * from xp_between_freely(span, after, up_to);
      perform pg_advisory_xact_lock_shared(42);
    end $$`);
  const pool = openPostgres(fresh.url, { connections: 4, statementTimeoutMs: 60_000 });
  const held = await reserveConnection(pool);
  await held`select pg_advisory_lock(42)`;
  const waiting = async (): Promise<number> => {
    const rows = await pool`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return rows.length;
  };
  const [day = ""] = world.days;
  const startsAt = startOfDay(day);
  const adding = addSeason(pool, { name: "Late", startsAt, endsAt: startsAt + 10 * DAY_MS });
  await until("it has summed the stars of before", async () => (await waiting()) === 1);
  const exports = { source, days: await source.days() };
  const recovering = recover(world.recovery(fresh.sql, { exports }));
  await until("the recovery waits for it", async () => (await waiting()) === 2);
  await held`select pg_advisory_unlock(42)`;
  held.release();
  await Promise.all([adding, recovering]);
  const [shown, folded] = [await scores(pool), await foldedScores(pool)];
  await pool.end({ timeout: 1 });
  assert.equal(folded.length, 4);
  assert.deepEqual(shown, folded);
});

test("a wallet stars on between two pieces of a recovery that bring back its stars", async () => {
  const [wallet = ""] = world.wallets;
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet, target: "token/0.0.9002" }]);
  await world.publish(settings.DATABASE_URL ?? "");
  const fresh = await world.freshDatabase();
  await world.cast(fresh.url, [{ wallet, target: "token/0.0.9003" }]);
  const source = await world.keepExports(sql);
  const stars = () =>
    fresh.sql`select target_id from star where wallet = ${entityNumber(wallet)} order by slot`;
  const lines: typeof source.lines = async function* (day) {
    for await (const line of source.lines(day)) {
      // One of two has come back.
      if ((await stars()).length === 2) {
        await world.cast(fresh.url, [{ wallet, target: "token/0.0.9004" }]);
      }
      yield line;
    }
  };
  const exports = { source: { ...source, lines }, days: await source.days() };
  await recover(world.recovery(fresh.sql, { exports, accepts: true, piece: 1 }));
  const items = (await stars()).map(({ target_id: id }) => id);
  assert.deepEqual(items, ["0.0.9001", "0.0.9002", "0.0.9003", "0.0.9004"]);
});

test.run();
