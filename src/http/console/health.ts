import type { KnownProcess } from "../../store/service-report.ts";
import { duration, type Mood, number } from "./markup.ts";
import type { Numbers } from "./numbers.ts";
import { checkWords } from "./words.ts";

/** How one thing is, in a word or two and a sentence. */
export interface Health {
  readonly mood: Mood;
  readonly word: string;
  readonly note: string;
}

export interface NamedHealth extends Health {
  readonly key: string;
  readonly name: string;
}

/** Three reports that did not come. */
const LOST_AFTER_MS = 30_000;
/** Publishing takes seconds; a minute is an alarm, five are trouble. */
const OLD_SECONDS = 60;
const STUCK_SECONDS = 300;
/** A mirror node shows a star's message some seconds after its consensus. */
const BEHIND_MS = 30_000;

/**
 * What the service stands on and does, as the overview tells it; the live stream sends it anew.
 *
 * @param network a local ledger's mirror node may fall behind without harm
 */
export function healthOf(numbers: Numbers, network: string): readonly NamedHealth[] {
  return [
    { key: "postgres", name: "Postgres", ...postgresHealth(numbers) },
    { key: "redis", name: "Redis", ...redisHealth(numbers) },
    { key: "mirror", name: "Mirror node", ...mirrorHealth(numbers, network) },
    { key: "publishing", name: "Publishing", ...publishingHealth(numbers) },
    { key: "check", name: "Holdings check", ...checkHealth(numbers) },
  ];
}

/** Whether a process reports; one that stopped in order is no worry. */
export function processHealth(process: KnownProcess, now: number): Health {
  const { stoppedAt, seenAt } = process;
  if (stoppedAt !== null) return { mood: "plain", word: "stopped", note: "" };
  if (now - seenAt > LOST_AFTER_MS) return { mood: "bad", word: "lost", note: "" };
  return { mood: "good", word: "at work", note: "" };
}

function atWork({ processes, at }: Numbers): readonly KnownProcess[] {
  return processes.filter((process) => processHealth(process, at).mood === "good");
}

/** A dependency, as the processes at work see it. */
function seenBy(
  numbers: Numbers,
  of: "postgresMs" | "redisMs",
  who: (process: KnownProcess) => boolean = () => true,
): Health {
  const seen = atWork(numbers)
    .filter(who)
    .map(({ report }) => report[of]);
  if (seen.length === 0) return { mood: "warn", word: "unknown", note: "no process reports" };
  const answers = seen.filter((ms): ms is number => ms !== null);
  if (answers.length < seen.length) {
    const missing = seen.length - answers.length;
    return { mood: "bad", word: "away", note: `for ${missing} of ${seen.length} processes` };
  }
  return { mood: "good", word: "ok", note: `answers in ${duration(Math.max(...answers))}` };
}

function postgresHealth(numbers: Numbers): Health {
  return seenBy(numbers, "postgresMs");
}

/** Workers reach Redis through their queue alone and tell nothing of it. */
function redisHealth(numbers: Numbers): Health {
  return seenBy(numbers, "redisMs", ({ role }) => role === "web");
}

/** @param network a local ledger makes blocks only when something happens on it */
export function mirrorHealth(numbers: Numbers, network: string): Health {
  const seen = atWork(numbers).map(({ report }) => report);
  if (seen.length === 0) return { mood: "warn", word: "unknown", note: "no process reports" };
  const answered = seen.flatMap(({ mirrorMs }) => (mirrorMs === null ? [] : [mirrorMs]));
  if (answered.length === 0) return { mood: "bad", word: "away", note: "it answers no process" };
  const behind = Math.max(...seen.map(({ mirrorBehindMs }) => mirrorBehindMs ?? 0));
  const note = `answers in ${duration(Math.max(...answered))}, newest block ${duration(behind)} old`;
  if (answered.length < seen.length) return { mood: "warn", word: "unsteady", note };
  if (behind > BEHIND_MS && network !== "local") return { mood: "warn", word: "behind", note };
  return { mood: "good", word: "ok", note };
}

export function publishingHealth({ pending, oldestPendingSeconds }: Numbers): Health {
  const age = oldestPendingSeconds ?? 0;
  const note = pending === 0 ? "nothing waits" : `the oldest for ${duration(age * 1_000)}`;
  if (age > STUCK_SECONDS) return { mood: "bad", word: "stuck", note };
  if (age > OLD_SECONDS) return { mood: "warn", word: "slow", note };
  return { mood: "good", word: "ok", note };
}

function checkHealth({ check, at }: Numbers): Health {
  if (check === null)
    return { mood: "plain", word: "none yet", note: "it runs daily at 00:00 UTC" };
  const when = `${check.kind === "manual" ? "by hand, " : ""}${duration(at - check.startedAt)} ago`;
  const found = `${number(check.removed)} removed, ${number(check.kept)} kept, ${number(check.deferred)} left open`;
  const note = check.state === "skipped" ? when : `${when}; ${found}`;
  const mood = check.state === "incomplete" || check.deferred > 0 ? "warn" : "good";
  return { mood: check.state === "skipped" ? "plain" : mood, word: checkWords(check.state), note };
}
