// timeout: 180 s
/**
 * Goal: of stars that break a rule together, those that came first on the ledger count, however they are
 * found. Method: stars are lost, others are accepted on another database, and that, or an empty one, is
 * recovered.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { compareMint } from "../../src/journal/fold-mint.ts";
import { recover } from "../../src/recovery/recover.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { seedDirectory } from "../support/engine.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { type Cast, type LostWorld, openLostWorld } from "./world.ts";

const HOUR_MS = 3_600_000;
let world: LostWorld;
test.before.each(async () => {
  world = await openLostWorld({ wallets: 4, days: 2 });
});
test.after.each(() => world.close());

/** Casts stars in the first hours of the first day, and publishes them. */
async function castAt(hour: number, place: { url: string; sql: Sql }, stars: readonly Cast[]) {
  await world.goTo(place.sql, 0, hour * HOUR_MS);
  await world.cast(place.url, [...stars]);
  await world.publish(place.url);
}

const lost = () => ({ url: world.network.settings.DATABASE_URL ?? "", sql: world.network.sql });

test("in a database that sorts digits after signs, a star that waits gives way to the one on the ledger", async () => {
  const [wallet = ""] = world.wallets;
  await castAt(2, lost(), [{ wallet, target: "token/0.0.9001" }]);
  const people = new URL(lost().url);
  people.pathname = "/people";
  await lost().sql.unsafe(
    "create database people template template0 locale_provider icu icu_locale 'en-US'",
  );
  await migrate(people.href);
  const sql = openPostgres(people.href);
  await seedDirectory(sql);
  for (const day of world.days) await sql`select ensure_star_partition(${day})`;
  await world.goTo(sql, 0, 4 * HOUR_MS);
  await world.cast(people.href, [{ wallet, target: "token/0.0.9001" }]);
  const [waiting] = await sql`select id from star`;
  await recover(world.recovery(sql));
  assert.deepEqual([...(await sql`select id from star_conflict`)], [waiting]);
  await sql.end({ timeout: 1 });
});

test("a wallet that starred a forever mint once before the loss and twice after it", async () => {
  const mint = [{ wallet: world.wallets[0] ?? "", target: "event/mint" }];
  await castAt(2, lost(), mint);
  const fresh = await world.freshDatabase();
  await castAt(6, fresh, mint);
  await castAt(7, fresh, mint);
  const { recovered, conflicts } = await recover(world.recovery(fresh.sql));
  assert.deepEqual([recovered, conflicts], [1, 1]);
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
  const { ok, mismatches } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches));
});

for (const decided of [1, 0]) {
  const what = decided === 0 ? "the same export" : "no export";
  test(`a star whose place on a mint is taken stands before the wallet's next one, which ${what} tells`, async () => {
    const [, wallet = "", other = ""] = world.wallets;
    const mint = [{ wallet, target: "event/mint" }];
    await castAt(2, lost(), mint);
    await world.goTo(lost().sql, decided, 5 * HOUR_MS);
    await world.cast(lost().url, mint);
    await world.publish(lost().url);
    const kept = await world.keepExports(lost().sql);
    const fresh = await world.freshDatabase();
    await world.goTo(fresh.sql, 1, 6 * HOUR_MS);
    await world.cast(fresh.url, [{ wallet: other, target: "event/mint" }]);
    await world.publish(fresh.url);
    const exports = { source: kept, days: world.days.slice(0, 1) };
    const { recovered, unprovable } = await recover(world.recovery(fresh.sql, { exports }));
    assert.deepEqual([recovered, unprovable], [2, []]);
    assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
    const { ok, mismatches } = await world.audit(fresh.sql);
    assert.equal(ok, true, JSON.stringify(mismatches));
  });
}

test("the place that a star on a mint leaves is that of the one it gives way to, not of another by its export", async () => {
  const [, wallet = "", other = ""] = world.wallets;
  const mint = { wallet, target: "event/mint" };
  await castAt(2, lost(), [{ wallet: other, target: "event/mint" }, mint]);
  const { keepExports, days } = world;
  const exports = { source: await keepExports(lost().sql), days: days.slice(0, 1) };
  const fresh = await world.freshDatabase();
  await castAt(6, fresh, [mint]);
  await castAt(7, fresh, [mint]);
  const { recovered, conflicts } = await recover(world.recovery(fresh.sql, { exports }));
  assert.deepEqual([recovered, conflicts], [2, 1]);
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
});

test("more messages of a wallet's day than it has votes: the last ones on the ledger give way, in pieces of any size", async () => {
  const [wallet = ""] = world.wallets;
  const stars = (from: number) =>
    Array.from({ length: 12 }, (_, n) => ({ wallet, target: `token/0.0.${from + n}` }));
  await castAt(2, lost(), stars(9001));
  const going = await world.freshDatabase();
  await castAt(4, going, stars(9013));
  const last = await going.sql`
    select star_id as id from outbox order by consensus_timestamp desc limit 4`;
  for (const piece of [7, 500]) {
    const fresh = await world.freshDatabase();
    const { recovered, conflicts } = await recover(world.recovery(fresh.sql, { piece }));
    assert.deepEqual([recovered, conflicts], [20, 4]);
    const aside = await fresh.sql`select id from star_conflict`;
    assert.deepEqual(aside.map(({ id }) => id).sort(), last.map(({ id }) => id).sort());
  }
});

test("an export of another server that claims what the journal counts: its star is a conflict", async () => {
  const wallet = world.wallets[3] ?? "";
  const mint = { wallet, target: "event/mint" };
  const fresh = await world.freshDatabase();
  await castAt(2, fresh, [mint]);
  const tokens = [9001, 9002].map((token) => ({ wallet, target: `token/0.0.${token}` }));
  await castAt(3, lost(), [mint, ...tokens]);
  const source = await world.keepExports(lost().sql);
  const exports = { source, days: await source.days() };
  const refused = await recover(world.recovery(fresh.sql, { exports }));
  assert.match(refused.unprovable.join(), /event-weight/);
  const { recovered, conflicts } = await recover(
    world.recovery(fresh.sql, { exports, accepts: true, piece: 1 }),
  );
  assert.deepEqual([recovered, conflicts], [2, 1]);
  // The stars of tokens came back first, when the conflict was not known yet.
  const slots = await fresh.sql`select slot from star order by slot`;
  assert.deepEqual(
    slots.map(({ slot }) => slot),
    [1, 2, 3],
  );
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
});

test("a wallet that carries its +5 on a mint by another NFT after the loss than before it", async () => {
  const [wallet = "", other = "", , holder = ""] = world.wallets;
  const mint = [{ wallet, target: "event/mint" }];
  const [before = 0, after = 0] = world.heldBy(holder).B;
  await castAt(1, lost(), mint);
  const fresh = await world.freshDatabase();
  await recover(world.recovery(fresh.sql));
  await world.transfer("B", before, wallet);
  await castAt(2, lost(), mint);
  const source = await world.keepExports(lost().sql);
  await world.transfer("B", before, other);
  await world.transfer("B", after, wallet);
  await castAt(4, fresh, mint);
  const exports = { source, days: world.days.slice(0, 1) };
  const { recovered, conflicts } = await recover(world.recovery(fresh.sql, { exports }));
  assert.deepEqual([recovered, conflicts], [1, 1]);
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
  const { ok, mismatches } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches));
});

test("an export that leaves out how a wallet lost its +5 before it brought another NFT: that star is a conflict", async () => {
  const [wallet = "", other = "", , holder = ""] = world.wallets;
  const mint = [{ wallet, target: "event/mint" }];
  const [before = 0, after = 0] = world.heldBy(holder).B;
  await world.transfer("B", before, wallet);
  await castAt(1, lost(), mint);
  await world.transfer("B", before, other);
  await world.goTo(lost().sql, 0, 2 * HOUR_MS);
  await world.check(lost().sql);
  await world.transfer("B", after, wallet);
  await castAt(3, lost(), mint);
  const kept = await world.keepExports(lost().sql);
  const source: typeof kept = {
    ...kept,
    async *lines(day) {
      for await (const line of kept.lines(day)) if (!line.includes('"kind":"release"')) yield line;
    },
  };
  const exports = { source, days: world.days.slice(0, 1) };
  for (const piece of [20, 1]) {
    const fresh = await world.freshDatabase();
    const report = await recover(world.recovery(fresh.sql, { exports, accepts: true, piece }));
    assert.deepEqual([report.recovered, report.conflicts], [1, 1]);
  }
});

test("what a run that was killed has under way comes to its end before the next one forgets what it marked", async () => {
  const star = [{ wallet: world.wallets[0] ?? "", target: "token/0.0.9001" }];
  await castAt(2, lost(), star);
  await castAt(4, await world.freshDatabase(), star);
  const fresh = await world.freshDatabase();
  const waiting = async (): Promise<number> => {
    const rows = await fresh.sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return rows.length;
  };
  const holder = await reserveConnection(fresh.sql);
  await holder`begin`;
  await holder`lock table star in share row exclusive mode`;
  const [killed, next] = [1, 2].map(() => openPostgres(fresh.url, { statementTimeoutMs: 60_000 }));
  assert.ok(killed && next);
  recover(world.recovery(killed)).catch(() => undefined);
  await until("stars are about to be written", async () => (await waiting()) === 1);
  await killed.end({ timeout: 0 });
  const kept = await world.keepExports(lost().sql);
  let isReading = false;
  let readOn = (): void => undefined;
  const mayRead = new Promise<void>((resolve) => {
    readOn = resolve;
  });
  const source: typeof kept = {
    ...kept,
    async *lines(day) {
      isReading = true;
      await mayRead;
      yield* kept.lines(day);
    },
  };
  const exports = { source, days: await kept.days() };
  const recovering = recover(world.recovery(next, { exports, accepts: true }));
  await until("the next run waits, or reads", async () => isReading || (await waiting()) === 2);
  await holder`commit`;
  holder.release();
  const stars = () => fresh.sql`select id from star union all select id from star_conflict`;
  await until("they are written", async () => (await stars()).length > 0);
  readOn();
  await recovering;
  await next.end({ timeout: 1 });
  assert.equal((await stars()).length, 2);
});

test("a dry run says how many conflicts there will be, and leaves nothing behind", async () => {
  const stars = world.wallets.slice(0, 2).map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await castAt(2, lost(), stars);
  const going = await world.freshDatabase();
  await castAt(4, going, stars);
  for (const { sql } of [going, await world.freshDatabase()]) {
    const looked = await recover(world.recovery(sql, { isDryRun: true }));
    const { recovered, adopted, conflicts } = await recover(world.recovery(sql));
    assert.deepEqual([looked.recovered, looked.adopted, looked.conflicts], [2, 0, 2]);
    assert.deepEqual([recovered, adopted, conflicts], [2, 0, 2]);
  }
});

test("what one run's exports called conflicts is forgotten by a run that is given none", async () => {
  const [wallet = ""] = world.wallets;
  await castAt(
    2,
    lost(),
    [9001, 9002].map((token) => ({ wallet, target: `token/0.0.${token}` })),
  );
  const { keepExports, days } = world;
  const kept = await keepExports(lost().sql);
  const [first, second] = await lost().sql`
    select id, '0.0.' || wallet as wallet, at, target_id, message, outbox.*
    from star join outbox on star_id = id order by at`;
  const line = JSON.stringify({
    ...{ kind: "conflict", id: second?.id, wallet: second?.wallet },
    at: new Date(Number(second?.at)).toISOString(),
    target: { type: "token", id: second?.target_id },
    ...{ conflictsWith: first?.id, topic: "asset", message: second?.message },
    publication: {
      ...{ state: "published", topicId: second?.topic_id, transactionId: second?.transaction_id },
      sequenceNumber: Number(second?.sequence_number),
      ...{ consensusTimestamp: second?.consensus_timestamp, runningHash: second?.running_hash },
    },
  });
  const forged: typeof kept = {
    ...kept,
    async *lines(day) {
      let isFirst = day === days[0];
      for await (const text of kept.lines(day)) {
        yield text;
        if (isFirst) yield line;
        isFirst = false;
      }
    },
  };
  const fresh = await world.freshDatabase();
  const exports = { source: forged, days: await kept.days() };
  const looked = await recover(world.recovery(fresh.sql, { exports, isDryRun: true }));
  assert.deepEqual([looked.recovered, looked.conflicts], [1, 1]);
  const { recovered, conflicts } = await recover(world.recovery(fresh.sql));
  assert.deepEqual([recovered, conflicts], [2, 0]);
});

test.run();
