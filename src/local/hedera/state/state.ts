import { firstIndex } from "../sorted.ts";
import { type Nanos, SECOND } from "../timestamps.ts";
import type {
  AccountVersion,
  CollectionVersion,
  LedgerEvent,
  Message,
  NftChange,
  TopicVersion,
  Transaction,
} from "./events.ts";

/** An entity as it stands. */
export type Standing<Version> = Version & {
  /** Consensus timestamp of its first version. */
  readonly created: Nanos;
};

/** Oldest first; the first change minted it. */
export type NftHistory = NftChange[];

/** A collection with its NFTs, burned ones too: serial n at index n - 1. */
export interface Collection {
  readonly token: Standing<CollectionVersion>;
  readonly nfts: NftHistory[];
}

export interface Topic {
  readonly topic: Standing<TopicVersion>;
  readonly messages: Message[];
}

export interface Block {
  readonly number: number;
  readonly from: Nanos;
  readonly to: Nanos;
  readonly transactions: number;
}

/** Everything that ever happened, as rules and requests look at it. Only `evolve` changes it. */
export interface State {
  /** In consensus order. */
  readonly events: LedgerEvent[];
  lastConsensus: Nanos;
  nextEntity: number;
  readonly accounts: Map<number, Standing<AccountVersion>>;
  /** Account by EVM address, lower-case hex without `0x`. */
  readonly evmAddresses: Map<string, number>;
  readonly collections: Map<number, Collection>;
  /** Serials that an account holds or once held, ascending: by account, then collection. */
  readonly held: Map<number, Map<number, number[]>>;
  readonly topics: Map<number, Topic>;
  /** In consensus order. */
  readonly transactions: Transaction[];
  readonly transactionsByPayer: Map<number, Transaction[]>;
  /** By `transactionKey`: the first, then those refused as duplicates. */
  readonly transactionsById: Map<string, Transaction[]>;
  readonly blocks: Block[];
  /** Transactions since the last block's end. */
  unblocked: number;
}

/** One place in the consensus order: a rule looks, and adds what then happens. */
export interface Turn {
  /** Consensus timestamp, greater than every one before. */
  readonly at: Nanos;
  readonly state: State;
  add(event: LedgerEvent): void;
}

/** What a rule answers when its turn comes; a throw means that nothing happens. */
export type Step<T> = (turn: Turn) => T;

/** The network remembers a transaction, and answers with its receipt, this long. */
const RECEIPT_KEPT: Nanos = 180n * SECOND;

/** Identity of a transaction: a payer starts no two of them at the same nanosecond. */
export function transactionKey(payer: number, validStart: Nanos): string {
  return `${payer}@${validStart}`;
}

/** What the network still knows of a transaction id: its outcome, then those of duplicates. */
export function recentTransactions(state: State, key: string, now: Nanos): readonly Transaction[] {
  const all = state.transactionsById.get(key) ?? [];
  const [first] = all;
  return first !== undefined && first.at + RECEIPT_KEPT > now ? all : [];
}

/** The row that reached consensus at this instant. */
export function rowAt<Row extends { readonly at: Nanos }>(
  rows: readonly Row[],
  at: Nanos,
): Row | undefined {
  const found = rows[firstIndex(rows, (row) => row.at >= at)];
  return found?.at === at ? found : undefined;
}

/** What one transaction changed about NFTs, by collection and serial. */
export function nftChangesAt({ events }: State, at: Nanos): NftChange[] {
  const from = firstIndex(events, (event) => event.at >= at);
  const end = firstIndex(events, (event) => event.at > at);
  return events
    .slice(from, end)
    .filter((event) => event.kind === "nft")
    .sort((a, b) => a.token - b.token || a.serial - b.serial);
}
