import * as assert from "node:assert/strict";
import { test } from "uvu";
import { shownJob } from "../../src/store/queue-job.ts";

test("a reason of any length is shown in part", () => {
  const job = {
    id: "1",
    name: "star",
    timestamp: 0,
    delay: 0,
    attemptsMade: 1,
    opts: {},
    failedReason: "no ".repeat(1_000_000),
    stacktrace: [],
    data: { note: "so ".repeat(1_000_000) },
  };
  const shown = shownJob(job, "failed");
  assert.equal(shown.failure, `${job.failedReason.slice(0, 1_000)}…`);
  assert.deepEqual(shown.data, { note: `${job.data.note.slice(0, 1_000)}…` });
  assert.equal(shownJob({ ...job, failedReason: "" }, "failed").failure, null);
});

test.run();
