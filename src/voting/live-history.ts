import type { CounterChange } from "../reads/counter-changes.ts";
import type { JournalPlace } from "../store/journal-horizon.ts";

/** A counter as it last changed; `order` rises with the changes this process has heard of. */
export interface LiveCounter extends CounterChange {
  readonly order: number;
}

/**
 * The newest value of each item that changed after `floor`, in the order this process heard of
 * them. An item is kept once, however often it changes: counters are absolute, so older values
 * tell nothing, and no listener needs a list of its own.
 */
export interface LiveHistory {
  /** Every item that changed after this place is here. */
  readonly floor: JournalPlace;
  readonly size: number;
  /** Adds what was read after all that is there. */
  append(changes: readonly CounterChange[]): void;
  /** Adds what happened before `floor`, which is then `to`; the values that are there are newer. */
  prepend(changes: readonly CounterChange[], to: JournalPlace): void;
  /** Items heard of after `order`. */
  after(order: number): Iterable<LiveCounter>;
}

/** Replaced entries that may stay until the list is made anew. */
const REPLACED_MAX = 1_024;

export function createLiveHistory(start: JournalPlace): LiveHistory {
  let floor = start;
  let entries: LiveCounter[] = [];
  const newest = new Map<string, LiveCounter>();
  let last = 0;
  let first = 0;

  /** Where in `entries` those after `order` begin. */
  const firstAfter = (order: number): number => {
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle]?.order ?? 0) > order) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    get floor() {
      return floor;
    },
    get size() {
      return newest.size;
    },
    append(changes) {
      for (const change of changes) {
        last += 1;
        const entry = { ...change, ...causes(change, newest.get(keyOf(change))), order: last };
        entries.push(entry);
        newest.set(keyOf(change), entry);
      }
      if (entries.length > 2 * newest.size + REPLACED_MAX) {
        entries = entries.filter((entry) => newest.get(keyOf(entry)) === entry);
      }
    },
    prepend(changes, to) {
      const older: LiveCounter[] = [];
      for (const change of changes) {
        const there = newest.get(keyOf(change));
        // Whoever knows less must hear of it: what is there says so from now on.
        if (there !== undefined) Object.assign(there, causes(change, there));
        else {
          first -= 1;
          const entry = { ...change, order: first };
          older.unshift(entry);
          newest.set(keyOf(change), entry);
        }
      }
      entries = [...older, ...entries];
      floor = to;
    },
    *after(order) {
      for (let index = firstAfter(order); index < entries.length; index += 1) {
        const entry = entries[index];
        if (entry !== undefined && newest.get(keyOf(entry)) === entry) yield entry;
      }
    },
  };
}

/** The last star and the last release of two changes of one item. */
function causes(one: JournalPlace, other: JournalPlace = one): JournalPlace {
  return { star: Math.max(one.star, other.star), release: Math.max(one.release, other.release) };
}

function keyOf({ type, id }: CounterChange): string {
  return `${type}/${id}`;
}
