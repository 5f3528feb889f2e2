import { RECEIPT_KEPT, transactionKey } from "../state/state.ts";
import type { LedgerStore } from "../state/store.ts";
import type { Nanos } from "../timestamps.ts";
import { codeNamed, type ResponseCode } from "./codes.ts";

/** How a transaction ended, as far as the network tells its sender. */
export interface Receipt {
  readonly status: ResponseCode;
  /** Number of the topic created. */
  readonly topic?: number;
  /** Set for a message. */
  readonly sequence?: number;
  readonly runningHash?: Uint8Array;
}

/** The same, with the entity that the transaction is about. */
export type Outcome = Receipt & { readonly entity?: number };

/** What the nodes know of one transaction id. */
interface Entry {
  /** Nodes that accepted it; each refuses to take it twice. */
  readonly acceptedBy: Set<number>;
  /** In consensus order: the outcome, then those of duplicates. Empty while under way. */
  readonly receipts: Receipt[];
  readonly waiting: (() => void)[];
}

/** The nodes' memory of transactions: under way, and of those done the last 180 s. */
export interface Receipts {
  /** Whether this node must call a transaction a duplicate. */
  knownTo(node: number, key: string): boolean;
  /** A node has accepted it. */
  accept(node: number, key: string): void;
  /** It reached consensus, and is durable. */
  finish(key: string, receipt: Receipt): void;
  /** It will never reach consensus: the ledger ended first. */
  lose(node: number, key: string): void;
  /** The outcomes so far; undefined when nothing is known (any more). */
  find(key: string): readonly Receipt[] | undefined;
  /** Resolves when it has an outcome, or after `ms`. */
  settled(key: string, ms: number): Promise<void>;
}

/** @param now the time in ledger nanoseconds */
export async function openReceipts(store: LedgerStore, now: () => Nanos): Promise<Receipts> {
  const entries = new Map<string, Entry>();
  const expiries: { readonly key: string; readonly at: Nanos }[] = [];
  const entryOf = (key: string): Entry => {
    const entry = entries.get(key) ?? { acceptedBy: new Set(), receipts: [], waiting: [] };
    entries.set(key, entry);
    return entry;
  };
  const finish = (key: string, receipt: Receipt, at: Nanos): void => {
    const entry = entryOf(key);
    if (entry.receipts.length === 0) expiries.push({ key, at: at + RECEIPT_KEPT });
    entry.receipts.push(receipt);
    for (const wake of entry.waiting.splice(0)) wake();
  };
  const forgetOld = (): void => {
    const current = now();
    const keep = expiries.findIndex(({ at }) => at > current);
    for (const { key } of expiries.splice(0, keep < 0 ? expiries.length : keep)) {
      entries.delete(key);
    }
  };
  for (const { key, at, receipt } of await readRecent(store, now())) finish(key, receipt, at);
  return {
    knownTo(node, key) {
      forgetOld();
      const entry = entries.get(key);
      return entry !== undefined && (entry.receipts.length > 0 || entry.acceptedBy.has(node));
    },
    accept: (node, key) => void entryOf(key).acceptedBy.add(node),
    finish: (key, receipt) => finish(key, receipt, now()),
    lose(node, key) {
      const entry = entries.get(key);
      entry?.acceptedBy.delete(node);
      if (entry?.acceptedBy.size === 0 && entry.receipts.length === 0) entries.delete(key);
    },
    find(key) {
      forgetOld();
      return entries.get(key)?.receipts;
    },
    async settled(key, ms) {
      const entry = entries.get(key);
      if (ms > 0 && entry?.receipts.length === 0) await wakened(entry, ms);
    },
  };
}

function wakened(entry: Entry, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    entry.waiting.push(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

interface Recent {
  readonly key: string;
  readonly at: Nanos;
  readonly receipt: Receipt;
}

/** The receipts that a restart must not forget. */
async function readRecent({ sql, table }: LedgerStore, now: Nanos): Promise<Recent[]> {
  type Found = { payer: number; start: string; at: string; type: string; result: string } & {
    entity: number | null;
    sequence: number | null;
    hash: Uint8Array | null;
  };
  const rows = await sql<Found[]>`
    select t.payer::float8, t.valid_start::text as start, t.consensus_ns::text as at, t.type,
      t.result, t.entity::float8, m.sequence::float8, m.running_hash as hash
    from ${table("transaction")} t left join ${table("topic_message")} m using (consensus_ns)
    where t.consensus_ns > ${String(now - RECEIPT_KEPT)}::bigint order by t.consensus_ns`;
  return rows.map(({ payer, start, at, type, result, entity, sequence, hash }) => ({
    key: transactionKey(payer, BigInt(start)),
    at: BigInt(at),
    receipt: {
      status: codeNamed(result),
      ...(type === "CONSENSUSCREATETOPIC" && entity !== null ? { topic: entity } : {}),
      ...(sequence === null || hash === null ? {} : { sequence, runningHash: hash }),
    },
  }));
}
