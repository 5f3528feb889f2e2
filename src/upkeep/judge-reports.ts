import { counted } from "../counted.ts";
import { hbarText } from "../ledger/operator-account.ts";
import type { KnownProcess, ServiceProcess, Trouble } from "../store/service-report.ts";
import { type Finding, well, wrong } from "./finding.ts";
import { daysLeft, starsLeft } from "./operator-balance.ts";

/** Reports that did not come, six in a row. */
export const SILENT_AFTER_MS = 30_000;
/** A restart, or a short outage, needs no person. */
const PATIENCE_MS = 60_000;
/** A public mirror node is some seconds behind the ledger. */
export const MIRROR_BEHIND_MS = 120_000;

const START = { web: "starboard serve", worker: "starboard work" } as const;
const ROLES = ["web", "worker"] as const;
const CALLED = { web: "web process", worker: "worker" } as const;

/**
 * What the processes report of themselves and of what they reach, as checks of the verdict by their names.
 *
 * @param known every process that reported lately, those that stopped included
 */
export function judgeReports(known: readonly KnownProcess[], now: number) {
  const atWork = atWorkOf(known, now);
  return {
    processes: judgeProcesses(known, atWork, now),
    postgres: judgePostgres(atWork),
    redis: judgeRedis(atWork, now),
    mirror: judgeMirror(atWork, now),
    balance: judgeBalance(atWork),
  };
}

/** The processes that reported lately and did not stop. */
export function atWorkOf(known: readonly KnownProcess[], now: number): readonly KnownProcess[] {
  return known.filter(
    ({ seenAt, stoppedAt }) => stoppedAt === null && now - seenAt <= SILENT_AFTER_MS,
  );
}

/** A kind of process that never reported is not missed. */
function judgeProcesses(
  known: readonly KnownProcess[],
  atWork: readonly KnownProcess[],
  now: number,
): Finding {
  const missing = ROLES.flatMap((role) => {
    if (atWork.some((process) => process.role === role)) return [];
    const seen = known.filter((process) => process.role === role).map(({ seenAt }) => seenAt);
    const lastSeen = Math.max(...seen);
    return seen.length > 0 && now - lastSeen > PATIENCE_MS ? [{ role, lastSeen }] : [];
  });
  if (missing.length === 0)
    return well(`${counted(atWork.length, "process report")} of the last 30 s`);
  return wrong(
    `no ${missing.map(({ role }) => CALLED[role]).join(" and no ")} has reported for a minute`,
    `start ${missing.map(({ role }) => `\`${START[role]}\``).join(" and ")}`,
    Math.min(...missing.map(({ lastSeen }) => lastSeen)),
  );
}

/** Where Postgres does not answer, there is nothing else to judge by. */
export function judgePostgresAway(): Finding {
  return wrong(
    "Postgres does not answer: it is down, out of reach, or its log found no room",
    "its own log says why; see that its disk has room",
  );
}

function judgePostgres(atWork: readonly KnownProcess[]): Finding {
  const full = sinceOf(atWork, "web", "databaseFullSince");
  if (full === null) return well("Postgres has room for stars");
  return wrong(
    "Postgres has no room: the last star found its disk full",
    "make room on its disk; the next star that is stored clears this",
    full,
  );
}

function judgeRedis(atWork: readonly KnownProcess[], now: number): Finding {
  const evicting = sinceOf(atWork, "web", "redisMayEvictSince");
  if (evicting !== null) {
    return wrong(
      "Redis may evict: queued rewards could vanish",
      "`redis-cli config set maxmemory-policy noeviction`",
      evicting,
    );
  }
  const away = sinceOf(atWork, "web", "redisAwaySince");
  if (away === null || now - away <= PATIENCE_MS) return well("Redis is as it should be");
  return wrong(
    "Redis does not answer",
    "start Redis; `starboard doctor` says how it is reached",
    away,
  );
}

function judgeMirror(atWork: readonly KnownProcess[], now: number): Finding {
  // Without it web processes take no stars, and workers confirm none.
  const cutOff = ROLES.flatMap((role) => {
    const reports = atWork.filter((process) => process.role === role).map(({ report }) => report);
    const away = reports.flatMap(({ mirrorAwaySince }) => mirrorAwaySince ?? []);
    const since = Math.min(...away);
    const isAway = away.length > 0 && away.length === reports.length && now - since > PATIENCE_MS;
    return isAway ? [{ role, since }] : [];
  });
  if (cutOff.length > 0) {
    return wrong(
      `the mirror node answers no ${cutOff.map(({ role }) => CALLED[role]).join(" and no ")}`,
      "see MIRROR_NODE_URL, and that it is reached from there; a second one, after a comma, stands in",
      Math.min(...cutOff.map(({ since }) => since)),
    );
  }
  const behind = Math.max(0, ...atWork.map(({ report }) => report.mirrorBehindMs ?? 0));
  if (behind <= MIRROR_BEHIND_MS) return well("the mirror node keeps up");
  return wrong(
    `the mirror node is ${counted(Math.round(behind / 60_000), "minute")} behind`,
    "see the provider's status page; name another one too in MIRROR_NODE_URL",
    now - behind,
  );
}

function judgeBalance(atWork: readonly KnownProcess[]): Finding {
  const [newest] = atWork
    .filter(({ report }) => report.operator)
    .toSorted((one, other) => other.seenAt - one.seenAt);
  const operator = newest?.report.operator;
  if (!operator) return well("no worker has reported it yet");
  const days = daysLeft(operator);
  const pace = days === null ? "" : `, ${counted(Math.floor(days), "day")} at the last day's pace`;
  const stars = counted(starsLeft(operator), "star");
  const message = `${operator.account} holds ${hbarText(operator.balance)}: ${stars}${pace}`;
  if (operator.lowSince === null) return well(message);
  return wrong(message, `send HBAR to ${operator.account}`, operator.lowSince);
}

/** Since when the first process of a role sees a trouble; null where none does. */
export function sinceOf(
  atWork: readonly KnownProcess[],
  role: ServiceProcess["role"],
  trouble: Trouble,
): number | null {
  const seen = atWork.flatMap((process) =>
    process.role === role ? (process.report[trouble] ?? []) : [],
  );
  return seen.length === 0 ? null : Math.min(...seen);
}
