import * as assert from "node:assert/strict";
import { test } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { cleanUp } from "../../src/upkeep/housekeeping.ts";
import { testDatabase } from "../support/postgres.ts";

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

test.run();
