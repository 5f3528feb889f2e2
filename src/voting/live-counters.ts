import { setTimeout as delay } from "node:timers/promises";
import { type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { CLOCKS_DIFFER_MS } from "../clock.ts";
import { RetryableError } from "../errors.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import type { CounterChange } from "../reads/counter-changes.ts";
import { every, type Repeating } from "../service.ts";
import {
  type CommitWatermark,
  isBeyond,
  type JournalPosition,
  type LookAtJournal,
  settleJournal,
} from "../store/commit-watermark.ts";
import {
  distance,
  type LiveEvent,
  type LivePosition,
  LiveRing,
  nearest,
  parseEventId,
  writeEventId,
} from "./live-ring.ts";

export interface LiveSource {
  readonly lookAtJournal: LookAtJournal;
  /** Counters that changed after one position and up to another. */
  readonly loadChanges: (
    after: JournalPosition,
    upTo: JournalPosition,
  ) => Promise<readonly CounterChange[]>;
  readonly now: () => number;
  readonly log: Logger;
  readonly pollEveryMs?: number;
}

/** A stream that is woken for changes. */
export interface Listener {
  /** There is something new to take. */
  wake(): void;
  /** It gets nothing more: its client comes back with the last id. */
  end(): void;
}

/** One listener's walk through the changes. */
export interface Following {
  /** What an id stands for at the start. */
  readonly id: string;
  /** False when what happened since the given id cannot be known: read everything again. */
  readonly isResumed: boolean;
  /** The UTC day that began since the given id; null where there is none. */
  readonly newDay: Day | null;
  /** The next events, at most so many; undefined when some were missed: end the stream. */
  take(max: number): readonly LiveEvent[] | undefined;
  stop(): void;
}

/** One small statement per process, and only while there is a listener. */
const POLL_EVERY_MS = 250;
/** Listeners woken together; a thousand are woken over a second, so that votes come in between. */
const WOKEN_AT_ONCE = 100;
const WAKE_PAUSE_MS = 100;
/** Stars between two positions that are added up at once (some 0.2 s); beyond it, start with a new ring. */
const CHANGES_MAX = 100_000;
const SETTLED_WITHIN_MS = 2_000;

/**
 * Makes changed counters known to any number of listeners, by one shared poll into one ring. They
 * are read from Postgres, by the journal's numbers: so every process knows of every star,
 * whichever process accepted it and whether or not Redis is there, and a vote costs nothing more.
 */
export class LiveCounters {
  readonly #source: LiveSource;
  readonly #listeners = new Set<Listener>();
  /** Undefined while there is no listener. */
  #ring: LiveRing | undefined;
  /** The ring's end when the listeners were last woken. */
  #wokenAt = 0;
  #polling: Repeating | undefined;
  /** When the last reading of everything that was committed began. */
  #caughtUpAt = Number.NEGATIVE_INFINITY;
  readonly #outage: ReturnType<typeof oncePerOutage>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: LiveSource) {
    this.#source = source;
    this.#outage = oncePerOutage(source.log, "live counters cannot be read");
  }

  /** @param lastEventId the last id a client received; empty to begin now */
  follow(listener: Listener, lastEventId: string): Promise<Following> {
    const askedAt = performance.now();
    const since = parseEventId(lastEventId);
    return this.#inTurn(async () => {
      const ring = (since === null && this.#ring) || (await this.#catchUp(askedAt));
      const isKnown = since !== null && (await this.#reachBack(ring, since));
      let next = isKnown ? ring.after(since) : ring.end;
      // The last of the others may have left meanwhile.
      this.#ring = ring;
      this.#listeners.add(listener);
      // The next reading begins where one that failed did.
      this.#polling ??= every(this.#source.pollEveryMs ?? POLL_EVERY_MS, () => this.#poll(), {
        onFailure: this.#outage.failed,
      });
      return {
        id: writeEventId(ring, isKnown ? since : ring.position),
        isResumed: isKnown || lastEventId === "",
        newDay: since !== null && since.day < ring.day ? ring.day : null,
        take(max) {
          const taken = ring.take(next, max);
          next = taken?.next ?? next;
          return taken?.events;
        },
        stop: () => this.#stop(listener),
      };
    });
  }

  /** One reading at a time: no listener sees an older value after a newer one. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** Knows everything that was committed before a moment, as a client may know it already. */
  async #catchUp(moment: number): Promise<LiveRing> {
    // Many that come back at once share one reading.
    if (this.#ring !== undefined && this.#caughtUpAt >= moment) return this.#ring;
    const startedAt = performance.now();
    const seen = await settleJournal(this.#source.lookAtJournal, SETTLED_WITHIN_MS);
    if (seen === null)
      throw new RetryableError("UNAVAILABLE", "the journal's writers did not finish in time");
    const ring = await this.#readOn(seen);
    this.#caughtUpAt = startedAt;
    return ring;
  }

  /** Reads on to a settled position, in a new ring where that cannot be done in one piece. */
  async #readOn({ settled: to, journal }: CommitWatermark): Promise<LiveRing> {
    const { now, loadChanges } = this.#source;
    const ring = this.#ring;
    // Another database, or an older copy of it, whose numbers may start again; or today's counters would
    // be taken for those of a day that is over.
    const isLost =
      ring &&
      (ring.journal !== journal ||
        startOfDay(ring.day) - now() > CLOCKS_DIFFER_MS ||
        isBeyond(ring.position, to) ||
        distance(ring.position, to) > CHANGES_MAX);
    if (ring === undefined || isLost) {
      for (const listener of [...this.#listeners]) listener.end();
      this.#ring = new LiveRing(to, { day: dayOf(now()), journal });
      this.#wokenAt = 0;
      return this.#ring;
    }
    ring.turn(dayOf(now()));
    if (isBeyond(to, ring.position)) ring.append(await loadChanges(ring.position, to), to);
    return ring;
  }

  /** Reads back to an older position. @returns false when it is too old, or none of this day and journal */
  async #reachBack(ring: LiveRing, since: LivePosition): Promise<boolean> {
    if (since.day !== ring.day || since.journal !== ring.journal) return false;
    // No process can have written what is still to come.
    if (isBeyond(since, ring.position) || distance(since, ring.floor) > CHANGES_MAX) return false;
    if (isBeyond(ring.floor, since)) {
      if (ring.hasForgotten) return false;
      const from = nearest(since, ring.floor);
      ring.prepend(await this.#source.loadChanges(from, ring.floor), from);
    }
    return true;
  }

  async #poll(): Promise<void> {
    await this.#inTurn(async () => {
      const seen = await this.#source.lookAtJournal();
      if (this.#listeners.size > 0) await this.#readOn(seen);
    });
    this.#outage.over();
    // A client that came back may have had the ring read on.
    if (this.#ring === undefined || this.#ring.end === this.#wokenAt) return;
    this.#wokenAt = this.#ring.end;
    const listeners = [...this.#listeners];
    for (const [index, listener] of listeners.entries()) {
      const isPause = index > 0 && index % WOKEN_AT_ONCE === 0;
      if (isPause) await delay(WAKE_PAUSE_MS, undefined, { ref: false });
      listener.wake();
    }
  }

  #stop(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#ring = undefined;
    void this.#polling?.close();
    this.#polling = undefined;
  }
}
