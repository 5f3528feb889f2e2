import { entityNumber } from "../../ledger/entity-id.ts";
import { formatTimestamp } from "../../ledger/transaction-id.ts";
import { every, type Service } from "../../service.ts";
import { openReceipts } from "./consensus/receipts.ts";
import { createAccount, type NewAccount } from "./state/accounts.ts";
import {
  createCollection,
  mintNfts,
  type NewCollection,
  transferNfts,
} from "./state/collections.ts";
import { type ConsensusOrder, openOrder } from "./state/consensus-order.ts";
import type { Step } from "./state/state.ts";
import { createTopic, type NewTopic } from "./state/topics.ts";
import { nanosOfMs } from "./timestamps.ts";

export interface LedgerOptions {
  /** The clock that the ledger's time follows, epoch milliseconds. */
  readonly now: () => number;
  /** Where everything is kept, made when absent; in memory alone when not given. */
  readonly folder?: string | undefined;
  /** How often a block is closed; 0 leaves it to `closeBlock`. */
  readonly blockEveryMs?: number | undefined;
}

/**
 * A Hedera network of one machine: its state, its rules and its one consensus order. The
 * operations are for seeding; each resolves when its effect is in the file and
 * visible at the mirror node, and rejects with `LedgerRefusal` when the rules forbid it.
 */
export type Ledger = Awaited<ReturnType<typeof openLedger>>;

/** The public network closes one about every two seconds. */
const BLOCK_EVERY_MS = 2_000;
/** A quiet ledger closes an empty one this often, so that absence can be proved on it too. */
const IDLE_BLOCK_EVERY_MS = 10_000;

/**
 * Opens a ledger, with everything it ever held.
 *
 * @throws Error when another process has the folder open, or its file is damaged
 */
export async function openLedger(options: LedgerOptions) {
  const { now, folder, blockEveryMs = BLOCK_EVERY_MS } = options;
  const order = openOrder(now, folder);
  const blocks = blockEveryMs > 0 ? closeBlocks(order, blockEveryMs) : undefined;
  const transfer = (
    collection: string,
    serials: number | readonly number[],
    to: string,
  ): Promise<void> => order.take(transferNfts(collection, [serials].flat(), to));
  return {
    /** For the nodes: state, order and time. */
    order,
    /** For the nodes: what became of recent transactions. */
    receipts: openReceipts(order.state, () => nanosOfMs(order.now())),
    /** @returns the new account's id */
    createAccount: (given: NewAccount) => order.take(createAccount(given)),
    /** @returns the new collection's id */
    createCollection: (given: NewCollection) => order.take(createCollection(given)),
    /**
     * @param given.to account that gets them; the treasury keeps them when absent
     * @returns the new serials, ascending
     */
    async mint(collection: string, { count, to }: { count: number; to?: string }) {
      const serials = await order.take(mintNfts(collection, count));
      if (to !== undefined) await transfer(collection, serials, to);
      return serials;
    },
    transfer,
    /** @returns the new topic's id */
    createTopic: (given: NewTopic) => order.take(createTopic(given)),
    /** Whether any account, collection or topic has this id: what seeding asks after a restart. */
    exists(id: string): boolean {
      const { accounts, collections, topics } = order.state;
      // They share one series of numbers.
      return [accounts, collections, topics].some((entities) => entities.has(entityNumber(id)));
    },
    /** Whether a topic has this message; then it has all that the running hash is of. */
    hasMessage(topic: string, sequence: number, runningHash: string): boolean {
      const messages = order.state.topics.get(entityNumber(topic))?.messages;
      return messages?.[sequence - 1]?.runningHash === runningHash;
    },
    /** Closes the block now, up to this moment. */
    closeBlock: () => order.take(closeBlock),
    /** Consensus timestamp of the last thing that happened, `seconds.nnnnnnnnn`. */
    lastConsensus: () => formatTimestamp(order.state.lastConsensus),
    async close(): Promise<void> {
      await blocks?.close();
      await order.close();
    },
  };
}

/**
 * Closes the block: every transaction up to now is in it or in one before, and what comes later has a
 * later timestamp. That is what lets a client conclude from the newest block's end that a transaction
 * not seen by then never took place.
 */
const closeBlock: Step<void> = ({ at, add }) => add({ kind: "block", at });

/** The first at once: after a night without a block the mirror node would seem to be behind. */
function closeBlocks(order: ConsensusOrder, everyMs: number): Service {
  const close = async (): Promise<void> => {
    const { unblocked, blocks } = order.state;
    const end = blocks.at(-1)?.to ?? 0n;
    const idle = nanosOfMs(order.now()) - end >= nanosOfMs(IDLE_BLOCK_EVERY_MS);
    if (unblocked > 0 || idle) await order.take(closeBlock);
  };
  return every(everyMs, close, { firstAfterMs: 0 });
}
