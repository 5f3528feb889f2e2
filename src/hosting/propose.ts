import { limitAt } from "../../actors/allowance.ts";
import { ruleOf, type Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import { type EventStar, eventDay } from "../../actors/event-day.ts";
import { foreverMint } from "../../actors/forever-mint.ts";
import type { Claims } from "../../actors/nft-accounting.ts";
import { targetKey, type WalletDecision } from "../../actors/star.ts";
import { instantOf, walletDay } from "../../actors/wallet-day.ts";
import { type Breakdown, fullBreakdown, votingPower, weigh } from "../../actors/weight.ts";
import type { Slice } from "../journal/load.ts";
import { newStarId } from "../journal/star-id.ts";
import type { DecidedStar, StarRecord } from "../journal/star-record.ts";
import type { HostedWalletDay } from "./host.ts";
import type { TurnIntent } from "./turn.ts";

/** Everything the machines are told. */
export interface Facts {
  readonly hosted: HostedWalletDay;
  /** The claims on the NFTs the wallet brings; null where the target accounts for none. */
  readonly slice: Slice | null;
  readonly day: Day;
  /** Epoch milliseconds by the one clock. */
  readonly now: number;
}

export type Proposal =
  | { readonly kind: "refused"; readonly decision: Extract<WalletDecision, { type: "refused" }> }
  | {
      readonly kind: "proposed";
      readonly decided: DecidedStar;
      readonly state: HostedWalletDay["state"];
    };

/**
 * The synchronous step: the wallet-day actor decides whether, the event's actor how much.
 * Nothing of it is visible before the journal has stored it.
 */
export function propose(
  intent: TurnIntent,
  facts: Facts,
  messageOf: (star: StarRecord) => string,
): Proposal {
  const { target, wallet, holdings } = intent;
  const { state, decision, starId, limit, seasonId } = askWallet(target, facts);
  if (decision.type === "refused") return { kind: "refused", decision };
  const { breakdown, claims } = countWeight(intent, facts);
  const star: StarRecord = {
    id: starId,
    wallet,
    day: facts.day,
    slot: decision.slot,
    at: decision.at,
    target,
    holdings,
    votingPower: votingPower(holdings),
    weight: weigh(breakdown),
    breakdown,
    limit,
    seasonId,
  };
  const idempotency = intent.idempotency?.bind(star) ?? null;
  return {
    kind: "proposed",
    state,
    decided: { star, claims, message: messageOf(star), idempotency },
  };
}

/**
 * Asks the wallet-day actor whether a star is let through; changes nothing.
 *
 * @param nameIt makes the star's id of its instant
 */
export function askWallet(
  target: Target,
  { hosted, now }: Pick<Facts, "hosted" | "now">,
  nameIt: (at: number) => string = newStarId,
) {
  const at = instantOf(hosted.state.context, now);
  const { limit, seasonId } = limitAt(at, hosted.passes);
  const starId = nameIt(at);
  const [state, decision] = walletDay.step(hosted.state, {
    type: "star",
    starId,
    target: targetKey(target.type, target.id),
    repeatable: ruleOf(target).frequency === "once",
    now,
    limit,
  });
  return { state, decision, starId, limit, seasonId };
}

/** What the star weighs, and the NFTs it uses up, as the target's row of the table says. */
export function countWeight(
  { target, wallet, holdings }: Pick<TurnIntent, "target" | "wallet" | "holdings">,
  { slice, day }: Pick<Facts, "slice" | "day">,
): { readonly breakdown: Breakdown; readonly claims: Claims | null } {
  const { weight: rule } = ruleOf(target);
  if (rule === "full" || slice === null)
    return { breakdown: fullBreakdown(holdings), claims: null };
  const star: EventStar = { type: "star", wallet, holdings };
  const scope = { event: target.id, weight: 0, stars: 0, counted: slice.counted };
  const [, decision] =
    rule === "each NFT once per mint"
      ? foreverMint.step(
          {
            value: "collecting",
            context: { ...scope, wallets: slice.baseCounted ? { [wallet]: true } : {} },
          },
          star,
        )
      : eventDay.step({ value: "counting", context: { ...scope, day } }, star);
  return decision;
}
