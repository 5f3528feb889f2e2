import { type Day, isDay } from "../../actors/day.ts";
import type { CounterChange } from "../reads/counter-changes.ts";
import { isBeyond, type JournalPosition } from "../store/commit-watermark.ts";

/** One event, the same for every stream. */
export interface LiveEvent {
  readonly event: "counter" | "day";
  /** The position of a listener that has this event and all before it. */
  readonly id: string;
  /** JSON. */
  readonly data: string;
}

interface Entry extends LiveEvent {
  /** Where two entries have one key the later one counts. */
  readonly key: string;
  /** The UTC day after which it is over; null where it never is. */
  readonly until: Day | null;
  /** The journal's position at the end of the reading that it came with. */
  readonly upTo: JournalPosition;
}

/** Some 15 MB. A stream that is further behind ends; its client reads again what it shows. */
const ENTRIES_MAX = 50_000;

/**
 * The latest changes that this process has read, in order. A stream is a number in it. Counters
 * are absolute, so an entry that a later one replaces is skipped, and a slow stream costs no
 * more than its number.
 */
export class LiveRing {
  /** Every change after `floor` and up to `position` is here. */
  floor: JournalPosition;
  position: JournalPosition;
  day: Day;
  readonly journal: string;
  #entries: Entry[] = [];
  #first = 0;
  /** Whether entries were dropped: streams may still hold their numbers, so none is given out again. */
  hasForgotten = false;
  readonly #newest = new Map<string, Entry>();

  constructor(position: JournalPosition, { day, journal }: LiveScope) {
    this.floor = position;
    this.position = position;
    this.day = day;
    this.journal = journal;
  }

  get end(): number {
    return this.#first + this.#entries.length;
  }

  /** Begins a UTC day: one event says so, and daily counters of earlier days are gone. */
  turn(day: Day): void {
    if (day <= this.day) return;
    this.day = day;
    for (const [key, entry] of this.#newest) if (this.#isOver(entry)) this.#newest.delete(key);
    const id = writeEventId(this, this.position);
    const data = JSON.stringify({ day });
    this.#add({ event: "day", id, data, key: "day", until: null, upTo: this.position });
  }

  /** Adds the changes from `position` up to a later one. */
  append(changes: readonly CounterChange[], upTo: JournalPosition): void {
    // Another process may have taken a star of the new day before our clock knows of it.
    for (const { day } of changes) this.turn(day);
    for (const entry of this.#write(changes, this.position, upTo)) this.#add(entry);
    this.position = upTo;
    if (this.#entries.length > ENTRIES_MAX) this.#forgetOldest();
  }

  /** Adds the changes from an earlier position up to `floor`. */
  prepend(changes: readonly CounterChange[], from: JournalPosition): void {
    const written = this.#write(changes, from, this.floor);
    const older = written.filter(({ key }) => !this.#newest.has(key));
    for (const entry of older) this.#newest.set(entry.key, entry);
    this.#entries = [...older, ...this.#entries];
    this.#first -= older.length;
    this.floor = from;
  }

  /** The number from which to read what happened after a position, `floor` or later. */
  after(since: JournalPosition): number {
    return this.#first + this.#entries.findLastIndex(({ upTo }) => !isBeyond(upTo, since)) + 1;
  }

  /**
   * The next events from a number on, at most so many, and the number at which to go on.
   *
   * @returns undefined when some of them are no longer here
   */
  take(from: number, max: number): { events: readonly LiveEvent[]; next: number } | undefined {
    if (from < this.#first) return undefined;
    const events: LiveEvent[] = [];
    let index = from - this.#first;
    for (; index < this.#entries.length && events.length < max; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined && this.#newest.get(entry.key) === entry) events.push(entry);
    }
    return { events, next: this.#first + index };
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    this.#newest.set(entry.key, entry);
  }

  #isOver({ until }: Pick<Entry, "until">): boolean {
    return until !== null && until < this.day;
  }

  /** A listener has all up to `upTo` with the last of these changes alone: the others bear the id of `from`. */
  #write(changes: readonly CounterChange[], from: JournalPosition, upTo: JournalPosition): Entry[] {
    return changes
      .map((change) => ({ change, until: change.type === "event" ? null : change.day }))
      .filter((counter) => !this.#isOver(counter))
      .map(({ change, until }, index, { length }) => ({
        event: "counter",
        id: writeEventId(this, index === length - 1 ? upTo : from),
        data: JSON.stringify(change),
        key: `${change.type}/${change.id}`,
        until,
        upTo,
      }));
  }

  #forgetOldest(): void {
    this.hasForgotten = true;
    const gone = this.#entries.splice(0, this.#entries.length - ENTRIES_MAX / 2);
    for (const entry of gone) {
      if (this.#newest.get(entry.key) === entry) this.#newest.delete(entry.key);
    }
    this.#first += gone.length;
    this.floor = gone.at(-1)?.upTo ?? this.floor;
  }
}

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
