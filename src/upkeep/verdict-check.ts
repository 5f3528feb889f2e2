import { instant } from "../../actors/day.ts";
import { runbookEntry, runbookPath } from "./runbook.ts";

/** What the verdict judges, each with an entry of its own in the runbook. */
export type CheckName =
  | "processes"
  | "postgres"
  | "redis"
  | "mirror"
  | "balance"
  | "alarms"
  | "findings"
  | "publishing"
  | "rewards"
  | "exports"
  | "holdings-check";

/** One thing that is well, or what is wrong with it. */
export interface VerdictCheck {
  readonly name: CheckName;
  readonly ok: boolean;
  /** One sentence, for people. */
  readonly message: string;
  /** RFC 3339, UTC: since when it is wrong; null while it is well, or where that is not known. */
  readonly since: string | null;
  /** What the service does until somebody comes; null while it is well. */
  readonly meanwhile: string | null;
  /** What an operator can do; null while it is well. */
  readonly fix: string | null;
  /** Where more of it stands: a path in the repository with an anchor; null while it is well. */
  readonly runbook: string | null;
}

/** Nothing is wrong. */
export function well(name: CheckName, message: string): VerdictCheck {
  return { name, ok: true, message, since: null, meanwhile: null, fix: null, runbook: null };
}

/** @param since epoch milliseconds */
export function wrong(
  name: CheckName,
  given: { readonly message: string; readonly since: number | null; readonly fix: string },
): VerdictCheck {
  const since = given.since === null ? null : instant(given.since);
  const { meanwhile } = runbookEntry(name);
  return { name, ok: false, ...given, since, meanwhile, runbook: runbookPath(name) };
}

/** A count with its noun: `1 star`, `2 stars`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
