import { type Allowance, allowanceOf } from "../../actors/allowance.ts";
import type { Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { foldWalletDay } from "../../actors/wallet-day.ts";
import { type Breakdown, votingPower } from "../../actors/weight.ts";
import type { Clock } from "../clock.ts";
import { TerminalError } from "../errors.ts";
import { countWeight } from "../hosting/propose.ts";
import { type SliceDeps, sliceFor } from "../hosting/sold-before-check.ts";
import { askFirst } from "../hosting/turn.ts";
import type { WalletDayFacts, WalletDayQuery } from "../journal/load.ts";
import type { TargetName } from "../reads/targets.ts";

export interface Preview {
  readonly votingPower: number;
  readonly weight: number;
  readonly breakdown: Breakdown;
  /** Today; on a forever mint ever, because there a wallet's star counts once. */
  readonly alreadyStarred: boolean;
  readonly lastStarredDay: Day | null;
  readonly allowance: Allowance;
}

/**
 * Says what a star would carry now, by the same machines that would decide it. Spends nothing
 * and promises nothing: an NFT may move, and another star may come first.
 *
 * @throws TerminalError `NOT_FOUND`
 * @throws RetryableError `HOLDINGS_UNAVAILABLE`, `UNAVAILABLE`
 */
export async function previewStar(
  deps: SliceDeps & {
    readonly clock: Clock;
    readonly findTarget: (name: TargetName) => Promise<Target | null>;
    readonly loadWalletDay: (query: WalletDayQuery) => Promise<WalletDayFacts>;
    readonly lastStarredDay: (wallet: string, target: Target) => Promise<Day | null>;
  },
  wallet: string,
  name: TargetName,
): Promise<Preview> {
  const target = await deps.findTarget(name);
  if (target === null)
    throw new TerminalError("NOT_FOUND", `there is no ${name.type} with this id`);
  const [holdings, lastStarredDay] = await Promise.all([
    deps.readHoldings(wallet),
    deps.lastStarredDay(wallet, target),
  ]);
  const now = deps.clock.now();
  const day = dayOf(now);
  const [facts, slice] = await Promise.all([
    deps.loadWalletDay({ wallet, day, notBefore: now }),
    sliceFor(deps, { target, wallet, holdings }, day),
  ]);
  const state = foldWalletDay({ wallet, day }, facts.stars, facts.seasonId);
  const { weight, breakdown } = countWeight({ target, wallet, holdings, at: now }, slice);
  return {
    votingPower: votingPower(holdings, rulesOn(day)),
    weight,
    breakdown,
    alreadyStarred:
      (slice !== null && slice.standing !== "unstarred") ||
      askFirst(state, target, now)?.code === "ALREADY_STARRED",
    lastStarredDay,
    allowance: allowanceOf(day, state.context.limit, facts.stars.length),
  };
}
