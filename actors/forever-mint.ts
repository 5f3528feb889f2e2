import { assign, emit, setup } from "xstate";
import { createDecider, type State } from "./decide.ts";
import type { EventDecision, EventStar } from "./event-day.ts";
import {
  bonusOf,
  type Claims,
  type Counted,
  countFresh,
  NOTHING_COUNTED,
  withClaims,
} from "./nft-accounting.ts";
import { BASE, type Breakdown, weigh } from "./weight.ts";

/**
 * One forever mint, for ever: whose star counts, and which NFT is attributed to whom.
 * Named `forever-mint/<event>`.
 *
 * **empty** — nobody has starred it. Left by the first star.
 *
 * **collecting** — stars add up. Never left: a forever mint has no end.
 *
 * "A wallet's star counts once": the base 1 comes with a wallet's first star and never again.
 * "Starring again … adds weight only for NFTs that have not yet counted": a serial attributed
 * to anyone adds nothing, and the flat bonus is added only to a wallet that carries none.
 * A star that adds 0 is still a star: it costs a vote and moves the wallet's date.
 *
 * As with event days, a slice holding this wallet's entry and the serials it brings decides
 * the same as the whole.
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

export const foreverMintMachine = setup({
  types: {
    context: {} as ForeverMintContext,
    input: {} as ForeverMintInput,
    events: {} as EventStar,
    emitted: {} as EventDecision,
  },
  actions: {
    announce: emit(({ context, event }) => decide(context, event)),
    count: assign(({ context, event }) => {
      const { weight, claims } = decide(context, event);
      return {
        weight: context.weight + weight,
        stars: context.stars + 1,
        wallets: { ...context.wallets, [event.wallet]: true as const },
        counted: withClaims(context.counted, claims, event.wallet),
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
  on: { star: { target: ".collecting", actions: ["announce", "count"] } },
});

/** The machine as a pure function. */
export const foreverMint = createDecider<
  ForeverMintInput,
  ForeverMintContext,
  EventStar,
  EventDecision
>(foreverMintMachine, { event: "" });
