import { DAY_MS, type Day, dayOf, endOfDay, instant, startOfDay } from "../../actors/day.ts";
import { counted } from "../counted.ts";
import { RetryableError } from "../errors.ts";
import { type ExportAlarms, exportAlarms, lastFinalDay } from "../journal/export-days.ts";
import { type PublishingState, publishingState } from "../publishing/publishing-state.ts";
import { oldestOpenFinding } from "../publishing/reconciliation-findings.ts";
import { type ListedCheck, listChecks } from "../reads/console-holdings.ts";
import { readDatabaseClock, type Sql } from "../store/postgres.ts";
import { type KnownProcess, readProcesses } from "../store/service-report.ts";
import { type Finding, well, wrong } from "./finding.ts";
import { atWorkOf, judgePostgresAway, judgeReports, sinceOf } from "./judge-reports.ts";
import { type PendingRewards, pendingRewards } from "./reward-hand-off.ts";
import { type VerdictCheck, verdictCheck } from "./runbook.ts";

/** Whether the service does its work (contract, section 7: `status` and `/ops/api/health`). */
export interface Verdict {
  readonly ok: boolean;
  readonly checks: readonly VerdictCheck[];
}

/** Publishing and hand-off take seconds: "alarm when the oldest is more than a minute old". */
const LATE_SECONDS = 60;
/** A day is final seconds after its last star is published; a busy worker may take longer. */
const EXPORT_LATE_MS = 30 * 60_000;
/** A day's check starts at 00:00 UTC and takes minutes. */
const CHECK_LATE_MS = 3_600_000;

/** More than overlap: a day's run goes on beside those by hand. */
const RUNS_JUDGED = 10;

/** A check that is made wherever Postgres answers. */
const ANSWERED = "publishing";

/** Whether Postgres did not answer, and nothing else could be judged. */
export function isAway({ checks }: Verdict): boolean {
  return !checks.some(({ name }) => name === ANSWERED);
}

/**
 * The one verdict: console, `/ops/api/health` and `starboard status` say the same, since this alone
 * judges. All of it is read from Postgres, and every age is by its clock; where Postgres does not
 * answer, that is all there is to say.
 */
export async function readVerdict(sql: Sql): Promise<Verdict> {
  try {
    return await judgeAll(sql);
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    return { ok: false, checks: [verdictCheck("postgres", judgePostgresAway())] };
  }
}

async function judgeAll(sql: Sql): Promise<Verdict> {
  const [now, processes, publishing, findingAt, rewards, exports, lastFinal, check] =
    await Promise.all([
      readDatabaseClock(sql),
      readProcesses(sql, 0),
      publishingState(sql),
      oldestOpenFinding(sql),
      pendingRewards(sql),
      exportAlarms(sql),
      lastFinalDay(sql),
      lastCheck(sql),
    ]);
  const atWork = atWorkOf(processes, now);
  const stuckSince = sinceOf(atWork, "worker", "rewardsStuckSince");
  const failSince = sinceOf(atWork, "worker", "exportsFailSince");
  const found = {
    alarms: judgeAlarms(publishing),
    findings: judgeFindings(publishing, findingAt),
    [ANSWERED]: judgePublishing(publishing, now),
    rewards: judgeRewards(rewards, stuckSince, now),
    exports: judgeExports(exports, { failSince, lastFinal }, now),
    "holdings-check": judgeHoldingsCheck(check, processes, now),
    ...judgeReports(processes, now),
  };
  const checks = Object.entries(found).map(([name, finding]) => verdictCheck(name, finding));
  return { ok: checks.every(({ ok }) => ok), checks };
}

function judgeAlarms({ alarms }: PublishingState): Finding {
  if (alarms.length === 0) return well("no worker has an alarm");
  return wrong(
    alarms
      .map(({ reason, subject, detail }) => [reason, subject, detail].filter(Boolean).join(": "))
      .join("; "),
    isBehind(alarms)
      ? BEHIND_FIX
      : "cure what the alarm names; `starboard doctor` checks nodes, key, balance and topics",
    Math.min(...alarms.map(({ raisedAt }) => raisedAt)),
  );
}

/** Whether stars are refused because the journal lacks others. */
function isBehind(alarms: PublishingState["alarms"]): boolean {
  return alarms.some(({ reason }) => reason === "journal-behind");
}

const BEHIND_FIX =
  "`starboard journal recover` brings the lost stars back, `starboard journal accept-loss` goes on without them";

function judgeFindings({ findings, alarms }: PublishingState, since: number | null): Finding {
  if (findings === 0) return well("outbox and topics agree");
  return wrong(
    `outbox and topics differ in ${counted(findings, "place")}`,
    isBehind(alarms)
      ? BEHIND_FIX
      : "look at each by `starboard publishing status`, then `starboard publishing resolve ID`",
    since,
  );
}

function judgePublishing(state: PublishingState, now: number): Finding {
  const age = state.oldestPendingSeconds ?? 0;
  const waiting = `${counted(state.pending, "star")} to be published`;
  if (age <= LATE_SECONDS) return well(waiting);
  return wrong(
    `${waiting}, the oldest for ${Math.round(age)} s`,
    "see that a worker runs (`starboard work`) and reaches the ledger",
    now - age * 1_000,
  );
}

/** @param stuckSince since when the queue takes no stars though Redis answers; null where it does */
function judgeRewards(rewards: PendingRewards, stuckSince: number | null, now: number): Finding {
  const age = rewards.oldestPendingSeconds ?? 0;
  const waiting = `${counted(rewards.pending, "star")} to be offered to rewards`;
  if (!rewards.isStarted) return well(`${waiting}; no hand-off has taken place yet`);
  const isLate = age > LATE_SECONDS;
  if (!isLate && stuckSince === null) return well(waiting);
  return wrong(
    `${waiting}, ${isLate ? `the oldest for ${Math.round(age)} s` : "and the queue takes none"}`,
    "see that a worker runs and reaches Redis, and that the queue `rewards` is consumed",
    stuckSince ?? now - age * 1_000,
  );
}

/**
 * A day that became final by a clock that was ahead takes no star.
 *
 * @returns undefined where today is not final
 */
function judgeFinalDay(lastFinal: Day | null, now: number): Finding | undefined {
  if (lastFinal === null || lastFinal < dayOf(now)) return undefined;
  return wrong(
    `${lastFinal} is final, and not over by Postgres' clock: no star is taken before ${instant(endOfDay(lastFinal))}`,
    "see that Postgres' clock is right: it was ahead, or is behind now",
  );
}

/** @param failSince since when a worker cannot make days final; null where none fails */
function judgeExports(
  { differing, overdue }: ExportAlarms,
  { failSince, lastFinal }: { readonly failSince: number | null; readonly lastFinal: Day | null },
  now: number,
): Finding {
  if (differing > 0) {
    return wrong(
      `the journal of ${counted(differing, "final day")} was changed`,
      "compare `/exports` with earlier copies; the worker's log names each day",
    );
  }
  const early = judgeFinalDay(lastFinal, now);
  if (early !== undefined) return early;
  const since = startOfDay(dayOf(now)) - (overdue - 1) * DAY_MS;
  if (overdue === 0 || now - since <= EXPORT_LATE_MS) {
    if (failSince === null) return well("each day that is over is final");
    return wrong(
      "a worker fails to make days final, or to check those that are",
      "the worker's log says why: `exports could not be made final`",
      failSince,
    );
  }
  return wrong(
    `${counted(overdue, "day")} of the journal not final yet`,
    "see that a worker runs, and that each star of that day is published",
    since,
  );
}

/**
 * The holdings check that is judged, the one that ended last: what a run left open may be done by
 * another that began before it. One that still runs ends last.
 *
 * @returns undefined where there was none
 */
export async function lastCheck(sql: Sql): Promise<ListedCheck | undefined> {
  const runs = await listChecks(sql, { before: undefined, limit: RUNS_JUDGED });
  const endOf = ({ finishedAt }: ListedCheck): number => finishedAt ?? Number.POSITIVE_INFINITY;
  return runs.reduce<ListedCheck | undefined>(
    (last, run) => (last === undefined || endOf(run) > endOf(last) ? run : last),
    undefined,
  );
}

function judgeHoldingsCheck(
  check: ListedCheck | undefined,
  processes: readonly KnownProcess[],
  now: number,
): Finding {
  const fix = "see that the mirror node answers, then `starboard holdings-check run`";
  const fail = (message: string, since: number) => wrong(message, fix, since);
  if (check === undefined) {
    // A worker begins one within seconds of its start.
    const workers = processes.filter(({ role }) => role === "worker");
    const waited = workers.filter(({ startedAt, seenAt }) => seenAt - startedAt > CHECK_LATE_MS);
    if (waited.length === 0) return well("none yet; it runs daily at 00:00 UTC");
    const since = Math.min(...waited.map(({ startedAt }) => startedAt));
    return fail("none yet, though a worker has been up for an hour", since);
  }
  const { state, deferred, startedAt } = check;
  if (deferred > 0) return fail(`${counted(deferred, "part")} left open`, startedAt);
  if (state === "incomplete") return fail("the last run ended with parts left open", startedAt);
  if (state === "running" && now - startedAt > CHECK_LATE_MS) {
    return fail("the last run has not ended", startedAt);
  }
  if (now - startedAt > DAY_MS + CHECK_LATE_MS) {
    return fail("no run for more than a day", startedAt + DAY_MS);
  }
  return well("the last run ended in order");
}
