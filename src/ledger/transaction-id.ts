/**
 * Transaction ids and consensus timestamps in the two spellings the ledger has
 * for them. Nanoseconds always have nine digits: `1.42` could mean 42 or
 * 420,000,000, so it is refused.
 */

/** What identifies a transaction: who pays, and when it becomes valid. */
export interface TransactionId {
  /** Canonical account id. */
  readonly payer: string;
  /** Nanoseconds since the Unix epoch. */
  readonly validStart: bigint;
}

const NANOS_PER_SECOND = 1_000_000_000n;
const TIMESTAMP = /^(?<seconds>0|[1-9]\d{0,9})\.(?<nanos>\d{9})$/;
const TRANSACTION_ID =
  /^(?<payer>0\.0\.[1-9]\d{0,11})(?:@(?<at>\d{1,10}\.\d{9})|-(?<seconds>\d{1,10})-(?<nanos>\d{9}))$/;

/**
 * `seconds.nnnnnnnnn` as nanoseconds since the Unix epoch.
 *
 * @throws RangeError when the text is anything else
 */
export function parseTimestamp(text: string): bigint {
  const { seconds, nanos } = TIMESTAMP.exec(text)?.groups ?? {};
  if (seconds === undefined || nanos === undefined) {
    throw new RangeError(`not a consensus timestamp: ${text.slice(0, 40)}`);
  }
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos);
}

/** Nanoseconds since the Unix epoch as `seconds.nnnnnnnnn`. @throws RangeError when negative */
export function formatTimestamp(nanoseconds: bigint): string {
  if (nanoseconds < 0n) throw new RangeError(`before the epoch: ${nanoseconds}`);
  const nanos = String(nanoseconds % NANOS_PER_SECOND).padStart(9, "0");
  return `${nanoseconds / NANOS_PER_SECOND}.${nanos}`;
}

/** A consensus timestamp in whole epoch milliseconds; 0 for no text. */
export function msOf(timestamp: string): number {
  const [seconds = "0", nanos = "0"] = timestamp.split(".");
  return Number(seconds) * 1_000 + Math.floor(Number(nanos) / 1_000_000);
}

/**
 * Reads `0.0.n@s.nnnnnnnnn` and the mirror node's `0.0.n-s-nnnnnnnnn`.
 *
 * @throws RangeError when the text is neither
 */
export function parseTransactionId(text: string): TransactionId {
  const { payer, at, seconds, nanos } = TRANSACTION_ID.exec(text)?.groups ?? {};
  if (payer === undefined) throw new RangeError(`not a transaction id: ${text.slice(0, 60)}`);
  return { payer, validStart: parseTimestamp(at ?? `${seconds}.${nanos}`) };
}

/** `0.0.n@s.nnnnnnnnn`, the form we store and show. */
export function formatTransactionId(id: TransactionId): string {
  return `${id.payer}@${formatTimestamp(id.validStart)}`;
}

/** `0.0.n-s-nnnnnnnnn`, the only form the mirror node's paths take. */
export function mirrorTransactionId(id: TransactionId): string {
  return `${id.payer}-${formatTimestamp(id.validStart).replace(".", "-")}`;
}
