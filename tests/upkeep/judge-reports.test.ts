/** What the processes report, judged: each kind of process needs the mirror node for itself, and a restart needs no person. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { KnownProcess } from "../../src/store/service-report.ts";
import { judgeReports } from "../../src/upkeep/judge-reports.ts";

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

const known = (
  role: KnownProcess["role"],
  report: Partial<KnownProcess["report"]> = {},
  rest: Partial<KnownProcess> = {},
): KnownProcess => ({
  ...{ id: role, role, version: "0", host: "h", pid: 1, startedAt: NOW - 10 * MINUTE },
  ...{ seenAt: NOW, stoppedAt: null, ...rest },
  report: {
    ...{ memoryMb: 1, postgresMs: 1, redisMs: 1, mirrorMs: null, mirrorBehindMs: null, ...report },
  },
});
const seen = (role: KnownProcess["role"], mirrorAwaySince: number | null): KnownProcess =>
  known(role, { mirrorAwaySince });
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

/** Since when the checks that fail do. */
const failing = (...processes: readonly KnownProcess[]) =>
  Object.entries(judgeReports(processes, NOW)).flatMap(([name, { fix, since }]) =>
    fix === null ? [] : [[name, since]],
  );

test("a kind of process is missed once none of it has reported for a minute, and not before its first report", () => {
  const web = known("web");
  const silent = (ms: number, rest: Partial<KnownProcess> = {}) =>
    known("worker", {}, { seenAt: NOW - ms, ...rest });
  assert.deepEqual(failing(web), []);
  assert.deepEqual(failing(web, silent(MINUTE)), []);
  assert.deepEqual(failing(web, silent(MINUTE + 1)), [["processes", NOW - MINUTE - 1]]);
  assert.deepEqual(failing(web, silent(10 * MINUTE), silent(MINUTE)), []);
  const stopped = silent(2 * MINUTE, { stoppedAt: NOW - 2 * MINUTE });
  assert.deepEqual(failing(web, stopped), [["processes", NOW - 2 * MINUTE]]);
});

test("what a process saw counts while it reports, and since the first of its kind saw it", () => {
  const [early, late] = [NOW - 9 * MINUTE, NOW - 8 * MINUTE];
  for (const [name, trouble] of [
    ["postgres", "databaseFullSince"],
    ["redis", "redisMayEvictSince"],
    ["redis", "redisAwaySince"],
  ] as const) {
    const one = known("web", { [trouble]: late });
    assert.deepEqual(failing(one, known("web", { [trouble]: early })), [[name, early]]);
    const silent = known("web", { [trouble]: early }, { seenAt: NOW - 30_001 });
    const stopped = known("web", { [trouble]: early }, { stoppedAt: NOW });
    assert.deepEqual(failing(known("web"), silent, stopped), []);
  }
  assert.deepEqual(failing(known("web", { redisAwaySince: NOW - MINUTE })), []);
  const behind = (mirrorBehindMs: number) => known("web", { mirrorBehindMs });
  assert.deepEqual(failing(behind(2 * MINUTE)), []);
  assert.deepEqual(failing(behind(0), behind(2 * MINUTE + 1)), [["mirror", NOW - 2 * MINUTE - 1]]);
});

test("the balance is low where the newest look at it says so", () => {
  const looked = (lowSince: number | null, ago: number) => {
    const operator = { account: "0.0.2", balance: 1, perMessage: 1, starsPerDay: 1, lowSince };
    return known("worker", { operator }, { seenAt: NOW - ago });
  };
  const since = NOW - MINUTE;
  assert.deepEqual(failing(looked(since, 2), looked(null, 1)), []);
  assert.deepEqual(failing(looked(null, 2), looked(since, 1)), [["balance", since]]);
});

test.run();
