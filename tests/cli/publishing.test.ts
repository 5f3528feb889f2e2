import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { subcommand as publishingCommand } from "../../src/cli/publishing.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { boxStar } from "../publishing/rig.ts";
import { testDatabase } from "../support/postgres.ts";
import { runCli } from "./run-cli.ts";

const test = suite("starboard publishing");
let database: Awaited<ReturnType<typeof testDatabase>>;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 1 });
  process.env.DATABASE_URL = database.url;
});
test.after(async () => {
  await sql.end();
  await database.close();
});

const run = (...args: readonly string[]) => runCli(publishingCommand, args);
const NONE = "01a00000-0000-7000-8000-000000000000";

test("status shows what waits and what differs; resolve sets a finding aside, once", async () => {
  assert.match((await run("status")).stdout, /^0 stars to be published; 0 open findings\n$/);
  await boxStar(sql, "event", Date.now());
  const [finding] = await sql<{ id: number }[]>`
    insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.7', 3, 'transaction 0.0.9@1.000000000') returning id`;
  assert.match((await run("status")).stdout, /^1 star to be.*1 open finding\nid .*\n.*0\.0\.7 #3/);
  const state = JSON.parse((await run("status", "--json")).stdout);
  assert.deepEqual([state.pending, state.findings, state.alarms], [1, 1, []]);
  const id = String(finding?.id);
  assert.equal((await run("resolve", id)).exitCode, 0);
  assert.match((await run("resolve", id)).stderr, /no open finding/);
  assert.match((await run("resolve", "x")).stderr, /^x is not a number\n$/);
});

test("resolve leaves a lost star to the commands that recover it or accept its loss", async () => {
  const [finding] = await sql<{ id: number }[]>`
    insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.7', 4, 'transaction 0.0.9@1.000000001') returning id`;
  const { exitCode, stderr } = await run("resolve", String(finding?.id));
  assert.equal(exitCode, 1);
  assert.match(stderr, /journal recover.*journal accept-loss/);
  const open =
    await sql`select from publishing_finding where kind = 'lost' and resolved_at is null`;
  assert.equal(open.length, 1);
});

test("redrive makes a star due, and refuses an unknown one", async () => {
  const starId = await boxStar(sql, "asset", Date.now());
  await sql`update outbox set next_try_at = 4102444800000 where star_id = ${starId}`;
  const { kind, state } = JSON.parse((await run("redrive", starId, "--json")).stdout);
  assert.deepEqual([kind, state], ["due", "pending"]);
  const [row] = await sql`select next_try_at from outbox where star_id = ${starId}`;
  assert.equal(row?.next_try_at, 0);
  assert.match((await run("redrive", NONE)).stderr, /^there is no star 01a0/);
  assert.match((await run("redrive", "1; drop table star")).stderr, /is not the id of a star/);
});

test.run();
