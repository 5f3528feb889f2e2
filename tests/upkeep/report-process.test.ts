/**
 * Goal: what processes report of themselves adds up, and one that dies is noticed. Method: two
 * reporters on one database with metrics of their own, and what the console makes of them.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { mirrorHealth, processHealth } from "../../src/http/console/health.ts";
import { numbersReader } from "../../src/http/console/numbers.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics, type Metrics } from "../../src/metrics.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { forgetReports, readDeltas, readProcesses } from "../../src/store/service-report.ts";
import { judgeReports } from "../../src/upkeep/judge-reports.ts";
import { startProcessReport } from "../../src/upkeep/report-process.ts";
import { verdictCheck } from "../../src/upkeep/runbook.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";

interface Context {
  database: TestDatabase;
  sql: Sql;
}

const test = suite<Context>("process reports");
test.before.each(async (context) => {
  context.database = await testDatabase({ migrated: true });
  context.sql = openPostgres(context.database.url, { connections: 3 });
});
test.after.each(async ({ database, sql }) => {
  await sql.end({ timeout: 1 });
  await database.close();
});

const clock = { now: () => Date.now() };

function start(sql: Sql, metrics: Metrics, role: "web" | "worker", isMirrorThere = true) {
  const mirror = {
    newestBlock: () =>
      isMirrorThere
        ? Promise.resolve({ number: 1, from: "0.0", to: String(Date.now() / 1_000) })
        : Promise.reject(new Error("away")),
  } as never;
  return startProcessReport({
    role,
    version: "1.2.3",
    sql,
    mirror,
    clock,
    log: silentLogger,
    metrics,
  });
}

test("counts of two processes add up, also where they share their metrics", async ({ sql }) => {
  const [one, shared] = [createMetrics(), createMetrics()];
  for (const metrics of [one, shared]) {
    metrics.starsAccepted.inc({ target: "token" }, 3);
    metrics.starsRefused.inc({ code: "ALREADY_STARRED" }, 2);
    metrics.publishLag.observe(4);
  }
  const reporters = [
    start(sql, one, "web"),
    start(sql, shared, "web"),
    start(sql, shared, "worker"),
  ];
  await until("all three have reported", async () => (await readProcesses(sql, 0)).length === 3);
  await Promise.all(reporters.map((reporter) => reporter.close()));
  const deltas = await readDeltas(sql, 0);
  const of = (name: string): number =>
    deltas.reduce((sum, delta) => (delta.name === name ? sum + delta.count : sum), 0);
  assert.deepEqual(
    [of("accepted token"), of("refused ALREADY_STARRED"), of("published")],
    [6, 4, 1],
  );
});

test("what could not be written is in the next report that is", async ({ sql }) => {
  const metrics = createMetrics();
  metrics.starsAccepted.inc({ target: "token" }, 3);
  await sql`alter table service_minute rename to service_minute_away`;
  const reporter = start(sql, metrics, "web");
  const seenAt = async () => (await readProcesses(sql, 0))[0]?.seenAt ?? 0;
  await until("it has reported", async () => (await seenAt()) > 0);
  const first = await seenAt();
  await until(
    "it has reported again, so the first report is over",
    async () => (await seenAt()) > first,
  );
  metrics.starsAccepted.inc({ target: "token" }, 2);
  await sql`alter table service_minute_away rename to service_minute`;
  const accepted = async (): Promise<number> =>
    (await readDeltas(sql, 0)).reduce(
      (total, { name, count }) => (name === "accepted token" ? total + count : total),
      0,
    );
  await until("all are counted", async () => (await accepted()) >= 5);
  await reporter.close();
  assert.equal(await accepted(), 5);
});

test("a process that stops in order says so; one that falls silent is lost", async ({ sql }) => {
  const reporter = start(sql, createMetrics(), "web");
  await until("it has reported", async () => (await readProcesses(sql, 0)).length === 1);
  const [living] = await readProcesses(sql, 0);
  assert.ok(living);
  assert.equal(processHealth(living, living.seenAt + 20_000).word, "at work");
  assert.equal(processHealth(living, living.seenAt + 31_000).word, "lost");
  await reporter.close();
  const [stopped] = await readProcesses(sql, 0);
  assert.equal(stopped && processHealth(stopped, Date.now() + 60_000).word, "stopped");
});

test("a connection on which nothing is answered does not silence a process", async ({ sql }) => {
  const unanswered: Sql = new Proxy(sql, {
    apply(target, self, parts: never) {
      if (String(parts[0]) === "select 1") return new Promise(() => undefined);
      return Reflect.apply(target, self, parts);
    },
  });
  const reporter = start(unanswered, createMetrics(), "web");
  await until("it has reported", async () => (await readProcesses(sql, 0)).length === 1);
  await reporter.close();
  assert.equal((await readProcesses(sql, 0))[0]?.report?.postgresMs, null);
});

test("web processes that reported lately are counted; workers, stopped and lost ones are not", async ({
  sql,
}) => {
  const now = Date.now();
  for (const [role, seenAt, stoppedAt] of [
    ["web", now, null],
    ["web", now - 20_000, null],
    ["web", now - 60_000, null],
    ["web", now, now],
    ["worker", now, null],
  ] as const) {
    await sql`insert into service_process (id, role, version, host, pid, started_at, seen_at, stopped_at, report)
      values (${randomUUID()}, ${role}, '1', 'host', 1, 0, ${seenAt}, ${stoppedAt}, '{}')`;
  }
  const reporter = start(sql, createMetrics(), "web");
  assert.equal(reporter.webProcesses(), 1, "before it knows of others");
  await until("it has reported", async () => reporter.webProcesses() === 3);
  await reporter.close();
});

test("a mirror node that answers some processes is unsteady, one that answers none is away", async ({
  sql,
}) => {
  const far = start(sql, createMetrics(), "web", false);
  await until("it has reported", async () => (await readProcesses(sql, 0)).length === 1);
  assert.equal(mirrorHealth(await numbersReader(sql)(Date.now()), "mainnet").word, "away");
  const near = start(sql, createMetrics(), "worker");
  await until("both have reported", async () => (await readProcesses(sql, 0)).length === 2);
  assert.equal(mirrorHealth(await numbersReader(sql)(Date.now()), "mainnet").word, "unsteady");
  await Promise.all([far.close(), near.close()]);
});

test("what is older than a day is forgotten", async ({ sql }) => {
  const now = Date.now();
  await sql`insert into service_minute (minute, name, count)
    select ((${now}::bigint / 60000) - back)::int, 'accepted token', 1 from generate_series(0, 3000, 1000) back`;
  await forgetReports(sql, now - 25 * 3_600_000);
  assert.equal((await readDeltas(sql, 0)).length, 2);
});

test("the last report of each kind of process is kept, so that one which is missing for days stays so", async ({
  sql,
}) => {
  const now = Date.now();
  for (const [role, hoursAgo] of [
    ["worker", 50],
    ["worker", 40],
    ["web", 30],
    ["web", 0],
  ] as const) {
    await sql`insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
      values (${randomUUID()}, ${role}, '1', 'host', 1, 0, ${now - hoursAgo * 3_600_000}, '{}')`;
  }
  await forgetReports(sql, now - 25 * 3_600_000);
  const known = await readProcesses(sql, 0);
  assert.deepEqual(
    known.map(({ role, seenAt }) => [role, (now - seenAt) / 3_600_000]),
    [
      ["web", 0],
      ["worker", 40],
    ],
  );
  const { ok, message } = verdictCheck("processes", judgeReports(known, now).processes);
  assert.deepEqual([ok, message], [false, "no worker has reported for a minute"]);
});

test("the charts have a point for each minute, with nothing made up where nothing was measured", async ({
  sql,
}) => {
  const now = Date.now();
  const minute = Math.floor(now / 60_000);
  await sql`insert into service_minute (minute, name, count, total, peak) values
    (${minute}, 'accepted token', 3, 0, 0), (${minute}, 'accepted event', 4, 0, 0),
    (${minute}, 'published', 2, 9, 0), (${minute - 1}, 'pending', 6, 60, 17)`;
  const { points, hour } = await numbersReader(sql)(now);
  assert.equal(points.length, 60);
  assert.deepEqual(points.at(-1), [minute * 60, 7, 0, 0, 0, 4.5, null, null, 0]);
  assert.deepEqual(points.at(-2), [(minute - 1) * 60, 0, 0, 0, 0, null, 17, null, 0]);
  assert.equal(hour.get("accepted token"), 3);
});

test.run();
