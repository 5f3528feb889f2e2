import { heldBetween, type Ownerships } from "../audit/ownership.ts";
import { type HeldThen, heldAtEventStar, LAG_MS, LEAD_MS } from "../audit/rebuild-weights.ts";
import type { StarMessage } from "../publishing/message.ts";

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
  const { wallet, timestamp: at } = star;
  if (star.type === "event_vote") return heldAtEventStar({ wallet, at }, ownerships, excluded);
  const of = (name: "A" | "B") => {
    const count = star.holdings[`collection${name}`];
    const span = { from: at - LAG_MS, to: at + LEAD_MS };
    const { always, ever } = heldBetween(ownerships[name], wallet, span);
    const others = ever.filter((serial) => !always.includes(serial));
    const serials = [...always, ...others].slice(0, count).sort((one, other) => one - other);
    const isCertain = count === 0 || (serials.length === count && ever.length === count);
    return { serials, isCertain };
  };
  const [A, B] = [of("A"), of("B")];
  return { A: A.serials, B: B.serials, isCertain: A.isCertain && B.isCertain };
}
