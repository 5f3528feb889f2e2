/** Nanoseconds since the Unix epoch: the ledger's time. They exceed 2^53, so never a number. */
export type Nanos = bigint;

export const SECOND: Nanos = 1_000_000_000n;
const MILLISECOND = 1_000_000;

/** The machine's milliseconds (whole or not) as the ledger's nanoseconds. */
export function nanosOfMs(ms: number): Nanos {
  const whole = Math.floor(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.floor((ms - whole) * MILLISECOND));
}

/** Reads `seconds` or `seconds.n…` (missing digits are zeros on the right: `1.5` is half past one). */
export function parseTimestamp(text: string): Nanos {
  const [seconds = "0", fraction = ""] = text.split(".");
  return BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, "0"));
}
