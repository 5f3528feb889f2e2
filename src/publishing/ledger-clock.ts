import { bounds } from "../bounds.ts";

/**
 * The ledger's time, as well as one can know it from outside (contract, section 1). It
 * starts from the machine's clock, runs on the monotonic timer, and is corrected by facts:
 * a consensus timestamp was reached, an id was refused as too old, or as not valid yet.
 * So a wrong clock, whichever way, costs a few refused sends and never stops the queue.
 */
export type LedgerClock = ReturnType<typeof createLedgerClock>;

const SECOND = 1_000_000_000n;
/** A start ahead of a node's clock is refused; ten seconds forgive that much between them. */
const START_BEHIND = 10n * SECOND;
/** Nodes refuse what is valid for less than this. */
const VALIDITY_BUFFER = 10n * SECOND;
const VALID_FOR = BigInt(bounds.transactionValidSeconds) * SECOND;
/**
 * Many ids are on their way at once, all dated by one guess. Their refusals are one fact, not
 * twenty steps: guesses are at least twice as far apart as this, answers come sooner.
 */
const SAME_GUESS = 5n * SECOND;
/** The first guess beyond a fact; doubled while guesses are refused, halved in between. */
const FIRST_STEP = 20n * SECOND;

/** @param machineNow this machine's clock in nanoseconds; must not jump */
export function createLedgerClock(machineNow: () => bigint = monotonicNow) {
  let offset = 0n;
  /** The newest facts, as offsets: the ledger is at least, and not yet, this far. */
  let floor: bigint | undefined;
  let ceiling: bigint | undefined;
  let step = FIRST_STEP;

  const atLeast = (timestamp: bigint): void => {
    const given = timestamp - machineNow();
    if (floor === undefined || given > floor) floor = given;
    // Two facts that exclude each other: the older one is out of date, and so are the steps from it.
    if (ceiling !== undefined && floor >= ceiling) {
      ceiling = undefined;
      step = FIRST_STEP;
    }
    if (given > offset) offset = given;
  };
  const nextStep = (): bigint => {
    const now = step;
    step *= 2n;
    return now;
  };

  return {
    /** Nanoseconds since the epoch. */
    now: (): bigint => machineNow() + offset,
    /** Where the next transaction id may start: a little in the past, as nodes want it. */
    nextStart: (): bigint => machineNow() + offset - START_BEHIND,
    /** The ledger has reached this time. */
    sawConsensus: atLeast,
    /** A node took an id that starts at `nextStart`: the guesses were good enough. */
    accepted(): void {
      step = FIRST_STEP;
      ceiling = undefined;
    },
    /** INVALID_TRANSACTION_START: the ledger has not reached the start of that id. */
    refusedAsEarly(validStart: bigint): void {
      // Dated by an earlier guess, whose refusal has been counted already.
      if (validStart + START_BEHIND > machineNow() + offset + SAME_GUESS) return;
      ceiling = validStart - machineNow();
      if (floor !== undefined && floor >= ceiling) {
        floor = undefined;
        step = FIRST_STEP;
      }
      const guess = floor === undefined ? ceiling - nextStep() : between(floor, ceiling);
      offset = min(offset, guess);
    },
    /** TRANSACTION_EXPIRED: the ledger has come too close to the end of that id. */
    refusedAsExpired(validUntil: bigint): void {
      const dated = validUntil - VALID_FOR + START_BEHIND;
      const isStale = dated < machineNow() + offset - SAME_GUESS;
      atLeast(validUntil - VALIDITY_BUFFER);
      if (isStale) return;
      const guess =
        floor === undefined || ceiling === undefined
          ? validUntil - machineNow() + nextStep()
          : between(floor, ceiling);
      offset = max(offset, guess);
    },
  };
}

/** The middle; where they are close, the floor itself, which is then either right or disproved. */
const between = (floor: bigint, ceiling: bigint): bigint =>
  ceiling - floor < 2n * START_BEHIND ? floor : (floor + ceiling) / 2n;
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const max = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** The wall clock at the start of this process, carried on by its monotonic timer. */
function monotonicNow(): bigint {
  const microseconds = (performance.timeOrigin + performance.now()) * 1_000;
  return BigInt(Math.floor(microseconds)) * 1_000n;
}
