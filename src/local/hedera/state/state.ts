import type { Nanos } from "../timestamps.ts";
import { nanosOfMs, SECOND } from "../timestamps.ts";
import type { AccountRow, NftRow, Rows, TokenRow, TopicRow } from "./rows.ts";

/** A collection with its living and its burned NFTs, by serial. */
export interface Collection {
  row: TokenRow;
  readonly nfts: Map<number, NftRow>;
}

/** A topic with the end of its chain. */
export interface Topic {
  row: TopicRow;
  sequence: number;
  runningHash: Uint8Array;
}

/** The newest block, and how many transactions came after it. */
export interface Chain {
  number: number;
  to: Nanos;
  hash: Uint8Array;
  waiting: number;
}

/**
 * Everything a rule looks at, in memory. It may run ahead of Postgres by one batch, never
 * further; when that batch fails it is read again.
 */
export interface State {
  epoch: number;
  lastConsensus: Nanos;
  nextEntity: number;
  readonly accounts: Map<number, AccountRow>;
  /** Account by EVM address, lower-case hex without `0x`. */
  readonly evmAddresses: Map<string, number>;
  readonly collections: Map<number, Collection>;
  readonly topics: Map<number, Topic>;
  /** Transactions that reached consensus in the last 180 s, by id, and when they did. */
  readonly handled: Map<string, Nanos>;
  readonly chain: Chain;
}

/**
 * One place in the consensus order: a rule runs with it, checks first, and only then
 * changes `state` and adds `rows`.
 */
export interface Turn {
  /** Consensus timestamp, greater than every one before. */
  readonly at: Nanos;
  readonly state: State;
  readonly rows: Rows;
}

/** What a rule answers when its turn comes; a throw means that nothing was changed. */
export type Step<T> = (turn: Turn) => T;

/** The network remembers a transaction, and answers with its receipt, this long. */
export const RECEIPT_KEPT: Nanos = 180n * SECOND;

/** Identity of a transaction: a payer starts no two of them at the same nanosecond. */
export function transactionKey(payer: number, validStart: Nanos): string {
  return `${payer}@${validStart}`;
}

/** The next consensus timestamp: the time, or just after the last one if time stood still. */
export function nextConsensus(last: Nanos, nowMs: number): Nanos {
  const now = nanosOfMs(nowMs);
  return now > last ? now : last + 1n;
}

/** Takes the next free entity number. */
export function takeEntityNum(state: State): number {
  const num = state.nextEntity;
  state.nextEntity += 1;
  return num;
}

/** Whether any entity has this number: accounts, tokens and topics share one series. */
export function entityExists(state: State, num: number): boolean {
  return state.accounts.has(num) || state.collections.has(num) || state.topics.has(num);
}

/** Forgets the transactions whose receipts have expired; insertion order is consensus order. */
export function forgetHandled(state: State, now: Nanos): void {
  for (const [key, at] of state.handled) {
    if (at + RECEIPT_KEPT > now) return;
    state.handled.delete(key);
  }
}
