import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { createMetrics } from "../../src/metrics.ts";
import { refreshMetrics } from "../../src/processes/refresh-metrics.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const test = suite("figures for a scrape");
let database: TestDatabase;
let pool: Sql;

test.before(async () => {
  database = await testDatabase({ migrated: true });
  pool = openPostgres(database.url, { connections: 2 });
});
test.after(async () => {
  await pool.end({ timeout: 1 });
  await database.close();
});

/** Figures of a scrape in which each statement after the verdict fails. */
async function scrapeThatFails(error: Error): Promise<string> {
  const metrics = createMetrics();
  metrics.publishingPending.set(7);
  const { checkFailing } = metrics;
  const set = checkFailing.set as (...given: unknown[]) => void;
  let isJudged = false;
  checkFailing.set = (...given: unknown[]) => {
    isJudged = true;
    set.apply(checkFailing, given);
  };
  const sql = new Proxy(pool, {
    apply: (target, self, given) =>
      isJudged ? Promise.reject(error) : Reflect.apply(target, self, given),
  });
  await refreshMetrics(sql, metrics, undefined);
  return metrics.registry.metrics();
}

test("a Postgres that goes away after the verdict leaves the counts as last known", async () => {
  const gone = Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" });
  const text = await scrapeThatFails(gone);
  assert.match(text, /^starboard_publishing_pending 7$/m);
  assert.match(text, /^starboard_check_failing\{check="publishing"\} 0$/m);
});

test("a statement that is wrong is not kept quiet", async () => {
  await assert.rejects(scrapeThatFails(new TypeError("a defect")), /a defect/);
});

test("all connections are counted, and a figure that is not looked at here has no sample", async () => {
  const metrics = createMetrics();
  await refreshMetrics(pool, metrics, undefined);
  const text = await metrics.registry.metrics();
  assert.match(text, /^starboard_postgres_connections [1-9]\d*$/m);
  assert.match(text, /^starboard_publishing_pending 0$/m);
  // A worker's: 0 here would be the least of all processes.
  assert.doesNotMatch(text, /^starboard_operator_/m);
  metrics.operatorStarsLeft.set(5);
  assert.match(await metrics.registry.metrics(), /^starboard_operator_stars_left 5$/m);
});

test("queues that answer late have their last figures in a scrape at the same time", async () => {
  const metrics = createMetrics();
  const counts = [{ queue: "rewards", state: "failed", count: 3 }];
  const sample = /^starboard_queue_jobs\{queue="rewards",state="failed"\} 3$/m;
  let answer: (found: typeof counts) => void = () => undefined;
  const late = new Promise<typeof counts>((resolve) => {
    answer = resolve;
  });
  await refreshMetrics(pool, metrics, { countJobs: async () => counts });
  const { set } = metrics.postgresConnectionsMax;
  // The last figure before those of the queues.
  const reached = new Promise<void>((resolve) => {
    metrics.postgresConnectionsMax.set = (...given: Parameters<typeof set>) => {
      set.apply(metrics.postgresConnectionsMax, given);
      setImmediate(resolve);
    };
  });
  const refreshing = refreshMetrics(pool, metrics, { countJobs: () => late });
  await reached;
  assert.match(await metrics.registry.metrics(), sample);
  answer(counts);
  await refreshing;
  assert.match(await metrics.registry.metrics(), sample);
});

test.run();
