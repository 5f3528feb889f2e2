import { type Day, dayOf } from "../../../actors/day.ts";
import type { RefusalTrail } from "../../journal/refusal-trail.ts";
import { alike } from "./alike.ts";

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
  const mine = (await trail.newest(SEARCHED)).filter(({ wallet: refused }) => refused === wallet);
  const groups = alike(mine, ({ at, code, target }) => `${dayOf(at)} ${code} ${target}`);
  return groups.map(([{ at, target, code }, ...others]) => {
    return { day: dayOf(at), target, code, at, count: 1 + others.length };
  });
}
