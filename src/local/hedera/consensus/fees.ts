import type { SubmittedTransaction } from "./transaction.ts";

/**
 * What the public network asks since January 2026 (simple fees, HIP-1261), in tinycents.
 * The local ledger holds transactions to it, so that a fee cap set too low fails here first.
 */
const SUBMIT_MESSAGE = 8_000_000;
const CREATE_TOPIC = 100_000_000;
/** Writing to a topic with custom fees (HIP-991), on top. */
const CUSTOM_FEES = 492_000_000;
/** The first signature is included. */
const FURTHER_SIGNATURE = 1_000_000;

/** The network's founding rate: 12 cents for one HBAR. */
export const RATE = { hbar: 1, cents: 12 } as const;

/**
 * Tinybars a transaction costs, rounded up.
 *
 * @param toCostlyTopic whether its topic charges custom fees
 */
export function priceOf(transaction: SubmittedTransaction, toCostlyTopic: boolean): number {
  const base = transaction.operation.kind === "create-topic" ? CREATE_TOPIC : SUBMIT_MESSAGE;
  const signatures = Math.max(0, transaction.signatures.count - 1) * FURTHER_SIGNATURE;
  const tinycents = base + signatures + (toCostlyTopic ? CUSTOM_FEES : 0);
  return Math.ceil((tinycents * RATE.hbar) / RATE.cents);
}
