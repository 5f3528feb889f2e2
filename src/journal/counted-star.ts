import { dayOf } from "../../actors/day.ts";
import type { EventDecision, EventStar } from "../../actors/event-day.ts";
import type { Claims } from "../../actors/nft-accounting.ts";
import { rulesOn } from "../../actors/rules.ts";
import type { Breakdown } from "../../actors/weight.ts";
import type { Sql } from "../store/postgres.ts";
import { walletOf } from "./star-record.ts";

/** A star as the journal gives it to an event's actor. */
export interface CountedStar {
  readonly starId: string;
  readonly wallet: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly heldA: readonly number[];
  readonly heldB: readonly number[];
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly claims: Claims;
  /** The version of the rules it was decided under. */
  readonly rules: number;
}

/** postgres.js leaves the elements of a bigint array as text. */
export type Serials = readonly (string | number)[];

/** The same as columns of `star`. */
export interface CountedStarRow {
  readonly id: string;
  readonly wallet: number;
  readonly at: number;
  readonly held_a: Serials;
  readonly held_b: Serials;
  readonly weight: number;
  readonly base: number;
  readonly counted_a: number;
  readonly bonus_b: number;
  readonly claimed_a: Serials;
  readonly claimed_b: number | null;
  readonly rules: number;
}

/** The columns of `star` that make a `CountedStarRow`; a part of a select. */
export function countedStarColumns(sql: Sql) {
  return sql`id, wallet, at, held_a, held_b, weight, base, counted_a, bonus_b, claimed_a, claimed_b, rules`;
}

export function countedStarOf(row: CountedStarRow): CountedStar {
  return {
    starId: row.id,
    wallet: walletOf(row.wallet),
    at: row.at,
    heldA: row.held_a.map(Number),
    heldB: row.held_b.map(Number),
    weight: row.weight,
    breakdown: { base: row.base, collectionA: row.counted_a, collectionB: row.bonus_b },
    claims: { a: row.claimed_a.map(Number), b: row.claimed_b },
    rules: row.rules,
  };
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
  const { version } = rulesOn(dayOf(at));
  const [now, then] = [decisionOf({ ...decided, rules: version }), decisionOf(star)];
  return now === then ? null : `star ${starId}: recorded ${then}, decided ${now}`;
}

/** What a star of an event added, in one line. */
function decisionOf({
  weight,
  breakdown: { base, collectionA, collectionB },
  claims: { a, b },
  rules,
}: Pick<CountedStar, "weight" | "breakdown" | "claims" | "rules">): string {
  const claims = `A [${a.join(" ")}], B ${b ?? "none"}`;
  return `weight ${weight} (${base} + ${collectionA} + ${collectionB}), ${claims} under rules ${rules}`;
}
