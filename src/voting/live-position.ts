import { type Day, isDay } from "../../actors/day.ts";
import type { JournalPosition } from "../store/commit-watermark.ts";

/** The journal that is read on, and the UTC day. */
export interface LiveScope {
  readonly day: Day;
  /** Its name, see `CommitWatermark`. */
  readonly journal: string;
}

/** What a listener knows: everything up to a position of a journal, on a UTC day. */
export type LivePosition = JournalPosition & LiveScope;

/** Writes a position as the `id` of an event, which is good at every process. */
export function writeEventId(
  { day, journal }: LiveScope,
  { star, release }: JournalPosition,
): string {
  return `${day}.${star}-${release}.${journal}`;
}

const EVENT_ID = /^([\d-]{10})\.(\d{1,15})-(\d{1,15})(?:\.([\da-f]{8}))?$/;

/** The position that an event's id names; null where it is none. */
export function parseEventId(id: string): LivePosition | null {
  const [, day = "", star, release, journal = ""] = EVENT_ID.exec(id) ?? [];
  return isDay(day) ? { day, star: Number(star), release: Number(release), journal } : null;
}

/** The lower number of each kind: everything up to there lies before both positions. */
export function nearest(one: JournalPosition, other: JournalPosition): JournalPosition {
  return { star: Math.min(one.star, other.star), release: Math.min(one.release, other.release) };
}

/** Stars and releases from one position to a later one. */
export function distance(from: JournalPosition, to: JournalPosition): number {
  return Math.max(0, to.star - from.star) + Math.max(0, to.release - from.release);
}
