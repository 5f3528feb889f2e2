import type { z } from "zod";
import { mirrorTransactionId, parseTimestamp, parseTransactionId } from "../transaction-id.ts";
import type { Budget, ReadLimits } from "./limits.ts";
import { walkPages } from "./pages.ts";
import { checkId, checkNumber, type MirrorReader, nftPath } from "./reader.ts";
import * as schemas from "./schemas.ts";

/** Where a page of topic messages begins: at the first one when nothing is given. */
export interface MessagesFrom {
  /** Only messages with a higher sequence number; 0 for all. */
  readonly afterSequence?: number | undefined;
  /** At most so many: 1 to 100, by default 100. */
  readonly limit?: number | undefined;
  /** The newest ones first. */
  readonly newestFirst?: boolean;
}

/** The most rows a mirror node gives at once; asked for more, it silently gives this many. */
const PAGE = 100;

/** Every NFT of a collection, ascending; a deadline for each page, none for the reader's own work. */
export async function* readOwners(
  reader: MirrorReader,
  token: string,
  limits: ReadLimits,
): AsyncGenerator<readonly schemas.MirrorNft[], void, undefined> {
  let last = 0;
  const areNext = ({ nfts }: z.output<typeof schemas.nftsSchema>): boolean =>
    nfts.every(({ tokenId }) => tokenId === token) &&
    goUp(
      nfts.map(({ serial }) => serial),
      last,
    );
  const list = {
    path: `/tokens/${checkId(token)}/nfts`,
    query: `limit=${PAGE}&order=asc`,
    schema: schemas.nftsSchema,
    isIt: areNext,
  };
  for await (const { nfts } of walkPages(reader, list, limits)) {
    last = nfts.at(-1)?.serial ?? last;
    yield nfts;
  }
}

/** Whether numbers go up from the one before them: none comes twice. */
function goUp(numbers: readonly number[], before: number): boolean {
  return numbers.every((number, index) => number > (numbers[index - 1] ?? before));
}

/** The newest 100 transactions of an NFT, newest first, at or before `until`. */
export async function readNftTransactions(
  reader: MirrorReader,
  asked: { token: string; serial: number; until: string | undefined; budget: Budget },
) {
  const before = asked.until === undefined ? "" : `&timestamp=lte:${checkTimestamp(asked.until)}`;
  const target = `${nftPath(asked.token, asked.serial)}/transactions?limit=${PAGE}${before}`;
  const { body, partial } = await reader.partialList(
    { target, schema: schemas.nftTransactionsSchema },
    asked.budget,
  );
  return { transactions: body.transactions, more: body.links.next !== null, partial };
}

/** One page of a topic's messages, ascending unless the newest are asked for. */
export async function readMessages(
  reader: MirrorReader,
  { topic, from, budget }: { topic: string; from: MessagesFrom; budget: Budget },
) {
  const { afterSequence = 0, limit = PAGE, newestFirst = false } = from;
  const query = [
    `limit=${Math.min(checkNumber(limit), PAGE)}`,
    `order=${newestFirst ? "desc" : "asc"}`,
    ...(afterSequence === 0 ? [] : [`sequencenumber=gt:${checkNumber(afterSequence)}`]),
  ].join("&");
  const areNext = ({ messages }: z.output<typeof schemas.topicMessagesSchema>): boolean => {
    const numbers = messages.map(({ sequenceNumber }) => sequenceNumber);
    return (
      messages.every(({ topicId }) => topicId === topic) &&
      goUp(newestFirst ? numbers.reverse() : numbers, afterSequence)
    );
  };
  const target = `/topics/${checkId(topic)}/messages?${query}`;
  const body = await reader.list(
    { target, schema: schemas.topicMessagesSchema, isIt: areNext },
    budget,
  );
  return { messages: body.messages, more: body.links.next !== null };
}

/** All rows of a transaction id. "Not found" looks like "not yet": no rows. */
export async function readTransactions(
  reader: MirrorReader,
  id: string,
  budget: Budget,
): Promise<readonly schemas.MirrorTransaction[]> {
  const spelt = mirrorTransactionId(parseTransactionId(id));
  const body = await reader.one(
    {
      target: `/transactions/${spelt}`,
      schema: schemas.transactionsSchema,
      isIt: ({ transactions }) =>
        transactions.every(({ transactionId }) => transactionId === spelt),
    },
    budget,
  );
  return body?.transactions ?? [];
}

/** Memos of the messages that an account paid for, ascending, both bounds included; page by page. */
export async function* readMemos(
  reader: MirrorReader,
  { payer, from, to }: { payer: string; from: string; to: string },
  limits: ReadLimits,
): AsyncGenerator<readonly schemas.MirrorMemo[], void, undefined> {
  const query = [
    `account.id=${checkId(payer)}`,
    "transactiontype=CONSENSUSSUBMITMESSAGE",
    "result=success",
    `limit=${PAGE}`,
    "order=asc",
    `timestamp=gte:${checkTimestamp(from)}`,
    `timestamp=lte:${checkTimestamp(to)}`,
  ].join("&");
  const list = { path: "/transactions", query, schema: schemas.memosSchema };
  for await (const { transactions } of walkPages(reader, list, limits)) yield transactions;
}

function checkTimestamp(timestamp: string): string {
  parseTimestamp(timestamp);
  return timestamp;
}
