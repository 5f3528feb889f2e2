// timeout: 120 s
/**
 * Goal: a recovery comes to its end beside processes that are up. Method: some stars are lost, and an
 * empty database gets them back while another process reads the topics; a trigger holds the
 * recovery's statement right before its commit, where the other one is let in.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createMirrorNode } from "../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../src/log.ts";
import { countLost } from "../../src/publishing/journal-behind.ts";
import { watchJournal } from "../../src/publishing/journal-watch.ts";
import { recover } from "../../src/recovery/recover.ts";
import { startRewards } from "../../src/upkeep/offer-rewards.ts";
import type { QueueMemory, RewardsQueue } from "../../src/upkeep/rewards-queue.ts";
import { until } from "../support/processes.ts";
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
  const mirror = createMirrorNode({ urls: [hedera.mirrorUrl], log: silentLogger });
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

test("what comes back under numbers that were handed off as drawn is handed to rewards", async () => {
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
  await before.close();
  await recover(world.recovery(fresh.sql, { exports: { source, days: await source.days() } }));
  const after = handOff();
  await until("all are handed off", () => offered === 4, 5_000);
  await after.close();
});

test.run();
