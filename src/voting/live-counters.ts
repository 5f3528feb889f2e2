import type { Logger } from "../log.ts";
import type { JournalPlace } from "../store/journal-horizon.ts";
import {
  createLiveFeed,
  furthest,
  isBeyond,
  type LiveFeedDeps,
  type Progress,
} from "./live-feed.ts";
import type { LiveCounter, LiveHistory } from "./live-history.ts";

export interface LiveCountersDeps extends LiveFeedDeps {
  readonly log: Logger;
  readonly pollEveryMs?: number;
}

/** Who hears of changes. */
export interface Listener {
  /** There is something new to take. */
  wake(): void;
  /** There is nothing more to take: it must begin anew. */
  cut(): void;
}

/** One listener's walk through the changes. */
export interface Following {
  /** False when what happened since the given place cannot be told: read everything anew. */
  readonly isResumed: boolean;
  /** Where it begins. */
  readonly place: JournalPlace;
  /** The next counters, each with its newest value alone. */
  take(max: number): Taken;
  end(): void;
}

export interface Taken {
  readonly counters: readonly LiveCounter[];
  /** Whoever has these knows everything up to here; null when there is more to take first. */
  readonly place: JournalPlace | null;
  /** Nothing between the first and the last was left out: others take the very same. */
  readonly isWhole: boolean;
}

/**
 * Tells changed counters to any number of listeners. They are read from Postgres, by the
 * journal's numbers: so every process tells of every star, whichever process accepted it and
 * whether or not Redis is there, and a vote costs nothing more for being told.
 */
export interface LiveCounters {
  /**
   * @param since the place a listener has heard of; null to begin now
   * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
   */
  follow(listener: Listener, since: JournalPlace | null): Promise<Following>;
}

/** One small statement per process, and only while somebody listens. */
const POLL_EVERY_MS = 250;
/** A thousand listeners hear once in 1.25 s, so that telling them takes no time from votes. */
const LATER_PER_LISTENER_MS = 1;
/** Listeners woken in one turn of the event loop, so that votes come in between. */
const WOKEN_AT_ONCE = 100;

export function createLiveCounters(deps: LiveCountersDeps): LiveCounters {
  const { log, pollEveryMs = POLL_EVERY_MS } = deps;
  const feed = createLiveFeed(deps);
  const listeners = new Set<Listener>();
  /** Undefined while nobody reads on. */
  let history: LiveHistory | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOut = false;
  /** One reading at a time: no listener sees an older value after a newer one. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };

  const startAnew = async (): Promise<LiveHistory> => {
    clearTimeout(timer);
    timer = setTimeout(poll, pollEveryMs).unref();
    history = await feed.begin();
    return history;
  };
  /** @returns the history, undefined when there is none any more */
  const tell = async (outcome: Progress): Promise<LiveHistory | undefined> => {
    if (outcome === "changed") await wakeAll([...listeners]);
    if (outcome === "lost") {
      history = undefined;
      for (const listener of [...listeners]) listener.cut();
    }
    return history;
  };
  const look = async (): Promise<void> => {
    if (listeners.size === 0) {
      history = undefined;
      return;
    }
    try {
      if (history !== undefined) await tell(await feed.readOn());
    } finally {
      const inMs = pollEveryMs + LATER_PER_LISTENER_MS * listeners.size;
      timer = setTimeout(poll, inMs).unref();
    }
  };
  const poll = async (): Promise<void> => {
    await inTurn(look).then(
      () => {
        isOut = false;
      },
      (error: unknown) => {
        // One line per outage; the next reading begins where this one did.
        if (!isOut) log.warn({ err: error }, "live counters cannot be read just now");
        isOut = true;
      },
    );
  };

  return {
    follow(listener, since) {
      const askedAt = performance.now();
      return inTurn(async () => {
        let known = history ?? (await startAnew());
        if (since !== null)
          known = (await tell(await feed.catchUp(askedAt))) ?? (await startAnew());
        const isResumed = since === null || (await feed.reachBack(since));
        const place = since !== null && isResumed ? since : feed.place;
        listeners.add(listener);
        return {
          isResumed,
          place,
          take: walk(known, place, () => feed.place),
          end: () => void listeners.delete(listener),
        };
      });
    },
  };
}

/** Walks through the history behind everybody else's walk. */
function walk(
  history: LiveHistory,
  from: JournalPlace,
  placeNow: () => JournalPlace,
): Following["take"] {
  let order = Number.NEGATIVE_INFINITY;
  return (max) => {
    const counters: LiveCounter[] = [];
    let isWhole = true;
    for (const counter of history.after(order)) {
      if (counters.length === max) return { counters, place: null, isWhole };
      order = counter.order;
      if (isBeyond(counter, from)) counters.push(counter);
      else isWhole = false;
    }
    return { counters, place: furthest(from, placeNow()), isWhole };
  };
}

async function wakeAll(listeners: readonly Listener[]): Promise<void> {
  for (let start = 0; start < listeners.length; start += WOKEN_AT_ONCE) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const listener of listeners.slice(start, start + WOKEN_AT_ONCE)) listener.wake();
  }
}
