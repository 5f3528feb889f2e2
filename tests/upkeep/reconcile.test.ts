/**
 * Goal: what differs is in the metrics within a round, and a round that fails is made up for.
 * Method: rounds by hand and by timer, over the rig's ledger.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { RetryableError } from "../../src/errors.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { reconcile, startReconciler } from "../../src/upkeep/reconcile.ts";
import { createRig, openRigs, TOPICS } from "../publishing/rig.ts";
import { until } from "../support/processes.ts";

const test = suite("reconcile");
let rigs: Awaited<ReturnType<typeof openRigs>>;
test.before(async () => {
  rigs = await openRigs();
});
test.after(() => rigs.close());

async function build() {
  const rig = await createRig(rigs.sql);
  const metrics = createMetrics();
  const { context } = rig.publisher();
  const publisher = {
    async readTopics() {
      for (const topicId of Object.values(TOPICS)) await context.readToEnd(topicId);
      return Object.values(TOPICS);
    },
  };
  return { rig, deps: { sql: rig.sql, log: silentLogger, metrics, publisher } };
}

test("a round counts what is open, by kind, and again zero when it is set aside", async () => {
  const { rig, deps } = await build();
  await rig.box();
  await rig.publisher().run();
  assert.equal(await reconcile(deps), 0);
  rig.ledger.foreign("0.0.666@1795161600.000000001", { topicId: TOPICS.asset, message: "spam" });
  assert.equal(await reconcile(deps), 1);
  assert.equal(await reconcile(deps), 1);
  const gauge = async (kind: string) =>
    (await deps.metrics.publishingFindings.get()).values.find(({ labels }) => labels.kind === kind)
      ?.value;
  assert.deepEqual([await gauge("malformed"), await gauge("foreign")], [1, 0]);
  await rig.sql`update publishing_finding set resolved_at = now_ms() where resolved_at is null`;
  assert.equal(await reconcile(deps), 0);
  assert.equal(await gauge("malformed"), 0);
});

test("by timer: rounds go on after one that failed, and none runs after closing", async () => {
  const { deps } = await build();
  let rounds = 0;
  const publisher = {
    async readTopics() {
      rounds += 1;
      if (rounds === 1) throw new RetryableError("UNAVAILABLE", "away");
      return deps.publisher.readTopics();
    },
  };
  const reconciler = startReconciler({ ...deps, publisher, everyMs: 20 });
  await until("rounds go on", () => rounds >= 3);
  await reconciler.close();
  const after = rounds;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(rounds, after);
  const failures = (await deps.metrics.publishingFailures.get()).values;
  assert.equal(failures.find(({ labels }) => labels.reason === "reconcile")?.value, 1);
});

test.run();
