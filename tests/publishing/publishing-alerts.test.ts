import * as assert from "node:assert/strict";
import { test } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createPublishingAlerts } from "../../src/publishing/publishing-alerts.ts";

test("what happened stands for an hour after the last time; what lasts stands until it is cured", () => {
  let now = 0;
  const alerts = createPublishingAlerts(silentLogger, createMetrics(), () => now);
  const reasons = () => alerts.raised().map(({ reason }) => reason);
  alerts.raise("contradiction", "a star");
  alerts.raise("configuration", "UNAUTHORIZED", "0.0.1");
  now = 3_000_000;
  alerts.raise("contradiction", "another");
  now = 6_599_999;
  assert.deepEqual(reasons(), ["contradiction", "configuration"]);
  now = 6_600_000;
  assert.deepEqual(reasons(), ["configuration"]);
  alerts.clear("configuration", "0.0.1");
  assert.deepEqual(reasons(), []);
});

test("a message that the mirror node leaves out is told after a minute, by topic, until it is there", () => {
  let now = 0;
  const alerts = createPublishingAlerts(silentLogger, createMetrics(), () => now);
  const subjects = () => alerts.raised().map(({ subject }) => subject);
  for (const [at, whole, expected] of [
    [0, false, []],
    [30_000, true, []],
    [59_999, false, []],
    [119_998, false, []],
    [119_999, false, ["reading 0.0.1"]],
    [119_999, true, []],
  ] as const) {
    now = at;
    alerts.topicRead("0.0.1", whole);
    alerts.topicRead("0.0.2", true);
    assert.deepEqual(subjects(), expected, `${at}`);
  }
});

test.run();
