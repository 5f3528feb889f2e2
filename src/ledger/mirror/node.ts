import type { z } from "zod";
import { silentLogger } from "../../log.ts";
import { isEvmAddress, longZeroAddress } from "../entity-id.ts";
import type { Asked } from "./answer.ts";
import { compareNodes } from "./compare-nodes.ts";
import { type ReadLimits, within } from "./limits.ts";
import {
  type MessagesFrom,
  readMemos,
  readMessages,
  readNftTransactions,
  readOwners,
  readTransactions,
} from "./lists.ts";
import { checkId, checkNumber, MirrorReader, nftPath } from "./reader.ts";
import * as schemas from "./schemas.ts";
import { readHoldings } from "./serials.ts";
import { MirrorTransport, type TransportOptions } from "./transport.ts";

/**
 * What we read from a mirror node. Every method throws MirrorError, and nothing
 * else, when the node is late, fails, or answers anything but what the
 * interface promises; null always means that the node says "not found". A
 * method given an id that is not canonical throws RangeError: a fault of ours.
 */
export interface MirrorNode {
  /**
   * Contracts answer here too, and deleted accounts, with their last key.
   *
   * @param id canonical `0.0.n`, or an EVM address in lower case
   */
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
    options?: ReadLimits & { readonly until?: string | undefined },
  ): Promise<{
    readonly transactions: readonly schemas.MirrorNftTransaction[];
    readonly more: boolean;
    readonly partial: boolean;
  }>;
  token(id: string, limits?: ReadLimits): Promise<schemas.MirrorToken | null>;
  topic(id: string, limits?: ReadLimits): Promise<schemas.MirrorTopic | null>;
  /**
   * One page of messages, ascending unless the newest are asked for. The next page
   * follows the last one's sequence number; `more` says whether the node expects one.
   * An unknown topic has no messages. Gaps are the reader's to judge.
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
  /** Memos of the messages that an account paid for between two consensus timestamps, page by page. */
  messageMemos(
    payer: string,
    span: { readonly from: string; readonly to: string },
    limits?: ReadLimits,
  ): AsyncIterable<readonly schemas.MirrorMemo[]>;
  /** What an HBAR is worth to the network now; null where the node lacks that route. */
  exchangeRate(limits?: ReadLimits): Promise<schemas.MirrorExchangeRate | null>;
  /** How far the node has come; null before its first block. */
  newestBlock(limits?: ReadLimits): Promise<schemas.MirrorBlock | null>;
  /** Ends every connection, those in use too. */
  close(): Promise<void>;
}

/**
 * @param options.usual limits of each read that names none of its own
 * @param options.isLasting whether it is kept so long that nodes may fall behind meanwhile: then they
 *   are compared, see `compareNodes`
 * @throws RangeError without a URL
 */
export function createMirrorNode({
  usual = {},
  isLasting = false,
  ...options
}: TransportOptions & {
  readonly usual?: ReadLimits;
  readonly isLasting?: boolean;
}): MirrorNode {
  const transport = new MirrorTransport(options);
  const { urls, log } = options;
  const alone = (url: string) => ({ url, ...createMirrorNode({ urls: [url], log: silentLogger }) });
  const comparison =
    isLasting && urls.length > 1 ? compareNodes(urls.map(alone), { transport, log }) : null;
  const reader = new MirrorReader(transport);

  /** One thing under its own id: a node that answers with another is not believed. */
  const one = <T>(asked: Asked<T>, limits: ReadLimits = usual): Promise<T | null> =>
    within(limits, (budget) => reader.one(asked, budget));

  return {
    account: async (id, limits) => one(things.account(id), limits),
    isContract: async (id, limits) => (await one(things.contract(id), limits)) !== null,
    nft: async (token, serial, limits) => one(things.nft(token, serial), limits),
    token: async (id, limits) => one(things.token(id), limits),
    topic: async (id, limits) => one(things.topic(id), limits),
    topicMessage: async (topic, sequence, limits) =>
      one(things.topicMessage(topic, sequence), limits),
    nftsOf: (account, tokens, limits = usual) => readHoldings(reader, { account, tokens }, limits),
    nftOwners: (token, limits = usual) => readOwners(reader, token, limits),
    nftTransactions: (token, serial, { until, ...limits } = {}) =>
      within({ ...usual, ...limits }, (budget) =>
        readNftTransactions(reader, { token, serial, until, budget }),
      ),
    topicMessages: (topic, from, limits = usual) =>
      within(limits, (budget) => readMessages(reader, { topic, from, budget })),
    transactions: (id, limits = usual) =>
      within(limits, (budget) => readTransactions(reader, id, budget)),
    messageMemos: (payer, span, limits = usual) => readMemos(reader, { payer, ...span }, limits),
    async newestBlock(limits = usual) {
      const asked = { target: "/blocks?limit=1&order=desc", schema: schemas.blocksSchema };
      const { blocks } = await within(limits, (budget) => reader.list(asked, budget));
      return blocks[0] ?? null;
    },
    exchangeRate: async (limits) => one(things.exchangeRate, limits),
    async close() {
      await Promise.all([transport.close(), comparison?.close()]);
    },
  };
}

const thing = <T>(
  target: string,
  schema: z.ZodType<T>,
  isIt: (answer: T) => boolean,
): Asked<T> => ({ target, schema, isIt });

/** An account answers to its alias, and to the address that spells its number. */
function isAddressOf(id: string, { account, evm_address }: schemas.MirrorAccount): boolean {
  return isEvmAddress(id) && (id === evm_address || id === longZeroAddress(account));
}

const things = {
  account: (id: string) =>
    thing(
      `/accounts/${isEvmAddress(id) ? id : checkId(id)}?transactions=false`,
      schemas.accountSchema,
      (found) => found.account === id || isAddressOf(id, found),
    ),
  contract: (id: string) =>
    thing(
      `/contracts/${checkId(id)}`,
      schemas.contractSchema,
      ({ contract_id }) => contract_id === id,
    ),
  nft: (token: string, serial: number) =>
    thing(
      nftPath(token, serial),
      schemas.nftSchema,
      (nft) => nft.tokenId === token && nft.serial === serial,
    ),
  exchangeRate: thing("/network/exchangerate", schemas.exchangeRateSchema, () => true),
  token: (id: string) =>
    thing(`/tokens/${checkId(id)}`, schemas.tokenSchema, ({ tokenId }) => tokenId === id),
  topic: (id: string) =>
    thing(`/topics/${checkId(id)}`, schemas.topicSchema, ({ topicId }) => topicId === id),
  topicMessage: (topic: string, sequence: number) =>
    thing(
      `/topics/${checkId(topic)}/messages/${checkNumber(sequence)}`,
      schemas.topicMessageSchema,
      ({ topicId, sequenceNumber }) => topicId === topic && sequenceNumber === sequence,
    ),
};
