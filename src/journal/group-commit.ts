import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";
import { type CommitOutcome, type Sender, sendBatch, type Waiting } from "./send-batch.ts";
import type { DecidedStar } from "./star-record.ts";
import { claimKeys } from "./star-rows.ts";

/** Writes decided stars, many per commit. */
export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * A star that claims more is large. A batch has any number of small stars, which so never wait
 * behind large ones, and one large star or several that claim so many together. Each
 * claim costs the statement 20 µs: a batch of wallets with thousands of NFTs would take longer
 * than a statement may, and fail as a whole.
 */
const LARGE_FROM_CLAIMS = 32;
const LARGE_CLAIMS_MAX = 4_000;

interface Queued extends Waiting {
  readonly keys: readonly string[];
}

/** Stars on their way in one statement. */
interface Flight {
  readonly batch: Queued[];
  /** Stars that bring a serial which a star of this flight claims. */
  readonly outrun: Queued[];
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
  let flights = 0;
  let idle: (() => void)[] = [];

  const board = (): Flight => {
    const flight: Flight = { batch: [], outrun: [] };
    const passedOver: Queued[] = [];
    let largeClaims = 0;
    while (waiting.length > 0 && flight.batch.length < bounds.commitBatchMax) {
      const next = waiting.shift();
      if (next === undefined) break;
      if (next.answerBy <= performance.now()) {
        next.reject(new RetryableError("UNAVAILABLE", "the star waited too long to be stored"));
        continue;
      }
      const { keys } = next;
      // The attributions that end with a star concern other stars of its mint: it is sent alone.
      const isAlone = next.decided.ends.length > 0;
      if (isAlone && flight.batch.length > 0) {
        passedOver.push(next);
        break;
      }
      const isLarge = keys.length > LARGE_FROM_CLAIMS;
      if (isLarge && largeClaims > 0 && largeClaims + keys.length > LARGE_CLAIMS_MAX) {
        passedOver.push(next);
        continue;
      }
      const ahead = keys.map((key) => claiming.get(key)).find((other) => other !== undefined);
      if (ahead !== undefined) {
        ahead.outrun.push(next);
        continue;
      }
      if (isLarge) largeClaims += keys.length;
      flight.batch.push(next);
      for (const key of keys) claiming.set(key, flight);
      if (isAlone) break;
    }
    waiting.unshift(...passedOver);
    return flight;
  };
  const land = ({ batch, outrun }: Flight): void => {
    for (const { keys } of batch) for (const key of keys) claiming.delete(key);
    for (const each of outrun) each.resolve({ kind: "returned", reason: "outrun" });
    flights -= 1;
    takeOff();
  };
  const takeOff = (): void => {
    while (waiting.length > 0 && flights < bounds.commitFlightsMax) {
      const flight = board();
      if (flight.batch.length === 0) continue;
      flights += 1;
      options.onBatch?.(flight.batch.length);
      void sendBatch(options, flight.batch).finally(() => land(flight));
    }
    if (flights === 0 && waiting.length === 0) {
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
        if (waiting.length === 1) setImmediate(takeOff);
      }),
    /** Resolves when nothing is waiting or in flight. */
    settled: () =>
      new Promise<void>((resolve) => {
        idle.push(resolve);
        setImmediate(takeOff);
      }),
  };
}
