import { hostname } from "node:os";
import { uuidv7 } from "uuidv7";
import type { Clock } from "../clock.ts";
import type { ReadLimits } from "../ledger/mirror/limits.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { pendingPublications } from "../publishing/outbox.ts";
import { every, type Service } from "../service.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { evictionPolicy, type Redis } from "../store/redis.ts";
import {
  forgetReports,
  type MetricDelta,
  type OperatorReport,
  type ProcessReport,
  type ServiceProcess,
  webProcessesSince,
  writeReport,
  writeStop,
} from "../store/service-report.ts";
import { SILENT_AFTER_MS } from "./judge-reports.ts";
import { metricDeltas } from "./metric-deltas.ts";
import { createTroubles, type Troubles } from "./troubles.ts";

export interface ReportDeps {
  readonly role: ServiceProcess["role"];
  readonly version: string;
  readonly sql: Sql;
  /** Absent where this process has no connection to Redis of its own. */
  readonly redis?: Redis;
  readonly mirror: MirrorNode;
  /** What this process needs of the mirror node besides: one that fails at it is away. */
  readonly askMirror?: (limits: ReadLimits) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly countActors?: () => number;
  /** Also what this process meets by its own work; a change is reported at once. */
  readonly troubles?: Troubles;
  /** A worker's look at the account that pays. */
  readonly lookAtOperator?: () => Promise<OperatorReport | null>;
}

/** A person sees a trouble within 15 s; waiting for the report is the longest part of that. */
const REPORT_EVERY_MS = 5_000;
/** By then connections are open, so the first report is true. */
const FIRST_AFTER_MS = 1_000;
/** A day and an hour: charts show an hour, people ask about yesterday. */
const KEPT_MS = 25 * 3_600_000;
const FORGET_EVERY_MS = 600_000;
/** A server that does not answer within this counts as away. */
const PROBE_MS = 2_000;

/**
 * Reports every five seconds that this process lives, what it sees of the others, and what it
 * counted: what the console shows of all processes comes from here. Best effort: counts of a
 * process that is killed are lost for up to five seconds, and none of it ever holds up a star.
 *
 * @returns says how many web processes reported lately, at least 1 and as last known; says that
 *   this process stops when it is closed
 */
export function startProcessReport(deps: ReportDeps): Service & { webProcesses(): number } {
  const { sql, clock, log, troubles = createTroubles(clock) } = deps;
  const self: ServiceProcess = {
    id: uuidv7(),
    role: deps.role,
    version: deps.version,
    host: hostname(),
    pid: process.pid,
    startedAt: clock.now(),
  };
  const readDeltas = metricDeltas(deps.metrics, deps.role);
  const outage = oncePerOutage(log, "this process could not report itself");
  let forgottenAt = 0;
  let webProcesses = 1;
  const report = async (): Promise<void> => {
    const seen = await look(deps, troubles);
    const report = { ...seen, ...troubles.standing() };
    const counted = await readDeltas();
    const deltas = [...counted.deltas];
    if (report.mirrorMs !== null) deltas.push({ name: "mirror", count: 1, total: report.mirrorMs });
    if (deps.role === "web") deltas.push(await sampleQueue(sql));
    const now = clock.now();
    await writeReport(sql, self, { now, report, deltas });
    counted.written();
    webProcesses = Math.max(1, await webProcessesSince(sql, now - SILENT_AFTER_MS));
    outage.over();
    if (now - forgottenAt < FORGET_EVERY_MS) return;
    forgottenAt = now;
    await forgetReports(sql, now - KEPT_MS);
  };
  const reporting = every(REPORT_EVERY_MS, report, {
    onFailure: outage.failed,
    firstAfterMs: FIRST_AFTER_MS,
  });
  troubles.listen(reporting.wake);
  return {
    webProcesses: () => webProcesses,
    async close() {
      await reporting.close();
      await writeStop(sql, self.id, clock.now()).catch(() => undefined);
    },
  };
}

async function look(
  { sql, redis, mirror, askMirror, clock, countActors, lookAtOperator }: ReportDeps,
  troubles: Troubles,
): Promise<ProcessReport> {
  let blockAt: number | null = null;
  let redisMayEvict = false;
  const [postgresMs, redisMs, mirrorMs, operator] = await Promise.all([
    timed(() => runStatement(sql`select 1`)),
    redis === undefined
      ? null
      : timed(async () => {
          redisMayEvict = (await evictionPolicy(redis, PROBE_MS)) !== "noeviction";
        }),
    timed(async () => {
      const limits = { deadlineMs: PROBE_MS, background: true };
      const [block] = await Promise.all([mirror.newestBlock(limits), askMirror?.(limits)]);
      blockAt = block === null ? null : Number(block.to) * 1_000;
    }),
    lookAtOperator?.() ?? null,
  ]);
  troubles.note("redisAwaySince", redis !== undefined && redisMs === null);
  troubles.note("redisMayEvictSince", redisMayEvict);
  troubles.note("mirrorAwaySince", mirrorMs === null);
  return {
    ...(countActors && { actors: countActors() }),
    memoryMb: Math.round(process.memoryUsage.rss() / 1_048_576),
    postgresMs,
    redisMs,
    mirrorMs,
    mirrorBehindMs: blockAt === null ? null : Math.max(0, Math.round(clock.now() - blockAt)),
    ...(operator && { operator }),
  };
}

/** @returns milliseconds, to a tenth; null when it failed */
async function timed(work: () => PromiseLike<unknown>): Promise<number | null> {
  const startedAt = performance.now();
  try {
    await work();
    return Math.round((performance.now() - startedAt) * 10) / 10;
  } catch {
    return null;
  }
}

async function sampleQueue(sql: Sql): Promise<MetricDelta> {
  const { pending } = await pendingPublications(sql);
  return { name: "pending", count: 1, peak: pending };
}
