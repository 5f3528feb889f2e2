import { bounds } from "../config.ts";
import { type Budget, type ReadLimits, within } from "./mirror-deadline.ts";
import { MirrorError } from "./mirror-error.ts";
import { walkPages } from "./mirror-pages.ts";
import { known, nftPath, type Reader, whole } from "./mirror-reader.ts";
import * as schemas from "./mirror-schemas.ts";
import { mirrorTransactionId, parseTimestamp, parseTransactionId } from "./transaction-id.ts";

/** Where a page of topic messages begins: at the first one when neither is given. */
export interface MessagesFrom {
  /** Only messages with a higher sequence number; 0 for all. */
  readonly afterSequence?: number | undefined;
  /** Only messages at or after this consensus timestamp, `s.nnnnnnnnn`. */
  readonly fromTimestamp?: string | undefined;
  /** At most so many: 1 to 100, by default 100. */
  readonly limit?: number | undefined;
}

/** The most rows a mirror node gives at once; asked for more, it silently gives this many. */
const PAGE = 100;
/** 100,000 NFTs: collections are far smaller. */
const OWNER_PAGES_MAX = 1_000;

/**
 * The serials of a collection that an account holds, ascending. NFTs of a
 * deleted collection stay listed as deleted, and count nothing.
 */
export async function readSerials(
  { list, prefixes }: Reader,
  { account, token, budget }: { account: string; token: string; budget: Budget },
): Promise<readonly number[]> {
  const pages = walkPages(
    {
      path: `/accounts/${known(account)}/nfts`,
      query: `token.id=${known(token)}&limit=${PAGE}`,
      pagesMax: bounds.mirrorPagesMax,
      prefixes,
    },
    (target) => list(target, schemas.nftsSchema, budget),
  );
  const serials = new Set<number>();
  for await (const { nfts } of pages) {
    for (const nft of nfts) {
      if (!nft.deleted && nft.owner === account && nft.tokenId === token) serials.add(nft.serial);
    }
  }
  return [...serials].sort((a, b) => a - b);
}

/** Every NFT of a collection, ascending; a deadline for each page, none for the reader's own work. */
export async function* readOwners(
  { list, prefixes }: Reader,
  token: string,
  limits: ReadLimits,
): AsyncGenerator<readonly schemas.MirrorNft[], void, undefined> {
  const pages = walkPages(
    {
      path: `/tokens/${known(token)}/nfts`,
      query: `limit=${PAGE}&order=asc`,
      pagesMax: OWNER_PAGES_MAX,
      prefixes,
    },
    (target) => within(limits, (budget) => list(target, schemas.nftsSchema, budget)),
  );
  let last = 0;
  for await (const { nfts } of pages) {
    for (const nft of nfts) {
      if (nft.tokenId !== token || nft.serial <= last) {
        throw new MirrorError("schema", `/tokens/${token}/nfts: not the next of its NFTs`);
      }
      last = nft.serial;
    }
    yield nfts;
  }
}

/** The newest 100 transactions of an NFT, newest first, at or before `until`. */
export async function readNftTransactions(
  { partialList }: Reader,
  asked: { token: string; serial: number; until: string | undefined; budget: Budget },
) {
  const before = asked.until === undefined ? "" : `&timestamp=lte:${checked(asked.until)}`;
  const path = `${nftPath(asked.token, asked.serial)}/transactions?limit=${PAGE}${before}`;
  const { body, partial } = await partialList(path, schemas.nftTransactionsSchema, asked.budget);
  return { transactions: body.transactions, more: body.links.next !== null, partial };
}

/** One page of a topic's messages, ascending. */
export async function readMessages(
  { list }: Reader,
  { topic, from, budget }: { topic: string; from: MessagesFrom; budget: Budget },
) {
  const { afterSequence = 0, fromTimestamp, limit = PAGE } = from;
  const query = [
    `limit=${Math.min(whole(limit), PAGE)}`,
    "order=asc",
    ...(afterSequence === 0 ? [] : [`sequencenumber=gt:${whole(afterSequence)}`]),
    ...(fromTimestamp === undefined ? [] : [`timestamp=gte:${checked(fromTimestamp)}`]),
  ].join("&");
  const path = `/topics/${known(topic)}/messages`;
  const body = await list(`${path}?${query}`, schemas.topicMessagesSchema, budget);
  let last = afterSequence;
  for (const { topicId, sequenceNumber } of body.messages) {
    if (topicId !== topic || sequenceNumber <= last) {
      throw new MirrorError("schema", `${path}: not the next of its messages`);
    }
    last = sequenceNumber;
  }
  return { messages: body.messages, more: body.links.next !== null };
}

/** All rows of a transaction id. "Not found" cannot be told from "not yet": no rows. */
export async function readTransactions(
  { one }: Reader,
  id: string,
  budget: Budget,
): Promise<readonly schemas.MirrorTransaction[]> {
  const spelt = mirrorTransactionId(parseTransactionId(id));
  const body = await one(`/transactions/${spelt}`, schemas.transactionsSchema, budget);
  const rows = body?.transactions ?? [];
  if (rows.some((row) => row.transactionId !== spelt)) {
    throw new MirrorError("schema", `/transactions/${spelt}: rows of another transaction`);
  }
  return rows;
}

export async function readNewestBlock(
  { list }: Reader,
  budget: Budget,
): Promise<schemas.MirrorBlock | null> {
  const { blocks } = await list("/blocks?limit=1&order=desc", schemas.blocksSchema, budget);
  return blocks[0] ?? null;
}

function checked(timestamp: string): string {
  parseTimestamp(timestamp);
  return timestamp;
}
