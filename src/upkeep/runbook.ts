import { readFileSync } from "node:fs";
import { instant } from "../../actors/day.ts";
import { ownFile } from "../this-build.ts";
import type { Finding } from "./finding.ts";

/** What an alarm means to the person who is woken by it. */
export interface RunbookEntry {
  readonly title: string;
  readonly means: string;
  /** What the service does until somebody comes. */
  readonly meanwhile: string;
  /** In this order. */
  readonly todo: readonly string[];
}

/** The page that people read in the repository; a process reads it at its start. */
const PAGE = "docs/operating/alarms.md";
const ENTRY =
  /^<a id="(?<anchor>[a-z-]+)"><\/a>\n\n## (?<title>.+)\n\n(?<means>.+)\n\n\*\*Meanwhile:\*\* (?<meanwhile>.+)\n\n(?<todo>(?:(?:\d+\. | {3}).+\n)+)/gm;

/** The runbook: one entry for each check of the verdict and each alert of Prometheus, by its anchor. */
export const RUNBOOK: ReadonlyMap<string, RunbookEntry> = new Map(
  [...readFileSync(ownFile(PAGE), "utf8").matchAll(ENTRY)].map(({ groups = {} }) => {
    const { anchor = "", title = "", means = "", meanwhile = "", todo = "" } = groups;
    const steps = todo.trimEnd().replaceAll("\n   ", " ").split("\n");
    return [
      anchor,
      {
        title,
        means: withoutMarks(means),
        meanwhile: withoutMarks(meanwhile),
        todo: steps.map((step) => withoutMarks(step.replace(/^\d+\. /, ""))),
      },
    ];
  }),
);

/** The words of Markdown: links lose their addresses, code its marks. */
function withoutMarks(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
}

/** @throws Error where the runbook has no such entry */
export function runbookEntry(anchor: string): RunbookEntry {
  const entry = RUNBOOK.get(anchor);
  if (entry === undefined) throw new Error(`${PAGE} has no entry ${anchor}`);
  return entry;
}

/** Where the entry stands in the repository. */
export function runbookPath(anchor: string): string {
  return `${PAGE}#${anchor}`;
}

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
