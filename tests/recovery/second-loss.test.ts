// timeout: 120 s
/**
 * Goal: what a first loss left as conflicts stays so after a second one. Method: a star is lost,
 * others are accepted that break a rule beside it, and the journal is recovered; then it is lost
 * once more, and an empty database gets it back from the topics and the exports that were kept. So
 * does one that went on without stars whose loss was accepted.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { type ExportSource, ProvisionalChanged } from "../../src/audit/export-source.ts";
import { acceptLoss, countLost, journalStatus } from "../../src/publishing/journal-behind.ts";
import { recover } from "../../src/recovery/recover.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { noteHandOff, takeHandOff } from "../../src/upkeep/reward-hand-off.ts";
import { until } from "../support/processes.ts";
import { openLostWorld, stateOf } from "./world.ts";

const HOUR_MS = 3_600_000;
const world = await openLostWorld({ wallets: 4, days: 2 });
const { sql, settings } = world.network;
const [first = "", second = "", , holder = ""] = world.wallets;
test.after(() => world.close());

const conflictsOf = (of: Sql) =>
  of`select id, day, wallet, target_id, conflicts_with from star_conflict order by id`;

let source: ExportSource;
let recovered: Awaited<ReturnType<typeof world.freshDatabase>>;
test.before(async () => {
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [
    { wallet: holder, target: "event/meetup" },
    { wallet: first, target: "token/0.0.9001" },
  ]);
  await world.publish(settings.DATABASE_URL ?? "");
  const [claim] = await sql`
    select serial from serial_claim where collection = 'A' order by serial limit 1`;
  // Nothing of it is left: NFTs that counted change hands and count again, a star is repeated.
  recovered = await world.freshDatabase();
  await world.goTo(recovered.sql, 0, 4 * HOUR_MS);
  await world.transfer("A", Number(claim?.serial), second);
  await world.goTo(recovered.sql, 0, 6 * HOUR_MS);
  await world.cast(recovered.url, [
    { wallet: second, target: "event/meetup" },
    { wallet: first, target: "token/0.0.9001" },
  ]);
  await world.publish(recovered.url);
  const report = await recover(world.recovery(recovered.sql));
  assert.deepEqual([report.recovered, report.conflicts, report.unprovable], [2, 2, []]);
  // Set aside, it counts no more: its wallet stars the event again.
  await world.goTo(recovered.sql, 0, 8 * HOUR_MS);
  await world.cast(recovered.url, [{ wallet: second, target: "event/meetup" }]);
  await world.publish(recovered.url);
  await world.goTo(recovered.sql, 1, HOUR_MS);
  await world.finalize(recovered.sql);
  source = await world.keepExports(recovered.sql);
});

test("conflicts come back as conflicts, and the day with its hash", async () => {
  const fresh = await world.freshDatabase();
  const exports = { source, days: await source.days() };
  // A worker that hands stars to rewards meanwhile has not seen those that come back.
  const taken = await takeHandOff(fresh.sql, "a worker");
  const report = await recover(world.recovery(fresh.sql, { exports }));
  assert.ok(taken !== null);
  const reached = { ...taken, offeredSeq: 1 };
  assert.equal(await noteHandOff(fresh.sql, "a worker", taken, reached), false);
  assert.deepEqual([report.unprovable, report.ignored], [[], []]);
  assert.deepEqual([report.recovered, report.conflicts], [3, 2]);
  assert.deepEqual(report.exact, [world.days[0]]);
  const aside = await conflictsOf(fresh.sql);
  assert.deepEqual([...aside], [...(await conflictsOf(recovered.sql))]);
  // An hour whose only star was set aside keeps its row.
  await recovered.sql`delete from item_hour where stars = 0`;
  assert.deepEqual(
    await stateOf(fresh.sql, { numbers: true }),
    await stateOf(recovered.sql, { numbers: true }),
  );
  const { ok, known, mismatches, unprovable } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  const conflicts = known.filter(({ kind }) => kind === "conflict");
  assert.deepEqual(conflicts.map(({ starId }) => starId).sort(), aside.map(({ id }) => id).sort());
  assert.deepEqual(unprovable, []);
});

test("a second message of a conflict takes nothing from the star that its wallet gave instead", async () => {
  const before = await stateOf(recovered.sql, { numbers: true });
  // As a second worker, on another copy of the journal, may have sent it.
  const [twin] = await recovered.sql<{ place: string; star: string }[]>`
    insert into recovery_message select topic_id, 1000, consensus_timestamp, running_hash, transaction_id, id,
      topic, wallet, at, day, target_type, target_id, is_forever_mint, message
    from star_conflict join outbox on star_id = id where target_type = 'event'
    returning topic_id || ' #' || sequence_number as place, star_id as star`;
  const report = await recover(world.recovery(recovered.sql));
  assert.deepEqual([report.recovered, report.conflicts], [0, 0]);
  assert.deepEqual(report.unprovable, [`${twin?.place}: a second message of star ${twin?.star}`]);
  assert.deepEqual(await stateOf(recovered.sql, { numbers: true }), before);
});

test("a conflict that nothing proves is listed, and nothing is written", async () => {
  const [aside] = await conflictsOf(recovered.sql);
  for (const other of [aside?.conflicts_with.replace(/.{12}$/, "000000000000"), aside?.id]) {
    const fresh = await world.freshDatabase();
    const forged: ExportSource = {
      ...source,
      async *lines(day) {
        for await (const line of source.lines(day)) {
          const isConflict = line.includes('"kind":"conflict"');
          yield isConflict ? line.replaceAll(aside?.conflicts_with, other) : line;
        }
      },
    };
    const exports = { source: forged, days: await source.days() };
    const report = await recover(world.recovery(fresh.sql, { exports }));
    assert.equal(report.written, false);
    assert.ok(
      report.unprovable.includes(
        `export of ${world.days[0]}: nothing shows that star ${aside?.id} conflicts with ${other}`,
      ),
      JSON.stringify(report.unprovable),
    );
  }
});

test("an export that was cut and changed before its day was final is doubted, and nothing is written", async () => {
  const fresh = await world.freshDatabase();
  const cut: ExportSource = {
    ...source,
    async *lines(day) {
      for await (const line of source.lines(day)) {
        yield line;
        if (line.includes('"kind":"star"')) throw new ProvisionalChanged("was cut");
      }
    },
  };
  const exports = { source: cut, days: await source.days() };
  const report = await recover(world.recovery(fresh.sql, { exports }));
  assert.equal(report.written, false);
  const doubt = `export of ${world.days[0]}: it was cut`;
  assert.ok(report.unprovable.includes(doubt), JSON.stringify(report.unprovable));
});

test("a loss that was accepted stays accepted, where that is accepted once more", async () => {
  // Nothing comes back here: wallets go on from nothing, and star again what they starred before.
  const going = await world.freshDatabase();
  await world.publish(going.url);
  await until("the topics are read", async () => (await countLost(going.sql)) === 5, 20_000);
  await acceptLoss(going.sql);
  await world.cast(going.url, [{ wallet: first, target: "token/0.0.9001" }]);
  await world.publish(going.url);
  // The journal itself says so, to a recovery from what came later.
  const again = await recover(world.recovery(going.sql));
  assert.deepEqual([again.recovered, again.conflicts, again.unprovable], [0, 0, []]);
  const kept = await world.keepExports(going.sql);
  const exports = { source: kept, days: await kept.days() };

  const fresh = await world.freshDatabase();
  const refused = await recover(world.recovery(fresh.sql, { exports }));
  assert.equal(refused.written, false);
  assert.equal(refused.unprovable.length, 5);
  const [line = ""] = refused.unprovable;
  assert.match(line, /message \d on \S+ stays without its star, whose loss was accepted$/);
  assert.equal((await journalStatus(fresh.sql)).lost, 0);

  // Beside a service that is up, and has noticed them.
  await world.publish(fresh.url);
  const report = await recover(world.recovery(fresh.sql, { exports, accepts: true }));
  assert.deepEqual([report.written, report.recovered, report.conflicts], [true, 1, 0]);
  assert.equal(await countLost(fresh.sql), 0);
  assert.deepEqual(
    await stateOf(fresh.sql, { numbers: true }),
    await stateOf(going.sql, { numbers: true }),
  );
  const { ok, known, mismatches } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  assert.equal(known.filter(({ kind }) => kind === "lost").length, 5);
});

test.run();
