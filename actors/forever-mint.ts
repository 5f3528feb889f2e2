import { assertEvent, assign, emit, setup } from "xstate";
import { decideEvolve, type State } from "./decide-evolve.ts";
import type { EventDecision, EventStar, EventStarred } from "./event-day.ts";
import { type MintWalletState, mintWallet, UNSTARRED } from "./mint-wallet.ts";
import {
  type Counted,
  type Loss,
  lostWeight,
  NOTHING_COUNTED,
  type Release,
  releaseLost,
  withClaims,
  withoutReleased,
} from "./nft-accounting.ts";

/**
 * One forever mint, from its first star on: whose star counts, and which NFT is attributed to
 * whom. Named `forever-mint/<event>`.
 *
 * **collecting** — the one state of the mint itself: stars add up, and what wallets no longer hold
 * is taken away again. What a star adds depends on its wallet's own state (`mint-wallet.ts`).
 * Never left: a forever mint has no end, and a wallet's base stays when its NFTs are gone.
 *
 * "A daily check … removes the weight of … NFTs that the wallet no longer holds": each lost
 * collection A serial attributed to its wallet takes its 1 along, and with the collection B
 * serial that carries a wallet's flat bonus goes the 5; lost serials are free again. A wallet
 * that then holds a free collection B serial keeps its bonus: the lowest of them carries it on,
 * and nothing is lost. Serials not attributed to the losing wallet are passed over, so a
 * loss found twice takes away once.
 *
 * Commands: `star` and `lost`. Facts: `starred` and `released`.
 *
 * Invariants: the weight is the base per wallet, one per attributed collection A serial and the
 * bonus per attributed collection B serial; a wallet carries the flat bonus at most once.
 *
 * As with event days, a slice decides the same as the whole: the entries of the wallets that
 * the event is about, and of the serials they bring, have lost or still hold.
 */

export interface ForeverMintContext {
  readonly event: string;
  readonly weight: number;
  readonly stars: number;
  /** Where each wallet that has starred the mint stands. */
  readonly wallets: Readonly<Record<string, MintWalletState>>;
  readonly counted: Counted;
}

export type ForeverMintInput = Pick<ForeverMintContext, "event">;
export type ForeverMintState = State<ForeverMintContext>;

/** The daily check found that wallets no longer hold some NFTs: a command. Each wallet is named once. */
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

/** Attributions have ended: the journal says so. */
export type MintReleased = LossDecision;

export const foreverMintMachine = setup({
  types: {
    context: {} as ForeverMintContext,
    input: {} as ForeverMintInput,
    events: {} as EventStar | EventStarred | HoldingsLost | MintReleased,
    emitted: {} as EventDecision | LossDecision,
  },
  actions: {
    count: emit(({ context, event }) => {
      assertEvent(event, "star");
      const wallet = context.wallets[event.wallet] ?? UNSTARRED;
      return mintWallet.decide(wallet, { ...event, counted: context.counted });
    }),
    record: assign(({ context, event }) => {
      assertEvent(event, "starred");
      const { weight, claims, wallet, starId, at } = event;
      const standing = mintWallet.evolve(context.wallets[wallet] ?? UNSTARRED, event);
      return {
        weight: context.weight + weight,
        stars: context.stars + 1,
        wallets: { ...context.wallets, [wallet]: standing },
        counted: withClaims(context.counted, claims, { wallet, starId, at }),
      };
    }),
    judgeLoss: emit(({ context, event }) => {
      assertEvent(event, "lost");
      const { counted } = context;
      const releases = releaseLost(event.losses, counted);
      const weight = lostWeight(releases, (serial) => counted.B[serial]);
      return { type: "released", weight, releases };
    }),
    release: assign(({ context, event }) => {
      assertEvent(event, "released");
      const wallets = { ...context.wallets };
      for (const { wallet, b, spare } of event.releases) {
        const standing = wallets[wallet];
        if (b === null || spare !== null || standing === undefined) continue;
        wallets[wallet] = mintWallet.evolve(standing, { type: "bonusLost" });
      }
      return {
        weight: context.weight - event.weight,
        wallets,
        counted: withoutReleased(context.counted, event.releases),
      };
    }),
  },
}).createMachine({
  id: "forever-mint",
  context: ({ input: { event } }) => ({
    event,
    weight: 0,
    stars: 0,
    wallets: {},
    counted: NOTHING_COUNTED,
  }),
  initial: "collecting",
  states: {
    collecting: {
      on: {
        star: { actions: "count" },
        starred: { actions: "record" },
        lost: { actions: "judgeLoss" },
        released: { actions: "release" },
      },
    },
  },
});

/** The machine as two pure functions of stars. */
export const foreverMint = decideEvolve<
  ForeverMintInput,
  ForeverMintContext,
  EventStar,
  EventDecision,
  EventStarred | MintReleased
>(foreverMintMachine, { event: "" });

/** The same machine as a function of losses: what the daily check asks. */
export const foreverMintCheck = decideEvolve<
  ForeverMintInput,
  ForeverMintContext,
  HoldingsLost,
  LossDecision,
  EventStarred | MintReleased
>(foreverMintMachine, { event: "" });
