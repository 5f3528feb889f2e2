/** The rows of a statement after one that failed with rows on their way. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { openPostgres } from "../../src/store/postgres.ts";
import { testDatabase } from "../support/postgres.ts";

test("a statement has its rows from the first place on, whatever failed before it", async () => {
  const database = await testDatabase();
  const sql = openPostgres(database.url, { connections: 1 });
  const failing = () =>
    assert.rejects(async () => sql`select 1 / (4 - n) from generate_series(1, 9) as n`, /by zero/);
  const numbers = (count: number) => sql`select n from generate_series(1, ${count}::int) as n`;
  await failing();
  const { length, 0: first } = await numbers(1);
  assert.deepEqual([length, first], [1, { n: 1 }]);
  const [, rows] = await Promise.all([failing(), numbers(2)]);
  assert.deepEqual([...rows], [{ n: 1 }, { n: 2 }]);
  await failing();
  const none = await numbers(0);
  assert.deepEqual([none.length, none.count], [0, 0]);
  await failing();
  assert.equal((await sql.begin((own) => own`select 1 as n`))[0]?.n, 1);
  await sql.end();
  await database.close();
});

test.run();
