import { heldAt, heldBetween, type Ownerships } from "../audit/ownership.ts";
import { certainHoldings, LAG_MS, LEAD_MS } from "../audit/rebuild-weights.ts";
import type { StarMessage } from "../publishing/message.ts";

/** What a wallet held when it starred, as far as the NFTs' histories show. */
export interface HeldThen {
  readonly A: readonly number[];
  readonly B: readonly number[];
  /** Whether anything else can have been read. */
  readonly isCertain: boolean;
}

/**
 * The serials of a star from its NFTs' histories. The message of an asset star says how many
 * there were. That of an event's star does not: there an NFT that moved in the minute in which it
 * may have been read leaves a doubt.
 */
export function heldThen(
  star: StarMessage,
  ownerships: Ownerships,
  excluded: ReadonlySet<string>,
): HeldThen {
  if (star.type === "event_vote" && excluded.has(star.wallet)) {
    return { A: [], B: [], isCertain: true };
  }
  const [A, B] = (["A", "B"] as const).map((name) => {
    const ownership = ownerships[name];
    const { wallet, timestamp: at } = star;
    if (star.type === "event_vote") {
      const certain = certainHoldings(ownership, wallet, at);
      return {
        serials: certain ?? heldAt(ownership, wallet, at),
        isCertain: certain !== undefined,
      };
    }
    const count = star.holdings[`collection${name}`];
    const span = { from: at - LAG_MS, to: at + LEAD_MS };
    const { always, ever } = heldBetween(ownership, wallet, span);
    const others = ever.filter((serial) => !always.includes(serial));
    const serials = [...always, ...others].slice(0, count).sort((one, other) => one - other);
    const isCertain = count === 0 || (serials.length === count && ever.length === count);
    return { serials, isCertain };
  }) as [Held, Held];
  return { A: A.serials, B: B.serials, isCertain: A.isCertain && B.isCertain };
}

interface Held {
  readonly serials: readonly number[];
  readonly isCertain: boolean;
}
