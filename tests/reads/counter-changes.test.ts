/**
 * Goal: between two places of the journal every approved item that changed is found with its
 * stored counter, and a place is called settled only when nothing before it can still appear.
 * Method: stars by the real engine, writers that we hold open, rows as the restricted role.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { counterChanges } from "../../src/reads/counter-changes.ts";
import { followCommitWatermark, type JournalPosition } from "../../src/store/commit-watermark.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { bodyOf, type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const test = suite("counter changes");
let database: TestDatabase;
let sql: Sql;
let engine: Engine;
let look: ReturnType<typeof followCommitWatermark>;

test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2, role: "starboard_app" });
  await seedDirectory(sql);
  engine = await startEngine(database.url);
  look = followCommitWatermark(sql);
});
test.after(async () => {
  await engine.close();
  await sql.end({ timeout: 1 });
  await database.close();
});

let wallets = 1_000;
const star = async (target: string) => {
  wallets += 1;
  return bodyOf(await engine.cast(`0.0.${wallets}`, target)).star;
};
const place = async (): Promise<JournalPosition> => (await look()).settled;
const names = async (after: JournalPosition, upTo: JournalPosition) =>
  (await counterChanges(sql, after, upTo))
    .map(({ type, id, totalVotes, day }) => `${type}/${id} ${totalVotes} ${day}`)
    .sort();

test("each item once, with its counter of that day, and none that is not approved", async () => {
  const before = await place();
  assert.deepEqual(before, { star: 0, release: 0 }, "nothing was numbered yet");
  const { day } = await star("token/0.0.9001");
  await star("token/0.0.9001");
  await star("event/meetup");
  await star("project/wiki");
  const between = await place();
  await star("collection/0.0.8001");
  const after = await place();
  await sql`update project set approved_at = null where id = 'wiki'`;
  assert.deepEqual(await names(before, after), [
    `collection/0.0.8001 1 ${day}`,
    `event/meetup 1 ${day}`,
    `token/0.0.9001 2 ${day}`,
  ]);
  assert.deepEqual(await names(between, after), [`collection/0.0.8001 1 ${day}`]);
  assert.deepEqual(await names(after, after), []);
});

test("an item that was starred on both sides of midnight changed on the later day", async () => {
  const before = await place();
  await star("token/0.0.9003");
  await engine.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + 86400000 $$`);
  const { day } = await star("token/0.0.9003");
  assert.deepEqual(await names(before, await place()), [`token/0.0.9003 1 ${day}`]);
  await engine.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
});

test("what the holdings check takes away is a change too", async () => {
  await star("event/mint");
  const before = await place();
  const run = randomUUID();
  const at = Date.UTC(2026, 10, 20);
  await sql`
    insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
    values (${run}, '2026-11-20', 'manual', 'done', 0, 0)`;
  // By its owner: the service's role releases by functions alone.
  await engine.sql`
    insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight,
      deleted, listed_at, read_at, released_at)
    values ('mint', nextval('forever_mint_order'), 1, ${run}, 'A', 1, 1, ${randomUUID()}, 1,
      false, 0, 0, ${at})`;
  const after = await place();
  assert.equal(after.star, before.star);
  assert.ok(after.release > before.release);
  assert.deepEqual(await names(before, after), ["event/mint 1 2026-11-20"]);
});

test("nothing is settled while a writer who began before may still commit something older", async () => {
  const before = await place();
  const open = () => openPostgres(database.url, { connections: 1 });
  const [slow, slower] = [open(), open()];
  for (const writer of [slow, slower]) {
    await writer`begin`;
    await writer`update event_total set stars = stars where event_id = 'absent'`;
  }
  await star("token/0.0.9002");
  assert.deepEqual(await place(), before, "it held its lock when the star's number was drawn");
  assert.deepEqual((await look()).drawn.star > before.star, true);
  // Later writers are not waited for, however many they are.
  await Promise.all([star("token/0.0.9003"), star("token/0.0.9004")]);
  await slow`rollback`;
  const late = open();
  await late`begin`;
  await late`update event_total set stars = stars where event_id = 'absent'`;
  assert.deepEqual(await place(), before, "so did another one");
  await slower`rollback`;
  const after = await place();
  assert.ok(after.star > before.star);
  await late`rollback`;
  await Promise.all([slow, slower, late].map((writer) => writer.end()));
});

test("the journal has another name while it lacks stars, and after they came back", async () => {
  const { journal: before } = await look();
  assert.equal((await look()).journal, before);
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, star_id, detail)
    values ('lost', '0.0.5001', 1, ${randomUUID()}, '')`;
  const { journal: behind } = await look();
  assert.notEqual(behind, before);
  await engine.sql`insert into recovered_day (day) values ('2026-11-20')`;
  await sql`update publishing_finding set resolved_at = now_ms() where kind = 'lost'`;
  const { journal: recovered } = await look();
  assert.equal(new Set([before, behind, recovered]).size, 3);
  const other = await testDatabase({ migrated: true });
  const there = openPostgres(other.url, { connections: 1, role: "starboard_app" });
  assert.notEqual((await followCommitWatermark(there)()).journal, before, "of another database");
  await there.end({ timeout: 1 });
  await other.close();
});

test.run();
