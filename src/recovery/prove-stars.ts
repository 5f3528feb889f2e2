import type { Day } from "../../actors/day.ts";
import { holderOf, judgeStar } from "../audit/judge-star.ts";
import type { Ownerships } from "../audit/ownership.ts";
import {
  type HeldThen,
  heldAround,
  heldAtEventStar,
  judgeSerials,
  wasExcluded,
} from "../audit/rebuild-weights.ts";
import type { Mismatch } from "../audit/report.ts";
import type { ExportHeader, ExportStar } from "../journal/export-format.ts";
import { parseStarMessage, type StarMessage } from "../publishing/message.ts";
import type { EventMachines } from "./event-machines.ts";
import type { Notes, Recovery } from "./recovery.ts";
import { rowOfHistory, stagedOfDay } from "./staged-stars.ts";
import type { PieceWriter } from "./write-pieces.ts";

/**
 * Whether a star's line in an export agrees with itself and with the histories of its NFTs; what
 * does not is a doubt.
 */
export function judgeLine(
  line: ExportStar,
  { excludedWallets: own, collections, day }: ExportHeader,
  given: {
    readonly ownerships: Ownerships;
    readonly notes: Notes;
    /** By the export of the day before; undefined: not known. */
    readonly excludedBefore: readonly string[] | undefined;
  },
): boolean {
  const { ownerships, notes, excludedBefore: before } = given;
  const place = { topic: null, sequenceNumber: null, message: line.message } as const;
  const holder = holderOf(line);
  const isExcluded = wasExcluded(holder, { own, before });
  const serials = judgeSerials(holder, { ownerships, isExcluded, place });
  const keys = { a: collections.a.key, b: collections.b.key };
  const found = [...judgeStar(line, { day, keys }), ...serials.mismatches];
  return isWithoutDoubt(`star ${line.id}`, found, notes);
}

/** Notes what was found against a star or a release of an export. @returns whether nothing was */
export function isWithoutDoubt(what: string, found: readonly Mismatch[], notes: Notes): boolean {
  for (const { kind, expected, found: seen } of found) {
    notes.doubt(`${what}, ${kind}: expected ${expected}, its export says ${seen}`);
  }
  return found.length === 0;
}

/**
 * Decides the stars of a day that no export brought back: by what the NFTs' histories say that their
 * wallets held.
 *
 * @param given.done ids of those that an export brought back
 * @param given.undated gets the mints of which a star is decided here
 */
export async function decideFromHistories(
  { sql, settings }: Recovery,
  given: {
    readonly day: Day;
    readonly done: ReadonlySet<string>;
    readonly ownerships: Ownerships;
    readonly notes: Notes;
    readonly writer: PieceWriter;
    readonly machines: EventMachines;
    readonly undated: Set<string>;
  },
): Promise<void> {
  const { a, b } = settings.collections;
  const excluded = new Set(settings.excludedWallets);
  for await (const page of stagedOfDay(sql, given.day)) {
    for (const staged of page) {
      const { id: starId, type, target: event, isForeverMint, wallet, at } = staged;
      const star = parseStarMessage(Buffer.from(staged.message), { a: a.key, b: b.key });
      if (given.done.has(starId) || star === undefined) continue;
      const held = heldThen(star, given.ownerships, excluded);
      if (!held.isCertain) {
        const what = type === "event" ? "its weight" : "which NFTs it brought";
        given.notes.doubt(`star ${starId} for ${type}/${event}: ${what}; an NFT moved near it`);
      }
      const isCounted = type === "event" && staged.conflictsWith === null;
      if (isCounted && isForeverMint) given.undated.add(event);
      const turn = { event, isForeverMint, starId, wallet, at, held, recorded: null };
      const decision = isCounted ? await given.machines.count(turn) : null;
      const xp = settings.xpPerStar;
      await given.writer.star(rowOfHistory(staged, star, { held, decision, xp }));
    }
  }
}

/**
 * The serials of a star from its NFTs' histories. The message of an asset star says how many
 * there were. That of an event's star does not: there an NFT that moved in the minute in which it
 * may have been read leaves a doubt.
 */
function heldThen(
  star: StarMessage,
  ownerships: Ownerships,
  excluded: ReadonlySet<string>,
): HeldThen {
  const { wallet, timestamp: at } = star;
  if (star.type === "event_vote") return heldAtEventStar({ wallet, at }, ownerships, excluded);
  const of = (name: "A" | "B") => {
    const count = star.holdings[`collection${name}`];
    const { always, ever } = heldAround(ownerships[name], wallet, at);
    const sure = new Set(always);
    const others = ever.filter((serial) => !sure.has(serial));
    const serials = [...always, ...others].slice(0, count).sort((one, other) => one - other);
    const isCertain = count === 0 || (serials.length === count && ever.length === count);
    return { serials, isCertain };
  };
  const [A, B] = [of("A"), of("B")];
  return { A: A.serials, B: B.serials, isCertain: A.isCertain && B.isCertain };
}
