/** How connections are set up: what Postgres itself says of them. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { openPostgres, runStatement } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

let database: TestDatabase;
test.before(async () => {
  database = await testDatabase();
});
test.after(() => database.close());

async function settingOf(name: string, options: Parameters<typeof openPostgres>[1]) {
  const sql = openPostgres(database.url, { connections: 1, ...options });
  const [row] = await sql<{ value: string }[]>`select current_setting(${name}) as value`;
  await sql.end();
  return row?.value;
}

test("no pool lets Postgres compile its plans: with scans off that took a second of each star", async () => {
  for (const options of [{}, { writer: true }, { byKey: true }]) {
    assert.equal(await settingOf("jit", options), "off", JSON.stringify(options));
  }
});

test("the pools that look everything up by key never scan (A10 plan-flip)", async () => {
  assert.equal(await settingOf("enable_seqscan", {}), "on");
  for (const options of [{ writer: true }, { byKey: true }]) {
    assert.equal(await settingOf("enable_seqscan", options), "off", JSON.stringify(options));
  }
});

test("no pool weakens the server's setting of when a commit counts", async () => {
  for (const options of [{}, { writer: true }, { byKey: true }]) {
    const sql = openPostgres(database.url, { connections: 1, ...options });
    const rows = await sql`select name from pg_settings where source = 'client'
      and name in ('synchronous_commit', 'commit_delay', 'default_transaction_isolation')`;
    await sql.end();
    assert.deepEqual([...rows], [], JSON.stringify(options));
  }
});

test("a statement that takes longer than its caller has is given up, though the server goes on", async () => {
  const sql = openPostgres(database.url, { connections: 1, statementTimeoutMs: 60_000 });
  await assert.rejects(runStatement(sql`select pg_sleep(3)`, 100), { code: "UNAVAILABLE" });
  await sql.end({ timeout: 0 });
});

test.run();
