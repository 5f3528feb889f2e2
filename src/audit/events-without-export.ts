import type { EventTables } from "../../actors/whole.ts";
import type { AuditState, Judge } from "./audit-state.ts";
import { isSettled } from "./counters.ts";
import type { DayBook } from "./day-book.ts";
import { countEventStar, totalOf } from "./event-accounts.ts";
import type { Ownerships } from "./ownership.ts";
import { heldAtEventStar } from "./rebuild-weights.ts";

/**
 * Weights of events from messages and NFT histories alone. A message on the event topic carries
 * neither weight nor holdings, so this proves a total only where nothing is left to choose:
 *
 * - no NFT of a starring wallet moved in the minute in which its holdings may have been read.
 *   Then they are known, and a serial that two wallets bring on one day changed hands more than a
 *   minute before the second star, so the order of instants is that of the journal;
 * - for a forever mint, besides, no NFT that counts there ever left its wallet. Otherwise the
 *   total depends on when the daily check looked, which only an export says.
 *
 * Everything else is said to be unprovable, never guessed.
 */
export function countWithoutExport(
  state: AuditState,
  book: DayBook,
  given: Pick<Judge, "ownerships" | "excluded" | "reading">,
): void {
  for (const [event, { kind, stars }] of book.events) {
    const isForeverMint = kind === "FOREVER_MINT";
    for (const star of [...stars].sort((one, other) => one.at - other.at)) {
      const { wallet, at } = star;
      const held = heldAtEventStar(star, given.ownerships, given.excluded);
      if (!held.isCertain) totalOf(state.accounts, event).doubt = NFT_MOVED;
      const accounted = {
        ...{ event, isForeverMint, wallet, at, held, recorded: null },
        starId: `${star.topic}/${star.sequenceNumber}`,
        isRead: true,
        isSettled: isSettled(given.reading, star.topic, star.sequenceNumber),
      };
      countEventStar(state.accounts, accounted, given.reading);
    }
  }
}

/** Marks the mints of which a counted NFT has left its wallet, be it for a moment. */
export function doubtMints(state: AuditState, ownerships: Ownerships): void {
  for (const [event, mint] of state.accounts.mints) {
    const total = totalOf(state.accounts, event);
    if (total.doubt === null && hasMoved(mint, ownerships)) total.doubt = NFT_LEFT;
  }
}

const NFT_MOVED = "an NFT moved within a minute of a star; unprovable without --export";
const NFT_LEFT = "an NFT that counts has left its wallet; unprovable without --export";

/** Whether an NFT that counts has left its wallet, be it for a moment. */
export function hasMoved(mint: EventTables, ownerships: Ownerships): boolean {
  return (["A", "B"] as const).some((name) =>
    [...mint[name]].some(([serial, { wallet }]) => {
      const own = (ownerships[name].tenures.get(wallet) ?? []).filter(
        (tenure) => tenure.serial === serial,
      );
      return own.length !== 1 || own[0]?.to !== Number.POSITIVE_INFINITY;
    }),
  );
}
