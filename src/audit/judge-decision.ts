import type { EventDecision } from "../../actors/event-day.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { isSettled, type Reading } from "./counters.ts";
import type { AccountedStar } from "./event-accounts.ts";
import type { Mismatch } from "./report.ts";

/** Serials that a star says it counts although they had counted before. */
export interface Taken {
  readonly A: readonly number[];
  readonly B: boolean;
}

/** A star's own account of its weight against what the machine decides from the same facts. */
export function judgeDecision(
  star: ExportStar,
  { weight, breakdown, claims }: EventDecision,
  taken: Taken,
): readonly Mismatch[] {
  const { counted } = star;
  const exported = { a: counted?.collectionA ?? [], b: counted?.collectionB ?? null };
  const expected = wordsOf(weight, breakdown, claims);
  const found = wordsOf(star.weight, star.breakdown, exported);
  if (expected === found) return [];
  const isTwice = taken.A.length > 0 || taken.B;
  return [{ ...placeOf(star), kind: isTwice ? "counted-twice" : "event-weight", expected, found }];
}

function wordsOf(
  weight: number,
  { base, collectionA, collectionB }: EventDecision["breakdown"],
  { a, b }: EventDecision["claims"],
): string {
  const sum = `${base} + ${collectionA} + ${collectionB}`;
  return `weight ${weight} (${sum}), counting A [${a.join(" ")}], B ${b ?? "none"}`;
}

/** A star of an export, as events count it. */
export function accountedOf(star: ExportStar, reading: Reading): AccountedStar {
  const { topicId, sequenceNumber } = star.publication;
  return {
    event: star.target.id,
    isForeverMint: star.scope === "forever-mint",
    starId: star.id,
    wallet: star.wallet,
    at: Date.parse(star.at),
    held: { A: star.held.collectionA, B: star.held.collectionB },
    recorded:
      star.counted === null
        ? null
        : {
            weight: star.weight,
            claims: { a: star.counted.collectionA, b: star.counted.collectionB },
          },
    isSettled:
      topicId !== null && sequenceNumber !== null && isSettled(reading, topicId, sequenceNumber),
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
