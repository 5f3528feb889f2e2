import type { OperatorAccount } from "../ledger/operator-account.ts";

/** Below so many messages left, whatever a day takes, somebody should send HBAR. */
export const STARS_LEFT_MIN = 1_000;

/** Messages that the balance still pays for. */
export function starsLeft({ balance, perMessage }: OperatorAccount): number {
  return Math.floor(balance / perMessage);
}
