import type { z } from "zod";
import { silentLogger } from "../../log.ts";
import { isEvmAddress, longZeroAddress } from "../entity-id.ts";
import { mirrorTransactionId, parseTimestamp, parseTransactionId } from "../transaction-id.ts";
import type { Asked } from "./answer.ts";
import { compareNodes } from "./compare-nodes.ts";
import { type ReadLimits, within } from "./limits.ts";
import { walkPages } from "./pages.ts";
import { checkId, checkNumber, nftPath, PAGE } from "./paths.ts";
import * as schemas from "./schemas.ts";
import { readHoldings } from "./serials.ts";
import { MirrorTransport, type TransportOptions } from "./transport.ts";

/** Where a page of topic messages begins: at the first one when nothing is given. */
export interface MessagesFrom {
  /** Only messages with a higher sequence number; 0 for all. */
  readonly afterSequence?: number | undefined;
  /** At most so many: 1 to 100, by default 100. */
  readonly limit?: number | undefined;
  readonly newestFirst?: boolean;
}

/** A mirror node as its readers see it. */
export type MirrorNode = Pick<MirrorClient, keyof MirrorClient>;

/**
 * What we read from a mirror node. Every method throws MirrorError, and nothing
 * else, when the node is late, fails, or answers anything but what the
 * interface promises; null always means that the node says "not found". A
 * method given an id that is not canonical throws RangeError: a fault of ours.
 * A node that answers with another thing than the one asked for is not believed.
 */
export class MirrorClient {
  readonly #transport: MirrorTransport;
  readonly #usual: ReadLimits;
  readonly #comparison: ReturnType<typeof compareNodes> | undefined;

  /**
   * @param options.usual limits of each read that names none of its own
   * @param options.isLasting whether it is kept so long that nodes may fall behind meanwhile: then
   *   they are compared, see `compareNodes`
   * @throws RangeError without a URL
   */
  constructor({
    usual = {},
    isLasting = false,
    ...options
  }: TransportOptions & { readonly usual?: ReadLimits; readonly isLasting?: boolean }) {
    const { urls, log } = options;
    const transport = new MirrorTransport(options);
    const alone = (url: string) => ({
      url,
      ...new MirrorClient({ urls: [url], log: silentLogger }),
    });
    this.#transport = transport;
    this.#usual = usual;
    if (isLasting && urls.length > 1) {
      this.#comparison = compareNodes(urls.map(alone), { transport, log });
    }
  }

  /**
   * Contracts answer here too, and deleted accounts, with their last key.
   *
   * @param id canonical `0.0.n`, or an EVM address in lower case
   */
  readonly account = async (id: string, limits?: ReadLimits) =>
    this.#one(
      {
        target: `/accounts/${isEvmAddress(id) ? id : checkId(id)}?transactions=false`,
        schema: schemas.accountSchema,
        isIt: (found) => found.account === id || isAddressOf(id, found),
      },
      limits,
    );

  readonly #contract = this.#byId(
    "/contracts",
    schemas.contractSchema,
    (found) => found.contract_id,
  );

  /** Whether the id is a contract's; false also for an id that does not exist. */
  readonly isContract = async (id: string, limits?: ReadLimits): Promise<boolean> =>
    (await this.#contract(id, limits)) !== null;

  /**
   * Serials of each collection that the account holds, ascending, all pages. An unknown account
   * holds none. The collections are read side by side; when one fails, the others are not read on.
   */
  readonly nftsOf = <Tokens extends readonly string[]>(
    account: string,
    tokens: Tokens,
    limits: ReadLimits = this.#usual,
  ) => readHoldings(this.#transport, { account, tokens }, limits);

  readonly nft = async (token: string, serial: number, limits?: ReadLimits) =>
    this.#one(
      {
        target: nftPath(token, serial),
        schema: schemas.nftSchema,
        isIt: (found) => found.tokenId === token && found.serial === serial,
      },
      limits,
    );

  /**
   * Every NFT of a collection, page by page, ascending. Each page has its own
   * deadline. A failure ends the iteration with its error, so what was read to
   * the end is complete. NFTs that move while it is read may show either owner.
   */
  readonly nftOwners = (
    token: string,
    limits: ReadLimits = this.#usual,
  ): AsyncIterable<readonly schemas.MirrorNft[]> => {
    let last = 0;
    const list = {
      path: `/tokens/${checkId(token)}/nfts`,
      query: `limit=${PAGE}&order=asc`,
      schema: schemas.nftsSchema,
      isIt({ nfts }: z.output<typeof schemas.nftsSchema>): boolean {
        const serials = nfts.map(({ serial }) => serial);
        return nfts.every(({ tokenId }) => tokenId === token) && goUp(serials, last);
      },
      rows({ nfts }: z.output<typeof schemas.nftsSchema>) {
        last = nfts.at(-1)?.serial ?? last;
        return nfts;
      },
    };
    return walkPages(this.#transport, list, limits);
  };

  /**
   * The newest 100 transactions of an NFT, newest first, at or before `until`.
   * `more`: there are older ones; `partial`: the node does not know them all.
   */
  readonly nftTransactions = async (
    token: string,
    serial: number,
    { until, ...limits }: ReadLimits & { readonly until?: string | undefined } = {},
  ) => {
    const before = until === undefined ? "" : `&timestamp=lte:${checkTimestamp(until)}`;
    const target = `${nftPath(token, serial)}/transactions?limit=${PAGE}${before}`;
    const asked = {
      target,
      schema: schemas.nftTransactionsSchema,
      isIt: ({ transactions }: z.output<typeof schemas.nftTransactionsSchema>): boolean => {
        const instants = transactions.map(({ consensusTimestamp }) => consensusTimestamp);
        return goDown(until === undefined ? instants : [until, ...instants]);
      },
    };
    const { body, partial } = await within({ ...this.#usual, ...limits }, (budget) =>
      this.#transport.partialList(asked, budget),
    );
    return { transactions: body.transactions, more: body.links.next !== null, partial };
  };

  readonly token = this.#byId("/tokens", schemas.tokenSchema, ({ tokenId }) => tokenId);

  readonly topic = this.#byId("/topics", schemas.topicSchema, ({ topicId }) => topicId);

  /**
   * One page of messages, ascending unless the newest are asked for. The next page
   * follows the last one's sequence number; `more` says whether the node expects one.
   * An unknown topic has no messages. Gaps are the reader's to judge.
   */
  readonly topicMessages = async (
    topic: string,
    { afterSequence = 0, limit = PAGE, newestFirst = false }: MessagesFrom,
    limits: ReadLimits = this.#usual,
  ) => {
    const query = [
      `limit=${Math.min(checkNumber(limit), PAGE)}`,
      `order=${newestFirst ? "desc" : "asc"}`,
      ...(afterSequence === 0 ? [] : [`sequencenumber=gt:${checkNumber(afterSequence)}`]),
    ];
    const asked = {
      target: `/topics/${checkId(topic)}/messages?${query.join("&")}`,
      schema: schemas.topicMessagesSchema,
      isIt: ({ messages }: z.output<typeof schemas.topicMessagesSchema>): boolean => {
        const numbers = messages.map(({ sequenceNumber }) => sequenceNumber);
        const rising = newestFirst ? numbers.reverse() : numbers;
        return messages.every(({ topicId }) => topicId === topic) && goUp(rising, afterSequence);
      },
    };
    const body = await within(limits, (budget) => this.#transport.list(asked, budget));
    return { messages: body.messages, more: body.links.next !== null };
  };

  readonly topicMessage = async (topic: string, sequence: number, limits?: ReadLimits) =>
    this.#one(
      {
        target: `/topics/${checkId(topic)}/messages/${checkNumber(sequence)}`,
        schema: schemas.topicMessageSchema,
        isIt: (found) => found.topicId === topic && found.sequenceNumber === sequence,
      },
      limits,
    );

  /**
   * All rows of a transaction id, in either spelling: a later duplicate has a
   * row of its own. None: not there, or not yet.
   */
  readonly transactions = async (
    id: string,
    limits?: ReadLimits,
  ): Promise<readonly schemas.MirrorTransaction[]> => {
    const spelt = mirrorTransactionId(parseTransactionId(id));
    const body = await this.#one(
      {
        target: `/transactions/${spelt}`,
        schema: schemas.transactionsSchema,
        isIt: ({ transactions }) =>
          transactions.every(({ transactionId }) => transactionId === spelt),
      },
      limits,
    );
    return body?.transactions ?? [];
  };

  /** Memos of the messages that an account paid for, ascending, both bounds included; page by page. */
  readonly messageMemos = (
    payer: string,
    { from, to }: { readonly from: string; readonly to: string },
    limits: ReadLimits = this.#usual,
  ): AsyncIterable<readonly schemas.MirrorMemo[]> => {
    const query = [
      `account.id=${checkId(payer)}`,
      "transactiontype=CONSENSUSSUBMITMESSAGE",
      "result=success",
      `limit=${PAGE}`,
      "order=asc",
      `timestamp=gte:${checkTimestamp(from)}`,
      `timestamp=lte:${checkTimestamp(to)}`,
    ].join("&");
    const rows = (page: z.output<typeof schemas.memosSchema>) => page.transactions;
    const list = { path: "/transactions", query, schema: schemas.memosSchema, rows };
    return walkPages(this.#transport, list, limits);
  };

  /** What an HBAR is worth to the network now; null where the node lacks that route. */
  readonly exchangeRate = (limits?: ReadLimits) =>
    this.#one({ target: "/network/exchangerate", schema: schemas.exchangeRateSchema }, limits);

  /** How far the node has come; null before its first block. */
  readonly newestBlock = async (
    limits: ReadLimits = this.#usual,
  ): Promise<schemas.MirrorBlock | null> => {
    const asked = { target: "/blocks?limit=1&order=desc", schema: schemas.blocksSchema };
    const { blocks } = await within(limits, (budget) => this.#transport.list(asked, budget));
    return blocks[0] ?? null;
  };

  /** Ends every connection, those in use too. */
  readonly close = async (): Promise<void> => {
    await Promise.all([this.#transport.close(), this.#comparison?.close()]);
  };

  /** Reads of one kind of entity. @param idOf the id that an answer is about */
  #byId<T>(path: string, schema: z.ZodType<T>, idOf: (found: T) => string) {
    return async (id: string, limits?: ReadLimits) => {
      const target = `${path}/${checkId(id)}`;
      return this.#one({ target, schema, isIt: (found) => idOf(found) === id }, limits);
    };
  }

  #one<T>(asked: Asked<T>, limits: ReadLimits = this.#usual): Promise<T | null> {
    return within(limits, (budget) => this.#transport.one(asked, budget));
  }
}

/** An account answers to its alias, and to the address that spells its number. */
function isAddressOf(id: string, { account, evm_address }: schemas.MirrorAccount): boolean {
  return isEvmAddress(id) && (id === evm_address || id === longZeroAddress(account));
}

/** Whether numbers go up from the one before them: none comes twice. */
function goUp(numbers: readonly number[], before: number): boolean {
  return numbers.every((number, index) => number > (numbers[index - 1] ?? before));
}

/** Whether timestamps, of nine digits of nanoseconds each, go from newest to oldest. */
function goDown(timestamps: readonly string[]): boolean {
  const instants = timestamps.map((timestamp) => BigInt(timestamp.replace(".", "")));
  return instants.every((instant, index) => instant <= (instants[index - 1] ?? instant));
}

function checkTimestamp(timestamp: string): string {
  parseTimestamp(timestamp);
  return timestamp;
}
