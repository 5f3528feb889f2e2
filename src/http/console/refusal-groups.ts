import { type Day, dayOf } from "../../../actors/day.ts";
import type { TrailedRefusal } from "../../journal/refusal-trail.ts";
import { type Html, html, moment, table } from "./markup.ts";
import { targetName } from "./pages/star-words.ts";
import { refusalWords } from "./words.ts";

/** Refusals of one day that are alike. */
export interface RefusalGroup {
  readonly day: Day;
  /** `<type>/<id>` */
  readonly target: string;
  readonly code: string;
  readonly count: number;
  /** Of the newest, epoch milliseconds. */
  readonly at: number;
}

/** Counts refusals that are alike. @param refusals newest first; the groups are too */
export function groupRefusals(refusals: readonly TrailedRefusal[]): readonly RefusalGroup[] {
  const groups = new Map<string, RefusalGroup>();
  for (const { at, target, code } of refusals) {
    const day = dayOf(at);
    const key = `${day} ${code} ${target}`;
    const known = groups.get(key);
    groups.set(key, { day, target, code, at: known?.at ?? at, count: (known?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}

/** @param given.isDayKnown true where all are of one day that is named */
export function refusalTable(
  groups: readonly RefusalGroup[],
  { now, isDayKnown }: { readonly now: number; readonly isDayKnown: boolean },
): Html {
  return table({
    caption: "Refused stars of this wallet, alike ones counted, newest first",
    rows: groups,
    columns: [
      ["Why", "text title", ({ code }) => refusalWords(code)],
      ["Item", "plain", ({ target }) => html`star on ${targetName(target)}`],
      ["Times", "number", ({ count }) => count],
      ["Last", "whole", ({ at }) => moment(at, now, isDayKnown)],
    ],
    empty: "None that is still kept.",
  });
}
