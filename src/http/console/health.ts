import type { KnownProcess } from "../../store/service-report.ts";
import { atWorkOf, SILENT_AFTER_MS } from "../../upkeep/judge-reports.ts";
import type { VerdictCheck } from "../../upkeep/runbook.ts";
import type { Verdict } from "../../upkeep/service-verdict.ts";
import { duration, number } from "./amounts.ts";
import { type Content, html, type Mood } from "./markup.ts";
import { LAG_MINUTES, type Numbers } from "./numbers.ts";
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

/** A large number of the overview; the live stream sends it again when it changes. */
export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The page that shows more of it. */
  readonly page: string;
  /** Whether it is a worry; most figures are none. */
  readonly mood: Mood;
}

/** Figures as large numbers in a row; the page's script keeps those it knows by their key. */
export function figureList(
  figures: readonly (Pick<Figure, "label" | "value" | "note"> & Partial<Figure>)[],
): Content {
  return figures.map(
    ({ key = "", label, value, note, page, mood = "plain" }) =>
      html`<div class="figure ${mood}" data-figure-box="${key}">
<div class="label">${page === undefined ? label : html`<a href="${page}">${label}</a>`}</div>
<div class="value" data-figure="${key}">${value}</div>
<div class="note" data-figure-note="${key}">${note}</div>
</div>`,
  );
}

export function figuresOf(numbers: Numbers): readonly Figure[] {
  const { points, hour, lagSeconds, pending, oldestPendingSeconds } = numbers;
  const sumOf = (prefix: string): number =>
    [...hour].reduce((sum, [name, count]) => (name.startsWith(prefix) ? sum + count : sum), 0);
  // A star that waits has no lag yet; it is this long at least.
  const waitsLonger =
    oldestPendingSeconds !== null && !(lagSeconds !== null && oldestPendingSeconds <= lagSeconds);
  const lag = waitsLonger ? oldestPendingSeconds : lagSeconds;
  const lagMean =
    lagSeconds === null ? "" : `; mean of ${LAG_MINUTES} min: ${duration(lagSeconds * 1_000)}`;
  // The running minute is still filling: the one before it is whole.
  const whole = points.at(-2)?.[1] ?? 0;
  const processesThat = (mood: Mood) =>
    numbers.processes.filter((process) => processHealth(process, numbers.at).mood === mood);
  const atWork = processesThat("good");
  const lost = processesThat("bad").length;
  const workers = atWork.filter(({ role }) => role === "worker").length;
  const publishingMood = publishingHealth(numbers.verdict).mood;
  return [
    {
      key: "stars",
      label: "Stars per minute",
      value: number(whole),
      note: `${number(sumOf("accepted "))} in the last hour`,
      page: "/ops/stars",
      mood: "plain",
    },
    {
      key: "refusals",
      label: "Refused, last hour",
      value: number(sumOf("refused ")),
      note: `and ${number(sumOf("limited "))} by rate limits`,
      page: "/ops/feed",
      mood: "plain",
    },
    {
      key: "lag",
      label: "Publish lag",
      value: lag === null ? "–" : duration(lag * 1_000),
      note: waitsLonger
        ? `and more: the oldest still waits${lagMean}`
        : `mean of ${LAG_MINUTES} min`,
      page: "/ops/publishing",
      mood: publishingMood,
    },
    {
      key: "pending",
      label: "Waiting to be published",
      value: number(pending),
      note:
        oldestPendingSeconds === null
          ? "nothing waits"
          : `the oldest for ${duration(oldestPendingSeconds * 1_000)}`,
      page: "/ops/publishing",
      mood: publishingMood,
    },
    {
      key: "processes",
      label: "Processes at work",
      value: number(atWork.length),
      note: `${number(atWork.length - workers)} web, ${number(workers)} worker${lost === 0 ? "" : `, ${number(lost)} lost`}`,
      page: "/ops#processes",
      mood: lost > 0 || judged(numbers.verdict, "processes").mood === "bad" ? "bad" : "plain",
    },
  ];
}
