import { instant } from "../../actors/day.ts";
import type { Finding } from "./finding.ts";
import { runbookEntry, runbookPath } from "./runbook.ts";

/** One thing that the verdict judges, by the name of its entry in the runbook. */
export interface VerdictCheck {
  readonly name: string;
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

export function verdictCheck(name: string, { message, fix, since }: Finding): VerdictCheck {
  const ok = fix === null;
  return {
    name,
    ok,
    message,
    since: since === null ? null : instant(since),
    meanwhile: ok ? null : runbookEntry(name).meanwhile,
    fix,
    runbook: ok ? null : runbookPath(name),
  };
}
