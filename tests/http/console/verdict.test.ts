/**
 * Goal: where publishing stands still, no place says that all is well. Method: a real web process;
 * the same trouble is read at every page, at `/ops/api/health` and by `starboard status`.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { figuresOf, healthOf } from "../../../src/http/console/health.ts";
import { numbersReader, SERIES } from "../../../src/http/console/numbers.ts";
import { reportAlarms } from "../../../src/publishing/alarms.ts";
import type { Verdict } from "../../../src/upkeep/service-verdict.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { starboard } from "../../support/starboard.ts";
import { CONSOLE, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";

const WORKER = "01a1f8c0-0000-7000-8000-000000000001";
const PAGES = ["/ops", "/ops/publishing", "/ops/stars", "/ops/keys", "/ops/log"];
/** The badge beside a name on the Overview. */
const PUBLISHING_OK = /Publishing<\/a><span class="badge good"[^>]*>ok</;

interface Context {
  service: Service;
  operator: Visitor;
}
const DAILY = "01a1f8c0-0000-7000-8000-0000000000d1";
const BY_HAND = "01a1f8c0-0000-7000-8000-0000000000d2";
const test = suite<Context>("the verdict");
test.before(async (context) => {
  context.service = await startService(CONSOLE);
  const voter = await signIn(context.service, await newWallet(context.service, { a: 1 }));
  await cast(context.service, voter, "event/meetup");
  context.operator = await signInOperator(context.service);
});
test.after(({ service }) => service.close());
test.after.each(async ({ service: { sql } }) => {
  await reportAlarms(sql, WORKER, []);
  await sql`update publishing_finding set resolved_at = now_ms() where resolved_at is null`;
});

async function verdictOf(service: Service): Promise<Verdict> {
  const { status, body } = await send(service, "GET /ops/api/health", { token: TOKEN });
  assert.equal(status, 200);
  return body as Verdict;
}

/** Asserts that every way of asking names these checks as failed, and no other. */
async function assertFailed(
  { service, operator }: Context,
  names: readonly string[],
): Promise<void> {
  const verdict = await verdictOf(service);
  const failed = verdict.checks.filter(({ ok }) => !ok);
  assert.deepEqual(
    failed.map(({ name }) => name),
    names,
  );
  assert.equal(verdict.ok, names.length === 0);
  for (const { message, since, meanwhile, fix, runbook } of failed) {
    assert.ok(message && since && meanwhile && fix && runbook);
  }
  const status = await starboard(["status", "--json"], { DATABASE_URL: service.databaseUrl });
  assert.equal(status.status, names.length === 0 ? 0 : 1, status.stderr);
  assert.deepEqual(
    status.json<Verdict>().checks.map(({ name, ok }) => [name, ok]),
    verdict.checks.map(({ name, ok }) => [name, ok]),
  );
  for (const page of PAGES) {
    const { text } = await operator.get(page);
    assert.equal(text.includes("data-verdict"), names.length > 0, page);
    for (const name of names) {
      assert.ok(text.includes(`<strong>${name}</strong>`), page);
      assert.ok(text.includes(`href="/ops/alarms#${name}"`), page);
      assert.doesNotMatch(/data-verdict[\s\S]*?<\/div>/.exec(text)?.[0] ?? "", /`/, page);
    }
    assert.equal(text.includes('title="Checks that fail"'), names.length > 0, page);
  }
}

test("all is well: no banner, no badge, exit status 0", async (context) => {
  await assertFailed(context, []);
  assert.match((await context.operator.get("/ops")).text, PUBLISHING_OK);
});

test("an alarm is on every page, and publishing is not ok", async (context) => {
  const { service, operator } = context;
  const since = performance.now() - 1_000;
  await reportAlarms(service.sql, WORKER, [
    { reason: "configuration", subject: "", detail: "INVALID_SIGNATURE", since },
  ]);
  await assertFailed(context, ["alarms"]);
  const [alarm] = (await verdictOf(service)).checks;
  assert.match(alarm?.message ?? "", /INVALID_SIGNATURE/);
  // `publishing status` says no more than this line does.
  assert.match(alarm?.fix ?? "", /`starboard doctor`/);
  assert.match((await operator.get("/ops/publishing")).text, /needs a person/);
});

test("a foreign message on a topic is on every page", async (context) => {
  await context.service.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5', 41, 'transaction unknown')`;
  await assertFailed(context, ["findings"]);
});

test("a worker that has been up for hours without any daily check is a failure", async (context) => {
  const { sql } = context.service;
  await sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
    values (${WORKER}, 'worker', '1', 'here', 1, now_ms() - 7200000, now_ms(), '{}')`;
  await assertFailed(context, ["holdings-check"]);
  await sql`delete from service_process where id = ${WORKER}`;
});

test("what a process reports of Redis and the mirror node is no better on the Overview than in the verdict", async (context) => {
  const { sql } = context.service;
  const since = Date.now() - 120_000;
  const report = {
    ...{ memoryMb: 1, postgresMs: 1, redisMs: 1, mirrorMs: 1 },
    ...{ redisMayEvictSince: since, mirrorBehindMs: 180_000 },
  };
  await sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
    values (${WORKER}, 'web', '1', 'here', 1, now_ms(), now_ms(), ${sql.json(report)})`;
  await assertFailed(context, ["redis", "mirror"]);
  const shown = healthOf(await numbersReader(sql)(Date.now()), "local");
  for (const [key, word] of [
    ["redis", "may evict"],
    ["mirror", "behind"],
  ]) {
    const health = shown.find((each) => each.key === key);
    assert.deepEqual([health?.mood, health?.word], ["bad", word]);
  }
  await sql`delete from service_process where id = ${WORKER}`;
});

test("a mirror node that answers no worker is unsteady on the Overview, and as bad as in the verdict", async (context) => {
  const { sql } = context.service;
  const report = {
    ...{ memoryMb: 1, postgresMs: 1, redisMs: 1, mirrorMs: null, mirrorBehindMs: null },
    mirrorAwaySince: Date.now() - 120_000,
  };
  await sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
    values (${WORKER}, 'worker', '1', 'here', 1, now_ms(), now_ms(), ${sql.json(report)})`;
  await assertFailed(context, ["mirror"]);
  const shown = healthOf(await numbersReader(sql)(Date.now()), "local");
  const { mood, word, note } = shown.find(({ key }) => key === "mirror") ?? {};
  const said = "the mirror node answers no worker";
  assert.deepEqual([mood, word, note], ["bad", "unsteady", said]);
  await sql`delete from service_process where id = ${WORKER}`;
});

test("a worker that was stopped and not started again is a worry beside the number of processes too", async (context) => {
  const { sql } = context.service;
  await sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, stopped_at, report)
    values (${WORKER}, 'worker', '1', 'here', 1, now_ms() - 300000, now_ms() - 120000, now_ms() - 120000, '{}')`;
  await assertFailed(context, ["processes"]);
  const figures = figuresOf(await numbersReader(sql)(Date.now()));
  assert.equal(figures.find(({ key }) => key === "processes")?.mood, "bad");
  await sql`delete from service_process where id = ${WORKER}`;
});

test("a mirror node that answers now and then is as slow as its answers, and no faster", async (context) => {
  const { sql } = context.service;
  const now = Date.now();
  const minute = Math.floor(now / 60_000) - 30;
  await sql`insert into service_minute (minute, name, count, total, peak) values
    (${minute}, 'mirror', 2, 300, 200)`;
  const { points } = await numbersReader(sql)(now);
  const mirror = 1 + SERIES.findIndex(({ of }) => of === "mirror");
  const at = (wanted: number) => points.find(([seconds]) => seconds === wanted * 60)?.[mirror];
  assert.deepEqual([at(minute), at(minute - 1)], [150, null]);
});

test("a star that waits for 93 s is late, and the lag is not the mean of the others", async (context) => {
  const { sql } = context.service;
  await sql.begin(async (changing) => {
    // The outbox refuses changes of its messages, and no star can be cast in the past.
    await changing`set local session_replication_role = replica`;
    await changing`update outbox set message =
      replace(message, message::json->>'timestamp', (now_ms() - 93000)::text)`;
  });
  await assertFailed(context, ["publishing"]);
  const numbers = await numbersReader(sql)(Date.now());
  const figures = figuresOf({ ...numbers, lagSeconds: 0.134 });
  const lag = figures.find(({ key }) => key === "lag");
  assert.doesNotMatch(lag?.value ?? "", /134/);
  assert.match(lag?.note ?? "", /the oldest still waits/);
  assert.equal(lag?.mood, "bad");
});

test("the publish lag is the mean of all stars, and not of the minutes", async (context) => {
  const { sql } = context.service;
  const now = Date.now();
  const minute = Math.floor(now / 60_000);
  await sql`insert into service_minute (minute, name, count, total) values
    (${minute}, 'published', 1, 60), (${minute - 1}, 'published', 99, 99), (${minute - 10}, 'published', 9, 900)`;
  const { lagSeconds } = await numbersReader(sql)(now);
  assert.equal(lagSeconds, 1.59);
});

test("each figure and each state of the Overview is a link", async ({ operator }) => {
  const { text } = await operator.get("/ops");
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  assert.ok(count(/<div class="label">/g) > 0);
  assert.equal(count(/<div class="label"><a href="/g), count(/<div class="label">/g));
  assert.equal(count(/<li><a href="[^"]+">[^<]+<\/a><span class="badge/g), 8);
});

test("the Overview shows the holdings check that is judged: the one that ended last", async (context) => {
  const { sql } = context.service;
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at) values
    (${DAILY}, utc_day(now_ms()), 'scheduled', 'done', now_ms() - 3000, now_ms()),
    (${BY_HAND}, utc_day(now_ms()), 'manual', 'incomplete', now_ms() - 2000, now_ms() - 1000)`;
  await sql`insert into holdings_check_mint (run_id, event_id, kept, deferred) values (${BY_HAND}, 'mint', 0,
    ${sql.json([{ collection: "A", serial: null, starId: null, wallet: null, reason: "doubt" }])})`;
  const { checks } = await verdictOf(context.service);
  assert.equal(checks.find(({ name }) => name === "holdings-check")?.ok, true);
  const shown = healthOf(await numbersReader(sql)(Date.now()), "local");
  const check = shown.find(({ key }) => key === "check");
  assert.deepEqual([check?.mood, check?.word], ["good", "done"]);
  assert.match(check?.note ?? "", /0 left open/);
});

test.run();
