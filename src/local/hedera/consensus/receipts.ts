import { withDeadline } from "../../../with-deadline.ts";
import type { ResponseCode } from "../refusal.ts";
import type { Transaction } from "../state/events.ts";
import { recentTransactions, rowAt, type State } from "../state/state.ts";
import type { Nanos } from "../timestamps.ts";

/** How a transaction ended, as far as the network shows it to its sender. */
export interface Receipt {
  readonly status: ResponseCode;
  /** Number of the topic created. */
  readonly topic?: number;
  /** Set for a message. */
  readonly sequence?: number;
  readonly runningHash?: Uint8Array;
}

/** What the nodes know of one transaction id before consensus. */
interface UnderWay {
  /** Nodes that accepted it; each refuses to take it twice. */
  readonly acceptedBy: Set<number>;
  readonly consensus: Promise<void>;
}

/**
 * The nodes' memory of transactions: under way, and of those done the last 180 s.
 *
 * @param now the time in ledger nanoseconds
 */
export function openReceipts(state: State, now: () => Nanos) {
  const underWay = new Map<string, UnderWay>();
  const doneOf = (key: string): readonly Transaction[] => recentTransactions(state, key, now());
  return {
    /** Whether this node must call a transaction a duplicate. */
    knownTo: (node: number, key: string): boolean =>
      doneOf(key).length > 0 || (underWay.get(key)?.acceptedBy.has(node) ?? false),
    /**
     * A node has accepted it.
     *
     * @param consensus rejects where the ledger ends first
     */
    accept(node: number, key: string, consensus: Promise<void>): void {
      const entry = underWay.get(key) ?? { acceptedBy: new Set(), consensus };
      entry.acceptedBy.add(node);
      underWay.set(key, entry);
      consensus.then(
        () => underWay.delete(key),
        () => {
          entry.acceptedBy.delete(node);
          if (entry.acceptedBy.size === 0) underWay.delete(key);
        },
      );
    },
    /**
     * The outcomes so far in consensus order, its own and those of duplicates: none while under
     * way, undefined when nothing is known (any more).
     */
    find(key: string): readonly Receipt[] | undefined {
      const done = doneOf(key);
      if (done.length === 0 && !underWay.has(key)) return undefined;
      return done.map((transaction) => receiptOf(state, transaction));
    },
    /** Resolves when it has an outcome, or after `ms`. */
    async settled(key: string, ms: number): Promise<void> {
      const entry = underWay.get(key);
      if (ms > 0 && entry !== undefined) {
        await withDeadline(entry.consensus, ms).catch(() => undefined);
      }
    },
  };
}

function receiptOf(state: State, transaction: Transaction): Receipt {
  const { type, result: status, entity, at } = transaction;
  if (status !== "SUCCESS" || entity === null) return { status };
  if (type === "CONSENSUSCREATETOPIC") return { status, topic: entity };
  const message = rowAt(state.topics.get(entity)?.messages ?? [], at);
  if (message === undefined) return { status };
  const { sequence, runningHash } = message;
  return { status, sequence, runningHash: Buffer.from(runningHash, "base64") };
}
