import { type Day, isDay } from "../../actors/day.ts";
import type { JournalPosition } from "../store/commit-watermark.ts";

/** What a listener knows: everything up to a position of the journal, on a UTC day. */
export interface LivePosition extends JournalPosition {
  readonly day: Day;
}

/** Writes a position as the `id` of an event, which is good at every process. */
export function writeEventId(day: Day, { star, release }: JournalPosition): string {
  return `${day}.${star}-${release}`;
}

/** The position that an event's id names; null where it is no id of this journal. */
export function parseEventId(id: string): LivePosition | null {
  const [, day = "", star, release] = /^([\d-]{10})\.(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return isDay(day) ? { day, star: Number(star), release: Number(release) } : null;
}

/** The lower number of each kind: everything up to there lies before both positions. */
export function nearest(one: JournalPosition, other: JournalPosition): JournalPosition {
  return { star: Math.min(one.star, other.star), release: Math.min(one.release, other.release) };
}

/** Stars and releases from one position to a later one. */
export function distance(from: JournalPosition, to: JournalPosition): number {
  return Math.max(0, to.star - from.star) + Math.max(0, to.release - from.release);
}
