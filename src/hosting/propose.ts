import type { Target } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { type EventDecision, type EventStar, eventDay } from "../../actors/event-day.ts";
import { foreverMint } from "../../actors/forever-mint.ts";
import { rulesOn } from "../../actors/rules.ts";
import { type WalletDayState, type WalletDecision, walletDay } from "../../actors/wallet-day.ts";
import { fullBreakdown, type Holdings, votingPower, weigh } from "../../actors/weight.ts";
import type { Slice } from "../journal/load.ts";
import { releasedFact } from "../journal/mint-history.ts";
import { newStarId } from "../journal/star-id.ts";
import type { DecidedStar, IdempotencyBinding, StarRecord } from "../journal/star-record.ts";

/** A star that wants to be decided, with the holdings read for it. */
export interface StarIntent {
  readonly wallet: string;
  readonly target: Target;
  readonly holdings: Holdings;
  /** Binds the reply to the client's key once the star is known; null without a key. */
  readonly idempotency: {
    readonly key: string;
    readonly bind: (star: StarRecord) => IdempotencyBinding;
  } | null;
}

export interface Facts {
  /** The wallet's day under the pass in force. */
  readonly state: WalletDayState;
  /** The claims on the NFTs the wallet brings; null where the target accounts for none. */
  readonly slice: Slice | null;
  readonly now: number;
}

export type Refused = Extract<WalletDecision, { type: "refused" }>;

/**
 * The synchronous step: the wallet-day actor decides whether, the event's actor how much.
 * Nothing of it is visible before the journal has stored it.
 */
export function propose(
  intent: StarIntent,
  { state, slice, now }: Facts,
  messageOf: (star: StarRecord) => string,
): Refused | DecidedStar {
  const { target, wallet, holdings } = intent;
  const decision = walletDay.decide(state, { type: "star", target, now });
  if (decision.type === "refused") return decision;
  const { slot, at, limit, seasonId } = decision;
  const { weight, breakdown, claims } = countWeight({ target, wallet, holdings, at }, slice);
  const { day, stars } = state.context;
  const rules = rulesOn(day);
  const star: StarRecord = {
    id: newStarId(at),
    wallet,
    day,
    slot,
    at,
    target,
    holdings,
    votingPower: votingPower(holdings, rules),
    weight,
    breakdown,
    limit,
    seasonId,
    rules: rules.version,
  };
  return {
    star,
    follows: stars.at(-1)?.id ?? null,
    claims,
    releases: slice?.releases ?? null,
    ends: slice?.ends ?? [],
    message: messageOf(star),
    idempotency: intent.idempotency?.bind(star) ?? null,
  };
}

/** What the star weighs, and the NFTs it uses up, as the target's row of the table says. */
export function countWeight(
  { target, wallet, holdings, at }: Pick<StarRecord, "target" | "wallet" | "holdings" | "at">,
  slice: Slice | null,
): Pick<EventDecision, "weight" | "breakdown"> & {
  readonly claims: EventDecision["claims"] | null;
} {
  const day = dayOf(at);
  if (target.rule.scope === "none" || slice === null) {
    const breakdown = fullBreakdown(holdings, rulesOn(day));
    return { weight: weigh(breakdown), breakdown, claims: null };
  }
  const star: EventStar = { type: "star", wallet, holdings, at };
  const scope = { event: target.id, weight: 0, stars: 0, counted: slice.counted };
  if (target.rule.scope === "event-day") {
    return eventDay.decide({ value: "counting", context: { day, ...scope } }, star);
  }
  const wallets = { [wallet]: { value: slice.standing, context: { votedOn: null } } };
  const mint = { value: "collecting", context: { wallets, ...scope } };
  const ended = slice.ends.length === 0 ? mint : foreverMint.evolve(mint, releasedFact(slice.ends));
  return foreverMint.decide(ended, star);
}
