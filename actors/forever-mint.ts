import { assertEvent, assign, emit, setup } from "xstate";
import { createDecider, type State } from "./decide.ts";
import type { EventDecision, EventStar } from "./event-day.ts";
import {
  bonusOf,
  type Claims,
  type Counted,
  countFresh,
  type Loss,
  lostWeight,
  NOTHING_COUNTED,
  type Release,
  releaseLost,
  withClaims,
  withoutReleased,
} from "./nft-accounting.ts";
import { BASE, type Breakdown, weigh } from "./weight.ts";

/**
 * One forever mint, for ever: whose star counts, and which NFT is attributed to whom.
 * Named `forever-mint/<event>`.
 *
 * **empty** — nobody has starred it, so there is nothing to lose. Left by the first star.
 *
 * **collecting** — stars add up, and what wallets no longer hold is taken away again.
 * Never left: a forever mint has no end, and a wallet's base stays when its NFTs are gone.
 *
 * "A wallet's star counts once": the base 1 comes with a wallet's first star and never again.
 * "Starring again … adds weight only for NFTs that have not yet counted": a serial attributed
 * to anyone adds nothing, and the flat bonus is added only to a wallet that carries none.
 * A star that adds 0 is still a star: it costs a vote and moves the wallet's date.
 *
 * "A daily check … removes the weight of … NFTs that the wallet no longer holds": each lost
 * collection A serial attributed to its wallet takes its 1 along, and with the collection B
 * serial that carries a wallet's flat bonus goes the 5; lost serials are free again. A wallet
 * that then holds a free collection B serial keeps its bonus: the lowest of them carries it on,
 * and nothing is lost. Serials not attributed to the losing wallet are passed over, so that a
 * loss told twice takes away once.
 *
 * Invariants: the weight is one per wallet, one per attributed collection A serial and five
 * per attributed collection B serial; a wallet carries the flat bonus at most once.
 *
 * As with event days, a slice decides the same as the whole: the entries of the wallets that
 * the event is about, and of the serials they bring, have lost or still hold.
 */

export interface ForeverMintContext {
  readonly event: string;
  readonly weight: number;
  readonly stars: number;
  /** Wallets whose base has counted. */
  readonly wallets: Readonly<Record<string, true>>;
  readonly counted: Counted;
}

export type ForeverMintInput = Pick<ForeverMintContext, "event">;
export type ForeverMintState = State<ForeverMintContext>;

/** The daily check found that wallets no longer hold some NFTs; each wallet is named once. */
export interface HoldingsLost {
  readonly type: "lost";
  readonly losses: readonly Loss[];
}

/** What losses take from the mint's total, and which attributions end. */
export interface LossDecision {
  readonly type: "released";
  /** The total is lowered by this: 0 or more. */
  readonly weight: number;
  /** One per loss, in their order. */
  readonly releases: readonly Release[];
}

function decide(context: ForeverMintContext, star: EventStar): EventDecision {
  const fresh = countFresh(star.holdings, context.counted);
  const carriesBonus = Object.values(context.counted.B).includes(star.wallet);
  const claims: Claims = carriesBonus ? { ...fresh, b: null } : fresh;
  const breakdown: Breakdown = {
    base: context.wallets[star.wallet] === true ? 0 : BASE,
    collectionA: claims.a.length,
    collectionB: bonusOf(claims),
  };
  return { type: "counted", weight: weigh(breakdown), breakdown, claims };
}

function release(context: ForeverMintContext, { losses }: HoldingsLost): LossDecision {
  const releases = releaseLost(losses, context.counted);
  return { type: "released", weight: lostWeight(releases), releases };
}

export const foreverMintMachine = setup({
  types: {
    context: {} as ForeverMintContext,
    input: {} as ForeverMintInput,
    events: {} as EventStar | HoldingsLost,
    emitted: {} as EventDecision | LossDecision,
  },
  actions: {
    announce: emit(({ context, event }) => {
      assertEvent(event, "star");
      return decide(context, event);
    }),
    count: assign(({ context, event }) => {
      assertEvent(event, "star");
      const { weight, claims } = decide(context, event);
      return {
        weight: context.weight + weight,
        stars: context.stars + 1,
        wallets: { ...context.wallets, [event.wallet]: true as const },
        counted: withClaims(context.counted, claims, event.wallet),
      };
    }),
    announceLoss: emit(({ context, event }) => {
      assertEvent(event, "lost");
      return release(context, event);
    }),
    release: assign(({ context, event }) => {
      assertEvent(event, "lost");
      const { weight, releases } = release(context, event);
      return {
        weight: context.weight - weight,
        counted: withoutReleased(context.counted, releases),
      };
    }),
  },
}).createMachine({
  id: "forever-mint",
  context: ({ input }) => ({
    ...input,
    weight: 0,
    stars: 0,
    wallets: {},
    counted: NOTHING_COUNTED,
  }),
  initial: "empty",
  states: { empty: {}, collecting: {} },
  on: {
    star: { target: ".collecting", actions: ["announce", "count"] },
    lost: { actions: ["announceLoss", "release"] },
  },
});

/** The machine as a pure function of stars. */
export const foreverMint = createDecider<
  ForeverMintInput,
  ForeverMintContext,
  EventStar,
  EventDecision
>(foreverMintMachine, { event: "" });

/** The same machine as a pure function of losses: what the daily check asks. */
export const foreverMintCheck = createDecider<
  ForeverMintInput,
  ForeverMintContext,
  HoldingsLost,
  LossDecision
>(foreverMintMachine, { event: "" });
