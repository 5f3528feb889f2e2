import { type Allowance, allowanceOf, voteLimit } from "../../actors/allowance.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import type { WalletDayFacts, WalletDayQuery } from "../journal/load.ts";

export interface CurrentAllowance extends Allowance {
  readonly wallet: string;
  readonly day: Day;
  readonly premium: boolean;
}

/** Reads what is left of today, from the journal: this process' memory may be behind another's. */
export async function readAllowance(
  deps: {
    readonly clock: Clock;
    readonly loadWalletDay: (query: WalletDayQuery) => Promise<WalletDayFacts>;
  },
  wallet: string,
): Promise<CurrentAllowance> {
  const now = deps.clock.now();
  const day = dayOf(now);
  const { stars, seasonId } = await deps.loadWalletDay({ wallet, day, notBefore: now });
  const allowance = allowanceOf(day, voteLimit(day, seasonId), stars.length);
  return { wallet, day, premium: seasonId !== null, ...allowance };
}
