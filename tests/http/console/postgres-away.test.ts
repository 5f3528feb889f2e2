/**
 * Goal: where Postgres does not answer, every place says so and what to do, and stops when Postgres
 * answers again. Method: a real web process whose way to Postgres is cut and mended.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { Verdict } from "../../../src/upkeep/service-verdict.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { until } from "../../support/processes.ts";
import { openRelay, type Relay } from "../../support/relay.ts";
import { type Service, send, startService } from "../../support/service.ts";
import { setUp } from "../../support/set-up.ts";
import { starboard } from "../../support/starboard.ts";
import { CONSOLE, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";

interface Context {
  database: TestDatabase;
  relay: Relay;
  url: string;
  service: Service;
  operator: Visitor;
}
const test = suite<Context>("the console without Postgres");
test.before(
  setUp(async (context) => {
    context.database = await testDatabase({ migrated: true });
    const way = new URL(context.database.url);
    context.relay = await openRelay(Number(way.port));
    way.port = String(context.relay.port);
    context.url = way.href;
    context.service = await startService({ ...CONSOLE, DATABASE_URL: way.href });
    context.operator = await signInOperator(context.service);
  }),
);
test.after(async ({ service, database }) => {
  await service?.close();
  await database?.close();
});

const metricOf = async (service: Service): Promise<string> => {
  const { status, text } = await send(service, "GET /metrics", { token: TOKEN });
  assert.equal(status, 200);
  return /starboard_check_failing\{check="postgres"\} (\d)/.exec(text)?.[1] ?? "";
};

test("verdict, metric, page and command name it while it lasts", async (context) => {
  const { relay, database, service, operator, url } = context;
  assert.equal(await metricOf(service), "0");
  relay.cut();
  const { status, body } = await send(service, "GET /ops/api/health", { token: TOKEN });
  const { ok, checks } = body as Verdict;
  assert.deepEqual([status, ok], [200, false]);
  assert.deepEqual(
    checks.map((check) => [check.name, check.ok, check.runbook]),
    [["postgres", false, "docs/operating/alarms.md#postgres"]],
  );
  assert.match(checks[0]?.message ?? "", /Postgres does not answer/);
  assert.equal(await metricOf(service), "1");
  // No session can be checked, so the page itself says what the runbook would.
  const page = await operator.get("/ops/log");
  assert.equal(page.status, 503);
  assert.match(
    page.text,
    /data-verdict[\s\S]*<strong>postgres<\/strong>: Postgres does not answer/,
  );
  assert.match(page.text, /<div id="postgres">[\s\S]*<ol><li>/);
  const statusCommand = await starboard(["status", "--json"], { DATABASE_URL: url });
  assert.equal(statusCommand.status, 1);
  assert.deepEqual(statusCommand.json<Verdict>(), body);

  relay.leadTo(Number(new URL(database.url).port));
  await until("it is well", async () => (await metricOf(service)) === "0");
  assert.equal((await operator.get("/ops/log")).status, 200);
  assert.doesNotMatch((await operator.get("/ops/log")).text, /data-verdict/);
});

test.run();
