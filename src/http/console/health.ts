import type { KnownProcess } from "../../store/service-report.ts";
import { atWorkOf, SILENT_AFTER_MS } from "../../upkeep/judge-reports.ts";
import type { VerdictCheck } from "../../upkeep/runbook.ts";
import type { Verdict } from "../../upkeep/service-verdict.ts";
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
  /** The page that shows more of it. */
  readonly page: string;
}

/** A mirror node shows a star's message some seconds after its consensus. */
const BEHIND_MS = 30_000;

/** On the Overview itself. */
const PROCESSES = "/ops#processes";
const BALANCE = "/ops/alarms#balance";

/**
 * The state of the service and of what it depends on, as the overview shows it; the live stream sends it again.
 *
 * @param network a local ledger's mirror node may fall behind without harm
 */
export function healthOf(numbers: Numbers, network: string): readonly NamedHealth[] {
  const { verdict } = numbers;
  return [
    {
      key: "postgres",
      name: "Postgres",
      page: PROCESSES,
      ...noBetter(seenBy(numbers, "postgresMs"), judged(verdict, "postgres", "full")),
    },
    {
      key: "redis",
      name: "Redis",
      page: PROCESSES,
      ...noBetter(seenBy(numbers, "redisMs", "web"), judged(verdict, "redis", "may evict")),
    },
    {
      key: "mirror",
      name: "Mirror node",
      page: PROCESSES,
      ...noBetter(mirrorHealth(numbers, network), judged(verdict, "mirror", "behind")),
    },
    {
      key: "publishing",
      name: "Publishing",
      page: "/ops/publishing",
      ...publishingHealth(verdict),
    },
    { key: "rewards", name: "Rewards", page: "/ops/queues", ...judged(verdict, "rewards") },
    { key: "exports", name: "Exports", page: "/exports", ...judged(verdict, "exports") },
    {
      key: "balance",
      name: "Operator account",
      page: BALANCE,
      ...judged(verdict, "balance", "low"),
    },
    { key: "check", name: "Holdings check", page: "/ops/holdings", ...checkHealth(numbers) },
  ];
}

/** Whether a process reports; one that stopped in order is no worry. */
export function processHealth(process: KnownProcess, now: number): Health {
  const { stoppedAt, seenAt } = process;
  if (stoppedAt !== null) return { mood: "plain", word: "stopped", note: "" };
  if (now - seenAt > SILENT_AFTER_MS) return { mood: "bad", word: "lost", note: "" };
  return { mood: "good", word: "at work", note: "" };
}

/** A dependency, as the processes at work see it. Workers reach Redis through their queue and report nothing of it. */
function seenBy(numbers: Numbers, of: "postgresMs" | "redisMs", by?: KnownProcess["role"]): Health {
  const seen = atWorkOf(numbers.processes, numbers.at)
    .filter(({ role }) => by === undefined || role === by)
    .map(({ report }) => report[of]);
  if (seen.length === 0) return { mood: "warn", word: "unknown", note: "no process reports" };
  const answers = seen.filter((ms): ms is number => ms !== null);
  if (answers.length < seen.length) {
    const missing = seen.length - answers.length;
    return { mood: "bad", word: "away", note: `for ${missing} of ${seen.length} processes` };
  }
  return { mood: "good", word: "ok", note: `answers in ${duration(Math.max(...answers))}` };
}

/** No better than the verdict, which also knows what no round trip shows. */
function noBetter(seen: Health, judgement: Health): Health {
  if (seen.mood === "bad" || judgement.mood !== "bad") return seen;
  return seen.mood === "good" ? judgement : { ...judgement, word: seen.word };
}

/** @param network a local ledger makes blocks only when something happens on it */
export function mirrorHealth(numbers: Numbers, network: string): Health {
  const seen = atWorkOf(numbers.processes, numbers.at).map(({ report }) => report);
  if (seen.length === 0) return { mood: "warn", word: "unknown", note: "no process reports" };
  const answered = seen.flatMap(({ mirrorMs }) => (mirrorMs === null ? [] : [mirrorMs]));
  if (answered.length === 0) return { mood: "bad", word: "away", note: "it answers no process" };
  const behind = Math.max(...seen.map(({ mirrorBehindMs }) => mirrorBehindMs ?? 0));
  const note = `answers in ${duration(Math.max(...answered))}, newest block ${duration(behind)} old`;
  if (answered.length < seen.length) return { mood: "warn", word: "unsteady", note };
  if (behind > BEHIND_MS && network !== "local") return { mood: "warn", word: "behind", note };
  return { mood: "good", word: "ok", note };
}

/** Publishing is well where no worker has an alarm, the topics agree and no star is late. */
export function publishingHealth(verdict: Verdict): Health {
  const alarms = checkOf(verdict, "alarms");
  const findings = checkOf(verdict, "findings");
  const publishing = checkOf(verdict, "publishing");
  if (alarms?.ok === false) return { mood: "bad", word: "needs a person", note: alarms.message };
  if (publishing?.ok === false) return { mood: "bad", word: "late", note: publishing.message };
  if (findings?.ok === false) return { mood: "warn", word: "differs", note: findings.message };
  return { mood: "good", word: "ok", note: publishing?.message ?? "" };
}

function checkOf({ checks }: Verdict, name: VerdictCheck["name"]): VerdictCheck | undefined {
  return checks.find((check) => check.name === name);
}

/** One check of the verdict. @param word for one that fails */
export function judged(verdict: Verdict, name: VerdictCheck["name"], word = "late"): Health {
  const { ok, message: note = "" } = checkOf(verdict, name) ?? {};
  return ok === false ? { mood: "bad", word, note } : { mood: "good", word: "ok", note };
}

function checkHealth({ check, at, verdict }: Numbers): Health {
  const judgement = checkOf(verdict, "holdings-check");
  if (check === undefined)
    return { mood: "plain", word: "none yet", note: "it runs daily at 00:00 UTC" };
  const { kind, startedAt, state, removed, kept, deferred } = check;
  const word = checkWords(state);
  const when = `${kind === "manual" ? "by hand, " : ""}${duration(at - startedAt)} ago`;
  if (judgement?.ok === false) return { mood: "warn", word, note: `${when}; ${judgement.message}` };
  if (state === "skipped") return { mood: "plain", word, note: when };
  const found = `${number(removed)} removed, ${number(kept)} kept, ${number(deferred)} left open`;
  return { mood: "good", word, note: `${when}; ${found}` };
}
