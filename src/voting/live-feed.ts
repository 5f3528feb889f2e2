import { RetryableError } from "../errors.ts";
import type { CounterChange } from "../reads/counter-changes.ts";
import type { JournalHorizon, JournalPlace } from "../store/journal-horizon.ts";
import { createLiveHistory, type LiveHistory } from "./live-history.ts";

export interface LiveFeedDeps {
  /** Looks how far the journal is. */
  readonly lookAtJournal: () => Promise<JournalHorizon>;
  readonly loadChanges: (
    after: JournalPlace,
    upTo: JournalPlace,
  ) => Promise<readonly CounterChange[]>;
}

/** What this process knows of changed counters, read from Postgres; one call at a time. */
export interface LiveFeed {
  /** Everything up to here is in the history. */
  readonly place: JournalPlace;
  /** Begins where the journal is now, with nothing behind it. */
  begin(): Promise<LiveHistory>;
  /**
   * Reads on to where the journal is now.
   *
   * @returns `lost` when that cannot be done in one piece: begin anew
   */
  readOn(): Promise<Progress>;
  /**
   * Reads on to where the journal was at a moment, or later. Who has heard of values elsewhere
   * must not be told older ones here.
   *
   * @param moment by `performance.now()`
   * @throws RetryableError `UNAVAILABLE` when the journal does not come to rest
   */
  catchUp(moment: number): Promise<Progress>;
  /**
   * Reads further back, so that everything after a place is in the history. Only when caught up.
   *
   * @returns false when the place is too far back, or none of this journal
   */
  reachBack(since: JournalPlace): Promise<boolean>;
}

export type Progress = "changed" | "unchanged" | "lost";

/** Stars between two places that are added up at once (some 0.2 s); beyond it, begin anew. */
const CHANGES_MAX = 100_000;
/** Items kept per process, some 5 MB; more than any directory holds. */
const ITEMS_MAX = 20_000;
const REST_WITHIN_MS = 2_000;
const LOOK_AGAIN_MS = 5;

export function createLiveFeed({ lookAtJournal, loadChanges }: LiveFeedDeps): LiveFeed {
  let place: JournalPlace = { star: 0, release: 0 };
  let history = createLiveHistory(place);
  /** When the last complete reading began. */
  let caughtUpAt = Number.NEGATIVE_INFINITY;

  const readOn = async (): Promise<Progress> => {
    const { settled, drawn } = await lookAtJournal();
    // Further back than it was: another database, which may count anew.
    if (isBeyond(place, drawn) || distance(place, settled) > CHANGES_MAX) return "lost";
    if (history.size > ITEMS_MAX) return "lost";
    if (!isBeyond(settled, place)) return "unchanged";
    const changes = await loadChanges(place, settled);
    history.append(changes);
    place = furthest(place, settled);
    return changes.length > 0 ? "changed" : "unchanged";
  };
  return {
    get place() {
      return place;
    },
    readOn,
    async begin() {
      const startedAt = performance.now();
      const { drawn } = await lookAtJournal();
      await atRest(async () => {
        place = (await lookAtJournal()).settled;
        return !isBeyond(drawn, place);
      });
      caughtUpAt = startedAt;
      history = createLiveHistory(place);
      return history;
    },
    async catchUp(moment) {
      // Many that come back at once share one reading.
      if (caughtUpAt >= moment) return "unchanged";
      const startedAt = performance.now();
      const { drawn } = await lookAtJournal();
      let outcome: Progress = "unchanged";
      await atRest(async () => {
        const step = await readOn();
        if (step !== "unchanged") outcome = step;
        return step === "lost" || !isBeyond(drawn, place);
      });
      caughtUpAt = startedAt;
      return outcome;
    },
    async reachBack(since) {
      // Nobody has heard of what is still to come.
      if (isBeyond(since, place)) return false;
      const { floor } = history;
      if (!isBeyond(floor, since)) return true;
      if (distance(since, floor) > CHANGES_MAX) return false;
      const to = nearest(since, floor);
      history.prepend(await loadChanges(to, floor), to);
      return true;
    },
  };
}

/** Repeats a look until it answers true; a writer is gone within milliseconds. */
async function atRest(look: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await look())) {
    if (performance.now() - startedAt > REST_WITHIN_MS) {
      throw new RetryableError("UNAVAILABLE", "the journal does not come to rest");
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** Whether one place is after another in stars or in releases. */
export function isBeyond(one: JournalPlace, other: JournalPlace): boolean {
  return one.star > other.star || one.release > other.release;
}

export function furthest(one: JournalPlace, other: JournalPlace): JournalPlace {
  return { star: Math.max(one.star, other.star), release: Math.max(one.release, other.release) };
}

function nearest(one: JournalPlace, other: JournalPlace): JournalPlace {
  return { star: Math.min(one.star, other.star), release: Math.min(one.release, other.release) };
}

function distance(from: JournalPlace, to: JournalPlace): number {
  return Math.max(0, to.star - from.star) + Math.max(0, to.release - from.release);
}
