// timeout: 120 s
/**
 * Goal: a star that gives way to one that came first on the ledger goes whole, whatever became of it
 * meanwhile. Method: the star that came first is lost, the other one accepted on an empty database;
 * then the daily check takes weight from it, or its clock turns out to have been behind, and the
 * journal is recovered.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { compareMint } from "../../src/journal/fold-mint.ts";
import { recover } from "../../src/recovery/recover.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { type LostWorld, openLostWorld } from "./world.ts";

const HOUR_MS = 3_600_000;
let world: LostWorld;
test.before.each(async () => {
  world = await openLostWorld({ wallets: 4, days: 2 });
});
test.after.each(() => world.close());

test("one whose NFT has left its wallet since: the mint loses the rest of its weight", async () => {
  const { sql, settings } = world.network;
  const [first = "", second = "", , holder = ""] = world.wallets;
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet: holder, target: "event/mint" }]);
  await world.publish(settings.DATABASE_URL ?? "");
  const [serial = 0] = world.heldBy(holder).A;
  const fresh = await world.freshDatabase();
  await world.goTo(fresh.sql, 0, 4 * HOUR_MS);
  await world.transfer("A", serial, second);
  await world.goTo(fresh.sql, 0, 6 * HOUR_MS);
  await world.cast(fresh.url, [{ wallet: second, target: "event/mint" }]);
  await world.publish(fresh.url);
  const [own] = await fresh.sql`
    select serial from serial_claim where collection = 'A' and serial <> ${serial}`;
  await world.transfer("A", Number(own?.serial), first);
  await world.goTo(fresh.sql, 0, 8 * HOUR_MS);
  await world.check(fresh.sql);
  const [known] = await fresh.sql`select releases from event_total where event_id = 'mint'`;
  const report = await recover(world.recovery(fresh.sql, { accepts: true }));
  assert.deepEqual([report.recovered, report.conflicts], [1, 1]);
  // What was decided before it went is decided again, whoever's star that is.
  const [now] = await fresh.sql`
    select is_released_since('mint', ${known?.releases}, releases, 1, '{}', '{}') as "isAnother"
    from event_total where event_id = 'mint'`;
  assert.equal(now?.isAnother, true);
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
  const { ok, mismatches } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
});

test("one that a clock which was behind dated before it: its place on the ledger counts", async () => {
  const { sql, settings } = world.network;
  const [, second = "", , holder = ""] = world.wallets;
  const [serial = 0] = world.heldBy(holder).A;
  const fresh = await world.freshDatabase();
  await world.transfer("A", serial, second);
  await world.goTo(fresh.sql, 0, HOUR_MS);
  await world.cast(fresh.url, [{ wallet: second, target: "event/meetup" }]);
  await world.transfer("A", serial, holder);
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet: holder, target: "event/meetup" }]);
  await world.publish(settings.DATABASE_URL ?? "");
  const source = await world.keepExports(sql);
  await world.publish(fresh.url);
  const exports = { source, days: await source.days() };
  const report = await recover(world.recovery(fresh.sql, { exports, accepts: true }));
  assert.deepEqual([report.recovered, report.conflicts], [1, 1], JSON.stringify(report));
});

test("one for which the day has no vote left: the votes go to those that came first on the ledger", async () => {
  const { sql, settings } = world.network;
  const [wallet = ""] = world.wallets;
  const fresh = await world.freshDatabase();
  await world.goTo(fresh.sql, 0, HOUR_MS);
  await world.cast(fresh.url, [{ wallet, target: "token/0.0.9030" }]);
  await world.goTo(sql, 0, 2 * HOUR_MS);
  const stars = Array.from({ length: 20 }, (_, n) => ({ wallet, target: `token/0.0.${9001 + n}` }));
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
  await world.publish(fresh.url);
  const report = await recover(world.recovery(fresh.sql, { piece: 7 }));
  assert.deepEqual([report.recovered, report.conflicts], [20, 1]);
  const [{ places } = {}] =
    await fresh.sql`select array_agg(slot order by slot) as places from star`;
  assert.deepEqual(
    places,
    stars.map((_, n) => n + 1),
  );
});

test("one whose point a correction has taken already: it is not taken twice", async () => {
  const { sql, settings } = world.network;
  const [, wallet = ""] = world.wallets;
  const star = { wallet, target: "token/0.0.9001" };
  await world.goTo(sql, 0, HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [star]);
  await world.publish(settings.DATABASE_URL ?? "");
  const fresh = await world.freshDatabase();
  await world.goTo(fresh.sql, 0, 2 * HOUR_MS);
  await world.cast(fresh.url, [star]);
  await world.publish(fresh.url);
  await fresh.sql`select credit_xp('taken back', ${Number(wallet.split(".")[2])}, -1, 'a test')`;
  const report = await recover(world.recovery(fresh.sql));
  assert.deepEqual([report.recovered, report.conflicts], [1, 1], JSON.stringify(report));
  const stored = await fresh.sql`select points, stars, weight from season_score order by wallet`;
  await fresh.sql`select fold_season(id) from season`;
  const folded = await fresh.sql`select points, stars, weight from season_score order by wallet`;
  assert.deepEqual([...stored], [...folded]);
  assert.equal(stored.length, 1);
});

test("one among many claims: it goes, and those that it meets are found, by their keys", async () => {
  const [, , , holder = ""] = world.wallets;
  const { url, sql } = await world.freshDatabase();
  await world.goTo(sql, 0, HOUR_MS);
  const targets = ["event/mint", "event/meetup"];
  await world.cast(
    url,
    targets.map((target) => ({ wallet: holder, target })),
  );
  const many = 2_000;
  await sql`
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select event_id, day, 'A', 1000 + n, 1, gen_random_uuid()
    from generate_series(1, ${many}) as n, (select distinct event_id, day from serial_claim) as place`;
  const alone = await reserveConnection(sql);
  await alone`begin`;
  await alone`set local enable_seqscan = off`;
  const [met] = await alone`
    select count(*) as stars from claims_met(array(select jsonb_populate_record(null::recovered_star,
      to_jsonb(star) || jsonb_build_object('id', gen_random_uuid())) from star))`;
  // Of both stars: three of collection A and the +5; the mint's also the base, and the +5 by its wallet.
  assert.equal(met?.stars, 10);
  await alone`select set_aside_star(id, day, gen_random_uuid()) from star order by slot desc`;
  const [read] = await alone<{ rows: number }[]>`
    select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables
    where relname = 'serial_claim'`;
  await alone`commit`;
  alone.release();
  assert.equal((await sql`select from serial_claim where wallet <> 1`).length, 0);
  assert.ok(read !== undefined && read.rows < many, `${read?.rows} rows read`);
});

test.run();
