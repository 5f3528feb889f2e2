import type { z } from "zod";
import type { Logger } from "../log.ts";
import { type ReadLimits, within } from "./mirror-deadline.ts";
import { MirrorError } from "./mirror-error.ts";
import {
  type MessagesFrom,
  readMessages,
  readNewestBlock,
  readNftTransactions,
  readOwners,
  readSerials,
  readTransactions,
} from "./mirror-lists.ts";
import { createReader, known, nftPath, whole } from "./mirror-reader.ts";
import * as schemas from "./mirror-schemas.ts";
import { createMirrorTransport } from "./mirror-transport.ts";

/**
 * What we read from a mirror node. Every method throws MirrorError, and nothing
 * else, when the node is late, fails, or answers anything but what the
 * interface promises; null always means that the node says "not found". A
 * method given an id that is not canonical throws RangeError: a fault of ours.
 */
export interface MirrorNode {
  /** Contracts answer here too, and deleted accounts, with their last key. */
  account(id: string, limits?: ReadLimits): Promise<schemas.MirrorAccount | null>;
  /** Whether the id is a contract's; false also for an id that does not exist. */
  isContract(id: string, limits?: ReadLimits): Promise<boolean>;
  /**
   * Serials of each collection that the account holds, ascending, all pages. An unknown account
   * holds none. The collections are read side by side; when one fails, the others are not read on.
   */
  nftsOf<Tokens extends readonly string[]>(
    account: string,
    tokens: Tokens,
    limits?: ReadLimits,
  ): Promise<{ readonly [K in keyof Tokens]: readonly number[] }>;
  nft(token: string, serial: number, limits?: ReadLimits): Promise<schemas.MirrorNft | null>;
  /**
   * Every NFT of a collection, page by page, ascending. Each page has its own
   * deadline. A failure ends the iteration with its error, so what was read to
   * the end is complete. NFTs that move while it is read may show either owner.
   */
  nftOwners(token: string, limits?: ReadLimits): AsyncIterable<readonly schemas.MirrorNft[]>;
  /**
   * The newest 100 transactions of an NFT, newest first, at or before `until`.
   * `more`: there are older ones; `partial`: the node does not know them all.
   */
  nftTransactions(
    token: string,
    serial: number,
    options?: ReadLimits & { readonly until?: string },
  ): Promise<{
    readonly transactions: readonly schemas.MirrorNftTransaction[];
    readonly more: boolean;
    readonly partial: boolean;
  }>;
  token(id: string, limits?: ReadLimits): Promise<schemas.MirrorToken | null>;
  topic(id: string, limits?: ReadLimits): Promise<schemas.MirrorTopic | null>;
  /**
   * One page of messages in ascending order. The next page begins after the
   * last one's sequence number; `more` says whether the node expects one. An
   * unknown topic has no messages. Gaps are the reader's to judge.
   */
  topicMessages(
    topic: string,
    from: MessagesFrom,
    limits?: ReadLimits,
  ): Promise<{ readonly messages: readonly schemas.MirrorTopicMessage[]; readonly more: boolean }>;
  topicMessage(
    topic: string,
    sequence: number,
    limits?: ReadLimits,
  ): Promise<schemas.MirrorTopicMessage | null>;
  /**
   * All rows of a transaction id, in either spelling: a later duplicate has a
   * row of its own. None: not there, or not yet.
   */
  transactions(id: string, limits?: ReadLimits): Promise<readonly schemas.MirrorTransaction[]>;
  /** How far the node has come; null before its first block. */
  newestBlock(limits?: ReadLimits): Promise<schemas.MirrorBlock | null>;
  /** Ends every connection, those in use too. */
  close(): Promise<void>;
}

/** @param urls base URLs of mirror nodes, the preferred one first, at least one */
export function createMirrorNode(options: {
  readonly urls: readonly string[];
  readonly log: Logger;
}): MirrorNode {
  const transport = createMirrorTransport(options);
  const reader = createReader(transport);

  /** One thing under its own id: a node that answers with another is not believed. */
  const one = <T>(thing: Thing<T>, limits: ReadLimits = {}): Promise<T | null> =>
    within(limits, async (budget) => {
      const answer = await reader.one(thing.path, thing.schema, budget);
      if (answer === null || thing.isIt(answer)) return answer;
      throw new MirrorError("schema", `${thing.path}: the answer is about something else`);
    });

  return {
    account: async (id, limits) => one(things.account(id), limits),
    isContract: async (id, limits) => (await one(things.contract(id), limits)) !== null,
    nft: async (token, serial, limits) => one(things.nft(token, serial), limits),
    token: async (id, limits) => one(things.token(id), limits),
    topic: async (id, limits) => one(things.topic(id), limits),
    topicMessage: async (topic, sequence, limits) =>
      one(things.topicMessage(topic, sequence), limits),
    nftsOf: (account, tokens, limits = {}) =>
      within(limits, (budget) =>
        eachOf(tokens, (token) => readSerials(reader, { account, token, budget })),
      ),
    nftOwners: (token, limits = {}) => readOwners(reader, token, limits),
    nftTransactions: (token, serial, options = {}) =>
      within(options, (budget) =>
        readNftTransactions(reader, { token, serial, until: options.until, budget }),
      ),
    topicMessages: (topic, from, limits = {}) =>
      within(limits, (budget) => readMessages(reader, { topic, from, budget })),
    transactions: (id, limits = {}) =>
      within(limits, (budget) => readTransactions(reader, id, budget)),
    newestBlock: (limits = {}) => within(limits, (budget) => readNewestBlock(reader, budget)),
    close: () => transport.close(),
  };
}

/** One result for each item; the first failure is that of all. */
function eachOf<Items extends readonly string[], T>(
  items: Items,
  read: (item: string) => Promise<T>,
): Promise<{ readonly [K in keyof Items]: T }> {
  return Promise.all(items.map(read)) as unknown as Promise<{ readonly [K in keyof Items]: T }>;
}

interface Thing<T> {
  readonly path: string;
  readonly schema: z.ZodType<T>;
  readonly isIt: (answer: T) => boolean;
}

const thing = <T>(path: string, schema: z.ZodType<T>, isIt: (answer: T) => boolean): Thing<T> => ({
  path,
  schema,
  isIt,
});

const things = {
  account: (id: string) =>
    thing(
      `/accounts/${known(id)}?transactions=false`,
      schemas.accountSchema,
      ({ account }) => account === id,
    ),
  contract: (id: string) =>
    thing(
      `/contracts/${known(id)}`,
      schemas.contractSchema,
      ({ contract_id }) => contract_id === id,
    ),
  nft: (token: string, serial: number) =>
    thing(
      nftPath(token, serial),
      schemas.nftSchema,
      (nft) => nft.tokenId === token && nft.serial === serial,
    ),
  token: (id: string) =>
    thing(`/tokens/${known(id)}`, schemas.tokenSchema, ({ tokenId }) => tokenId === id),
  topic: (id: string) =>
    thing(`/topics/${known(id)}`, schemas.topicSchema, ({ topicId }) => topicId === id),
  topicMessage: (topic: string, sequence: number) =>
    thing(
      `/topics/${known(topic)}/messages/${whole(sequence)}`,
      schemas.topicMessageSchema,
      ({ topicId, sequenceNumber }) => topicId === topic && sequenceNumber === sequence,
    ),
};
