import { dayOf } from "../../actors/day.ts";
import type { EventDecision, EventStar, EventStarred } from "../../actors/event-day.ts";
import { rulesOn } from "../../actors/rules.ts";
import type { Breakdown } from "../../actors/weight.ts";
import type { Sql } from "../store/postgres.ts";

/** A star as the journal gives it to an event's actor. */
export interface CountedStar extends Omit<EventStarred, "type"> {
  readonly heldA: readonly number[];
  readonly heldB: readonly number[];
  readonly breakdown: Breakdown;
  /** The version that it was decided under. */
  readonly rules: number;
}

/** The columns of `star` that make a `CountedStar`; a part of a select. */
export function countedStarColumns(sql: Sql) {
  return sql`id as "starId", '0.0.' || wallet as wallet, at, held_a as "heldA", held_b as "heldB", weight,
    json_build_object('base', base, 'collectionA', counted_a, 'collectionB', bonus_b) as breakdown,
    json_build_object('a', claimed_a, 'b', claimed_b) as claims, rules`;
}

/** What an event's actor takes in: a star as it is recorded, decided by none again. */
export function starredFact({
  starId,
  wallet,
  at,
  weight,
  claims,
}: Omit<EventStarred, "type">): EventStarred {
  return { type: "starred", starId, wallet, at, weight, claims };
}

/**
 * Decides a star again under the rules of its day.
 *
 * @param decide asks the machine, as it was before the star
 * @returns what was recorded and what is decided now, where they differ; else null
 */
export function differenceOf(
  star: CountedStar,
  decide: (command: EventStar) => EventDecision,
): string | null {
  const { starId, wallet, at, heldA, heldB } = star;
  const holdings = { collectionA: heldA, collectionB: heldB, readAt: at };
  const decided = decide({ type: "star", wallet, holdings, at });
  const now = `${countedInWords(decided)} under rules ${rulesOn(dayOf(at)).version}`;
  const then = `${countedInWords(star)} under rules ${star.rules}`;
  return now === then ? null : `star ${starId}: recorded ${then}, decided ${now}`;
}

/** What a star of an event added, in words: equal for equal weights and claims. */
export function countedInWords({
  weight,
  breakdown: { base, collectionA, collectionB },
  claims: { a, b },
}: Pick<CountedStar, "weight" | "breakdown" | "claims">): string {
  const sum = `${base} + ${collectionA} + ${collectionB}`;
  return `weight ${weight} (${sum}), counting A [${a.join(" ")}], B ${b ?? "none"}`;
}
