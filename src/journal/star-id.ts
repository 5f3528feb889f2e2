import { getRandomValues } from "node:crypto";
import { UUID } from "uuidv7";
import { type Day, dayOf, isDay } from "../../actors/day.ts";

/** One call to the system for 341 ids: a call for each cost a quarter of a decision. */
const pool = new Uint32Array(1_023);
let next = pool.length;

function randomWord(): number {
  if (next === pool.length) {
    getRandomValues(pool);
    next = 0;
  }
  const word = pool[next] ?? 0;
  next += 1;
  return word;
}

/** A new star id: a UUIDv7 of the given instant (epoch ms), so ids sort by acceptance. */
export function newStarId(at: number): string {
  const [a, hi, lo] = [randomWord() >>> 20, randomWord() >>> 2, randomWord()];
  return UUID.fromFieldsV7(at, a, hi, lo).toString();
}

/** When a star was decided, epoch ms: the first 48 bits of its id. */
export function instantOfStarId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * The UTC day of a star, read from its id alone: it names the journal's partition.
 *
 * @returns null when the text is not the id of a star
 */
export function dayOfStarId(id: string): Day | null {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))
    return null;
  const day = dayOf(instantOfStarId(id));
  // Its 48 bits of milliseconds reach beyond the year 9999; no star does.
  return isDay(day) ? day : null;
}
