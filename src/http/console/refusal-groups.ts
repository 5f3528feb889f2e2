import { type Day, dayOf } from "../../../actors/day.ts";
import type { RefusalTrail } from "../../journal/refusal-trail.ts";

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

/** The newest of all wallets, in which one's are looked for. */
const SEARCHED = 500;

/** A wallet's refused stars as far as they are kept, newest first; those of a day that are alike are counted. */
export async function refusalsOf(
  trail: RefusalTrail,
  wallet: string,
): Promise<readonly RefusalGroup[]> {
  const groups = new Map<string, RefusalGroup>();
  for (const { at, target, code, wallet: refused } of await trail.newest(SEARCHED)) {
    if (refused !== wallet) continue;
    const day = dayOf(at);
    const key = `${day} ${code} ${target}`;
    const known = groups.get(key);
    groups.set(key, { day, target, code, at: known?.at ?? at, count: (known?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}
