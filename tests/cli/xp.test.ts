/** `starboard xp credit`: one document with `--json`, one line when refused, once per id. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { subcommand as xpCommand } from "../../src/cli/xp.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { starboard } from "../support/starboard.ts";
import { runCli } from "./run-cli.ts";

const test = suite<{ database: TestDatabase }>("xp credit");
test.before(async (context) => {
  context.database = await testDatabase({ migrated: true });
  process.env.DATABASE_URL = context.database.url;
  await context.database.sql`
    insert into season values ('00000000-0000-7000-8000-000000000001', 'Autumn', now_ms() - 1000, now_ms() + 3600000)`;
});
test.after((context) => context.database.close());

const credit = (...args: string[]) => runCli(xpCommand, ["credit", ...args]);
const once = ["--reason", "first mission", "--id", "mission-1"];

test("two processes side by side: one booking, the same document from both, and again later", async ({
  database,
}) => {
  const args = ["xp", "credit", "0.0.1001", "25", ...once, "--json"];
  const twin = () => starboard(args, { DATABASE_URL: database.url });
  const twins = await Promise.all([twin(), twin()]);
  for (const { status, stdout, stderr } of twins) {
    assert.equal(status, 0, stderr);
    assert.equal(stdout, twins[0]?.stdout);
    assert.match(stdout, /^[^\n]+\n$/);
  }
  const { creditedAt, ...booked } = JSON.parse(twins[0]?.stdout ?? "");
  assert.deepEqual(booked, {
    id: "mission-1",
    wallet: "0.0.1001",
    points: 25,
    reason: "first mission",
    seasonId: "00000000-0000-7000-8000-000000000001",
  });
  assert.match(creditedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal((await credit("0.0.1001", "25", ...once, "--json")).stdout, twins[0]?.stdout);
  const logged = await database.sql`
    select details, reason from operator_log where phase = 'done'`;
  for (const { details, reason } of logged) {
    assert.deepEqual(details, JSON.parse(twins[0]?.stdout ?? ""));
    assert.equal(reason, "first mission");
  }
  const [row] =
    await database.sql`select count(*)::int as n, sum(points)::int as points from xp_credit`;
  assert.deepEqual({ ...row }, { n: 1, points: 25 });
});

test("the id of another credit is refused in one line", async () => {
  const { stdout, stderr, exitCode } = await credit("0.0.1002", "25", ...once, "--json");
  assert.deepEqual([stdout, exitCode], ["", 1]);
  assert.equal(stderr, "the id mission-1 is of another credit: 25 to 0.0.1001, first mission\n");
});

test("points are taken back behind `--`, down to nothing", async ({ database }) => {
  const back = (id: string) => credit("0.0.1001", "--reason", "sorry", "--id", id, "--", "-20");
  const { stdout, exitCode } = await back("sorry");
  assert.equal(exitCode, 0);
  assert.match(stdout, /^booked: -20 to 0\.0\.1001, season 0/);
  const refused = await back("sorry again");
  assert.deepEqual([refused.stdout, refused.exitCode], ["", 1]);
  assert.match(refused.stderr, /^no season is on in which 0\.0\.1001 has 20 points to lose\n$/);
  const [row] = await database.sql`select points::int from season_score`;
  assert.equal(row?.points, 5);
});

test("an invalid credit is refused in one line", async () => {
  for (const args of [
    ["1001", "5", ...once],
    ["0.0.1001", "0", ...once],
    ["0.0.1001", "five", ...once],
    ["0.0.1001", "1e3", ...once],
    ["0.0.1001", "1234567890", ...once],
    ["0.0.1001", "5", "6", ...once],
    ["0.0.1001", "5", ...once, "--sign"],
    ["0.0.1001", "5", "--reason", "", "--id", "k"],
  ]) {
    const { stdout, stderr, exitCode } = await credit(...args);
    assert.deepEqual([stdout, exitCode], ["", 1], args.join(" "));
    assert.match(stderr, /^[^\n]+\n$/, args.join(" "));
  }
});

test("a database that was never migrated is reported in one line", async () => {
  const empty = await testDatabase();
  // The last two ask more at once than they have connections.
  for (const args of [
    ["xp", "credit", "0.0.1", "1", ...once],
    ["status"],
    ["publishing", "status"],
  ]) {
    const { status, stderr } = await starboard(args, { DATABASE_URL: empty.url });
    assert.deepEqual(
      [status, stderr],
      [1, "the database lacks tables of this build: run `starboard migrate` first\n"],
    );
  }
  await empty.close();
});

test.run();
