/** What the processes report of the mirror node, judged: each kind of process needs it for itself. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { KnownProcess } from "../../src/store/service-report.ts";
import { judgeReports } from "../../src/upkeep/judge-reports.ts";

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

const seen = (role: KnownProcess["role"], mirrorAwaySince: number | null): KnownProcess => ({
  ...{ id: role, role, version: "0", host: "h", pid: 1, startedAt: NOW - 10 * MINUTE },
  ...{ seenAt: NOW, stoppedAt: null },
  report: {
    ...{ memoryMb: 1, postgresMs: 1, redisMs: 1, mirrorMs: null, mirrorBehindMs: null },
    mirrorAwaySince,
  },
});
const judged = (...known: readonly KnownProcess[]) => judgeReports(known, NOW).mirror;

test("a mirror node that answers no process of a kind for a minute is away", () => {
  const since = NOW - 2 * MINUTE;
  for (const [known, said] of [
    [[seen("web", since), seen("worker", null)], "the mirror node answers no web process"],
    [[seen("web", null), seen("worker", since)], "the mirror node answers no worker"],
    [
      [seen("web", since), seen("worker", since)],
      "the mirror node answers no web process and no worker",
    ],
  ] as const) {
    const { message, fix, since: wrongSince } = judged(...known);
    assert.deepEqual([message, fix === null, wrongSince], [said, false, since]);
  }
});

test("one that answers some of a kind is not, nor one that was away for less", () => {
  const since = NOW - 2 * MINUTE;
  for (const known of [
    [seen("web", since), seen("web", null), seen("worker", null)],
    [seen("web", NOW - MINUTE), seen("worker", NOW - MINUTE)],
    [],
  ])
    assert.equal(judged(...known).fix, null);
});

test.run();
