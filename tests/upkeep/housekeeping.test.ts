import * as assert from "node:assert/strict";
import { pino } from "pino";
import { test } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { cleanUp, startHousekeeping } from "../../src/upkeep/housekeeping.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";

const NOW = Date.UTC(2031, 0, 31, 23, 59);

test("a round makes partitions ahead and forgets only what is past its time", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1, role: "starboard_app" });
  const id = "00000000-0000-7000-8000-000000000000";
  const hash = Buffer.alloc(32);
  await sql`insert into session values (${hash}, 1, 0, ${NOW - 1}, ${hash}), (${Buffer.alloc(32, 1)}, 1, 0, ${NOW}, ${hash})`;
  await sql`insert into challenge values (${id}, '0.0.1', 'o', 'm', ${NOW - 1})`;
  const keep = NOW - 48 * 3_600_000;
  for (const [key, at] of [
    ["old", 0],
    ["young", keep],
  ] as const) {
    await sql`insert into idempotency_key values (1, ${key}, ${hash}, ${id}, '{}', ${at})`;
  }
  await cleanUp({ sql, clock: { now: () => NOW }, log: silentLogger });
  const [left] = await sql`
    select (select count(*) from session) as sessions, (select count(*) from challenge) as challenges,
      (select string_agg(key, ',') from idempotency_key) as keys,
      to_regclass('star_2031_01') is not null and to_regclass('star_2031_02') is not null as ahead`;
  assert.deepEqual({ ...left }, { sessions: 1, challenges: 0, keys: "young", ahead: true });
  await sql.end();
  await database.close();
});

test("a backlog is deleted in slices, and the rest of a round outlives a part that fails", async () => {
  const database = await testDatabase({ migrated: true });
  const { sql: owner } = database;
  const role = "starboard_app";
  const sql = openPostgres(database.url, { connections: 1, role, statementTimeoutMs: 60_000 });
  await owner.unsafe(`
    insert into idempotency_key
    select n, 'k', '', '00000000-0000-7000-8000-000000000000', '{}', 0 from generate_series(1, 25000) n;
    insert into challenge
    select gen_random_uuid(), '0.0.1', 'o', 'm', 0 from generate_series(1, 10001);
    insert into session values (decode(repeat('00', 32), 'hex'), 1, 0, 0, decode(repeat('00', 32), 'hex'));
    create function refuse_many() returns trigger language plpgsql as $$ begin
      if (select count(*) from gone) > 10000 or tg_table_name = 'session' then
        raise 'too much at once'; end if; return null; end $$;`);
  for (const table of ["idempotency_key", "challenge", "session"]) {
    await owner.unsafe(`create trigger refuse_many after delete on ${table}
      referencing old table as gone for each statement execute function refuse_many()`);
  }
  const failed = new Set<unknown>();
  const log = pino({ level: "error" }, { write: (line) => failed.add(JSON.parse(line).part) });
  const housekeeping = startHousekeeping({ sql, clock: { now: () => NOW }, log });
  await until("nothing of the backlog is left", async () => {
    const [row] = await owner<{ rows: number }[]>`
      select ((select count(*) from idempotency_key) + (select count(*) from challenge))::int as rows`;
    return row?.rows === 0;
  });
  await housekeeping.close();
  assert.deepEqual([...failed], ["sessions"]);
  await sql.end();
  await database.close();
});

test.run();
