import {
  FAILPOINT_MODES,
  FAILPOINTS,
  type Failpoint,
  type FailpointMode,
} from "../../src/failpoint.ts";

/** One case: which fault hits which process, in which trouble. */
export interface Case {
  readonly at: Failpoint;
  readonly mode: FailpointMode;
  readonly hit: number;
  readonly trouble: Trouble;
}

/**
 * What is wrong besides. `none`: nothing. `answer lost`: nodes take transactions and say nothing.
 * `overdue`: no node took them, and their time is over.
 */
export type Trouble = "none" | "answer lost" | "overdue";

/** Which troubles lead past a place; the first one has its hits gone through to the last. */
const TROUBLES: Readonly<Partial<Record<Failpoint, readonly Trouble[]>>> = {
  "pub.before_submit": ["none", "answer lost"],
  "pub.after_submit": ["none", "answer lost"],
  "pub.receipt_got": ["none", "answer lost"],
  "pub.before_confirm": ["none", "answer lost", "overdue"],
  "pub.confirmed": ["none", "answer lost", "overdue"],
  "pub.expired": ["overdue"],
  "pub.mirror_checked": ["overdue"],
  "pub.reissued": ["overdue"],
};

/** Everything there is to try once; the runner goes through the hits. */
export function allCases(part: "vote" | "publish"): readonly Case[] {
  const mine = FAILPOINTS.filter((name) =>
    part === "vote" ? name.startsWith("vote.") : /^(pub|sweep)\./.test(name),
  );
  return mine.flatMap((at) =>
    FAILPOINT_MODES.flatMap((mode) =>
      (TROUBLES[at] ?? ["none"]).map((trouble): Case => ({ at, mode, hit: 1, trouble })),
    ),
  );
}

export function nameOf({ at, mode, hit, trouble }: Case): string {
  return `${at}/${mode}/${hit}${trouble === "none" ? "" : `/${trouble.replace(" ", "-")}`}`;
}

/** @returns undefined when the text is not one that `nameOf` makes */
export function caseNamed(name: string): Case | undefined {
  const [at, mode, hit, trouble] = name.split("/");
  const known = [...allCases("publish"), ...allCases("vote")].find(
    (each) =>
      each.at === at && each.mode === mode && nameOf({ ...each, hit: 1 }).split("/")[3] === trouble,
  );
  return known && { ...known, hit: Number(hit) };
}

/** One of so many places a day. */
const ONE_OF = 4;

/** A few of them, other ones every day: every fourth place, each in one mode. What CI can afford. */
export function sampleOf(cases: readonly Case[], day: number): readonly Case[] {
  const places = [...new Set(cases.map(({ at, trouble }) => `${at} ${trouble}`))];
  return places.flatMap((place, index) => {
    if (index % ONE_OF !== day % ONE_OF) return [];
    const mine = cases.filter(({ at, trouble }) => `${at} ${trouble}` === place);
    const chosen = mine[(Math.floor(day / ONE_OF) + Math.floor(index / ONE_OF)) % mine.length];
    return chosen === undefined ? [] : [chosen];
  });
}
