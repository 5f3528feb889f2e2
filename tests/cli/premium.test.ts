import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { suite } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { listPasses } from "../../src/catalogue/premium.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { starboard } from "../support/starboard.ts";

const test = suite<{ database: TestDatabase }>("seasons and premium");
test.before(async (context) => {
  context.database = await testDatabase({ migrated: true });
});
test.after((context) => context.database.close());

const span = (starts: string, ends: string) => ["--starts", starts, "--ends", ends];

test("a season is added and listed; one that overlaps is refused in one line; neighbours touch", async ({
  database,
}) => {
  const settings = { DATABASE_URL: database.url };
  const add = (name: string, dates: string[]) =>
    starboard(["seasons", "add", "--name", name, ...dates, "--json"], settings);
  const first = await add("Autumn", span("2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"));
  assert.equal(first.status, 0, first.stderr);
  const season = first.json<{ id: string }>();
  assert.deepEqual(season, {
    id: season.id,
    name: "Autumn",
    startsAt: "2026-10-01T00:00:00.000Z",
    endsAt: "2027-01-01T00:00:00.000Z",
  });
  const [overlap, touching] = await Promise.all([
    add("Clash", span("2026-12-31T23:59:59.999Z", "2027-02-01T00:00:00Z")),
    // Finer than a millisecond, as imports take it.
    add("Winter", span("2027-01-01T00:00:00.0004Z", "2027-04-01T02:00:00.000000+02:00")),
  ]);
  assert.deepEqual([overlap.status, overlap.stdout], [1, ""]);
  assert.match(overlap.stderr, /^this season overlaps another one\n$/);
  assert.equal(touching.status, 0, touching.stderr);
  const listed = await starboard(["seasons", "list", "--json"], settings);
  assert.deepEqual(
    listed.json<{ name: string }[]>().map(({ name }) => name),
    ["Autumn", "Winter"],
  );
});

test("an instant that JSON cannot show is refused by its option's name", async ({ database }) => {
  const settings = { DATABASE_URL: database.url };
  for (const [option, dates] of [
    ["starts", span("0001-01-01", "2029-04-01")],
    ["starts", span("1969-12-31T23:59:59.999Z", "2029-04-01")],
    ["ends", span("2029-01-01", "1970-01-01T00:00:00+01:00")],
    ["ends", span("2029-01-01", "9999-12-31T23:30:00-01:00")],
  ] as const) {
    const add = ["seasons", "add", "--name", "Odd", ...dates];
    const { status, stdout, stderr } = await starboard(add, settings);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.equal(stderr, `--${option} must be from 1970 to 9999 by UTC\n`);
  }
});

test("a bad instant, an empty span and a missing option are refused", async ({ database }) => {
  const settings = { DATABASE_URL: database.url };
  const refused = await Promise.all(
    [
      span("2029-02-30T00:00:00Z", "2029-04-01"),
      span("2029-02-01", "2029-02-30"),
      span("2029-02-01T24:00:00Z", "2029-04-01"),
      span("soon", "later"),
      span("2029-01-02", "2029-01-01"),
      ["--starts", "2029-01-01"],
    ].map((dates) => starboard(["seasons", "add", "--name", "Bad", ...dates], settings)),
  );
  for (const { status, stderr } of refused) {
    assert.equal(status, 1);
    assert.notEqual(stderr, "");
  }
});

test("a pass is granted, again without change, listed, and taken back", async ({ database }) => {
  const settings = { DATABASE_URL: database.url };
  const [{ id } = { id: "" }] = await database.sql<
    { id: string }[]
  >`select id from season order by starts_at`;
  const pass = (verb: string, wallet: string, season = id) =>
    starboard(["premium", verb, wallet, "--season", season, "--json"], settings);
  const granted = await pass("grant", "0.0.1001");
  assert.equal(granted.status, 0, granted.stderr);
  const again = await pass("grant", "0.0.1001");
  assert.deepEqual(again.json(), granted.json());
  const listed = await starboard(["premium", "list", "--json"], settings);
  assert.deepEqual(listed.json(), [granted.json()]);
  const [revoked, unknown, badWallet, badSeason] = [
    await pass("revoke", "0.0.1001"),
    await pass("revoke", "0.0.1001"),
    await pass("grant", "1001"),
    await pass("grant", "0.0.1001", "not-an-id"),
  ];
  assert.equal(revoked.status, 0);
  for (const refusal of [unknown, badWallet, badSeason]) {
    assert.equal(refusal.status, 1);
    assert.match(refusal.stderr, /^[^\n]+\n$/);
  }
  const acts = await database.sql`select action, subject, details from operator_log
    where action like 'premium.%' and phase = 'done' order by id`;
  const act = { subject: "0.0.1001", details: { season: id } };
  assert.deepEqual(
    [...acts],
    ["grant", "grant", "revoke"].map((verb) => ({ action: `premium.${verb}`, ...act })),
  );
});

test("passes are waited for longer than a request waits: there may be very many", async ({
  database,
}) => {
  const sql = openPostgres(database.url, { connections: 2, statementTimeoutMs: 60_000 });
  const held = await reserveConnection(sql);
  await held`begin`;
  await held`lock table premium_pass`;
  const letGo = async () => {
    await pause(bounds.statementDeadlineMs + 500);
    await held`commit`;
    held.release();
  };
  const [passes] = await Promise.all([listPasses(sql), letGo()]);
  assert.deepEqual([...passes], []);
  await sql.end({ timeout: 1 });
});

test.run();
