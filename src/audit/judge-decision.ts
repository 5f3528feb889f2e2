import type { EventDecision } from "../../actors/event-day.ts";
import { countedInWords } from "../journal/counted-star.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { isSettled, type Reading } from "./counters.ts";
import { countEventStar, type EventAccounts, type EventTurn, tablesOf } from "./event-accounts.ts";
import type { HeldStar } from "./rebuild-weights.ts";
import type { Mismatch } from "./report.ts";
import type { TopicChain } from "./topic-chain.ts";

export interface ReadSoFar {
  readonly accounts: EventAccounts;
  readonly chains: readonly Pick<TopicChain, "topic" | "sequenceNumber">[];
}

/** Counts an exported star in its event. @returns where its weight is not what the machine decides */
export function countExportedStar(
  { accounts, chains }: ReadSoFar,
  star: ExportStar,
  reading: Reading,
): readonly Mismatch[] {
  const { topicId, sequenceNumber } = star.publication;
  const number = sequenceNumber ?? Number.POSITIVE_INFINITY;
  const chain = chains.find(({ topic }) => topic === topicId);
  const settled =
    chain !== undefined && sequenceNumber !== null && isSettled(reading, chain.topic, number);
  const turn = {
    ...turnOf(star),
    // What was there before the rankings will be read, be it after its day is judged.
    isRead: settled || (chain !== undefined && number <= chain.sequenceNumber),
    isSettled: settled,
  };
  const { A, B } = tablesOf(accounts, turn);
  const { collectionA = [], collectionB: bonus = null } = star.counted ?? {};
  const isTwice = collectionA.some((serial) => A.has(serial)) || (bonus !== null && B.has(bonus));
  return judgeDecision(star, countEventStar(accounts, turn, reading), isTwice);
}

/**
 * A star's own account of its weight against what the machine decides from the same facts.
 *
 * @param isTwice whether it says that it counts NFTs which had counted before
 */
export function judgeDecision(
  star: ExportStar,
  decision: EventDecision,
  isTwice = false,
): readonly Mismatch[] {
  const { weight, breakdown, counted } = star;
  const claims = { a: counted?.collectionA ?? [], b: counted?.collectionB ?? null };
  const expected = countedInWords(decision);
  const found = countedInWords({ weight, breakdown, claims });
  if (expected === found) return [];
  return [{ ...placeOf(star), kind: isTwice ? "counted-twice" : "event-weight", expected, found }];
}

/** A star of an export, as it reaches its event. */
export function turnOf(star: ExportStar): EventTurn {
  return {
    event: star.target.id,
    isForeverMint: star.scope === "forever-mint",
    starId: star.id,
    ...holderOf(star),
    recorded: star.counted && {
      weight: star.weight,
      claims: { a: star.counted.collectionA, b: star.counted.collectionB },
    },
  };
}

/** A star of an export, as its serials are judged. */
export function holderOf({ wallet, at, held }: ExportStar): HeldStar {
  return {
    wallet,
    at: Date.parse(at),
    held: { A: held.collectionA, B: held.collectionB },
  };
}

/** A star of an export, as mismatches name it. */
export function placeOf(star: ExportStar): Pick<
  Mismatch,
  "topic" | "sequenceNumber" | "message"
> & {
  readonly starId: string;
} {
  const { topicId, sequenceNumber } = star.publication;
  return { topic: topicId, sequenceNumber, starId: star.id, message: star.message };
}
