import { bounds } from "../bounds.ts";
import type { ReadLimits } from "./mirror/limits.ts";
import type { MirrorNode } from "./mirror/node.ts";
import type { MirrorExchangeRate } from "./mirror/schemas.ts";

/** What a message of one chunk and one signature costs since January 2026 (HIP-1261): 0.0008 USD. */
const MESSAGE_CENTS = 0.08;
const TINYBARS_PER_HBAR = 100_000_000;

/** What the account that pays for messages has, in tinybars, and what one of them takes. */
export interface OperatorAccount {
  readonly balance: number;
  readonly perMessage: number;
}

/**
 * Reads the operator's account from a mirror node.
 *
 * @returns null where the node knows no such account, or not what it holds
 * @throws MirrorError
 */
export async function readOperatorAccount(
  mirror: Pick<MirrorNode, "account" | "exchangeRate">,
  id: string,
  limits: ReadLimits,
): Promise<OperatorAccount | null> {
  const [account, rate] = await Promise.all([
    mirror.account(id, limits),
    mirror.exchangeRate(limits),
  ]);
  const balance = account?.deleted === false ? account.balance?.balance : undefined;
  return balance === undefined ? null : { balance, perMessage: messageCost(rate) };
}

/** Tinybars a message costs; without a rate the most that we would ever pay. */
function messageCost(rate: MirrorExchangeRate | null): number {
  if (rate === null) return bounds.transactionFeeMaxTinybars;
  return Math.ceil((MESSAGE_CENTS * TINYBARS_PER_HBAR * rate.hbars) / rate.cents);
}

/** For people: HBAR, to a ten-thousandth. */
export function hbarText(tinybars: number): string {
  const hbars = Math.floor(tinybars / 10_000) / 10_000;
  return `${hbars.toLocaleString("en-US", { maximumFractionDigits: 4 })} HBAR`;
}
