import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";
import { type CommitOutcome, type Sender, sendBatch, type Waiting } from "./send-batch.ts";
import { claimKeys, type DecidedStar } from "./star-record.ts";

/** Writes decided stars, many per commit. */
export type GroupCommit = ReturnType<typeof createGroupCommit>;

/** A star with more claims is large. A batch takes any number of small ones, which never wait for large ones. */
const LARGE_FROM_CLAIMS = 32;
/**
 * Most claims of a batch's large stars together; a star with more is huge, and sent alone, one at a time.
 * Each claim costs the statement 20 µs: a batch of wallets with thousands of NFTs would take longer
 * than a statement may, and fail as a whole.
 */
const LARGE_CLAIMS_MAX = 4_000;

interface Queued extends Waiting {
  readonly keys: readonly string[];
}

/** Stars on their way in one statement. */
interface Flight {
  readonly batch: Queued[];
  /** Stars that bring a serial which a star of this flight claims. */
  readonly outrun: Queued[];
  /** What its large stars claim together. */
  largeClaims: number;
}

/** Whether a star goes alone: it ends attributions, which concern others of its mint, or is huge. */
function isAlone({ decided, keys }: Queued): boolean {
  return decided.ends.length > 0 || isHuge(keys.length);
}

function isHuge(claims: number): boolean {
  return claims > LARGE_CLAIMS_MAX;
}

/** Whether a star may share a flight with those that are in it, while others are under way. */
function hasRoom(flight: Flight, next: Queued, others: ReadonlySet<Flight>): boolean {
  const claims = next.keys.length;
  // One flight is left to the others.
  if (isHuge(claims) && [...others].some((other) => isHuge(other.largeClaims))) return false;
  if (isAlone(next)) return flight.batch.length === 0;
  return claims <= LARGE_FROM_CLAIMS || !isHuge(flight.largeClaims + claims);
}

/**
 * Up to 128 stars share one statement and one commit, two of them in flight: ten times the
 * throughput of a commit per star, and a reply leaves only after its commit.
 *
 * Stars with very many claims go a few at a time, and those with few do not wait for them.
 *
 * A batch does not share fate: a star that lost a serial, and a row the database refuses, are
 * parted from it and the rest is sent again. A star that brings a serial which another star of
 * this process is just claiming is not sent at all: it is decided again once that one stands.
 */
export function createGroupCommit(
  options: Sender & { readonly onBatch?: (stars: number) => void },
) {
  const waiting: Queued[] = [];
  const claiming = new Map<string, Flight>();
  const flights = new Set<Flight>();
  let isDue = false;
  let idle: (() => void)[] = [];

  const fillFlight = (): Flight => {
    const flight: Flight = { batch: [], outrun: [], largeClaims: 0 };
    const passedOver: Queued[] = [];
    while (waiting.length > 0 && flight.batch.length < bounds.commitBatchMax) {
      const next = waiting.shift();
      if (next === undefined) break;
      if (next.answerBy <= performance.now()) {
        next.reject(new RetryableError("UNAVAILABLE", "the star waited too long to be stored"));
        continue;
      }
      if (!hasRoom(flight, next, flights)) {
        passedOver.push(next);
        continue;
      }
      const { keys } = next;
      const ahead = keys.map((key) => claiming.get(key)).find((other) => other !== undefined);
      if (ahead !== undefined) {
        ahead.outrun.push(next);
        continue;
      }
      if (keys.length > LARGE_FROM_CLAIMS) flight.largeClaims += keys.length;
      flight.batch.push(next);
      for (const key of keys) claiming.set(key, flight);
      if (isAlone(next)) break;
    }
    waiting.unshift(...passedOver);
    return flight;
  };
  const endFlight = (flight: Flight): void => {
    for (const { keys } of flight.batch) for (const key of keys) claiming.delete(key);
    for (const each of flight.outrun) each.resolve({ kind: "returned", reason: "outrun" });
    flights.delete(flight);
    startFlights();
  };
  const startFlights = (): void => {
    isDue = false;
    while (waiting.length > 0 && flights.size < bounds.commitFlightsMax) {
      const flight = fillFlight();
      // Only a huge star is left, and waits for another one.
      if (flight.batch.length === 0) break;
      flights.add(flight);
      options.onBatch?.(flight.batch.length);
      void sendBatch(options, flight.batch).finally(() => endFlight(flight));
    }
    if (flights.size === 0 && waiting.length === 0) {
      for (const resolve of idle) resolve();
      idle = [];
    }
  };

  return {
    /**
     * @param answerBy when the voter stops waiting, by `performance.now()`: a star still in the
     *   queue then is not sent
     * @throws RetryableError `UNAVAILABLE` when the queue is full, or when the database did not
     *   answer and the star was not found either; the star may then still be stored
     */
    commit: (decided: DecidedStar, answerBy = Number.POSITIVE_INFINITY) =>
      new Promise<CommitOutcome>((resolve, reject) => {
        if (waiting.length >= bounds.turnsWaitingMax) {
          reject(new RetryableError("UNAVAILABLE", "too many stars are waiting"));
          return;
        }
        waiting.push({ decided, answerBy, resolve, reject, keys: claimKeys(decided) });
        // All stars decided in this tick go into one batch.
        if (isDue) return;
        isDue = true;
        setImmediate(startFlights);
      }),
    /** Resolves when nothing is waiting or in flight. */
    settled: () =>
      new Promise<void>((resolve) => {
        idle.push(resolve);
        setImmediate(startFlights);
      }),
  };
}
