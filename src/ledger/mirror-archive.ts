import { ExponentialBackoff, handleWhen, retry } from "cockatiel";
import { z } from "zod";
import type { Logger } from "../log.ts";
import { type Budget, within } from "./mirror-deadline.ts";
import { MirrorError, mayPass } from "./mirror-error.ts";
import { readMessages, readNftTransactions } from "./mirror-lists.ts";
import { walkPages } from "./mirror-pages.ts";
import { createReader, known } from "./mirror-reader.ts";
import * as schemas from "./mirror-schemas.ts";
import { createMirrorTransport } from "./mirror-transport.ts";

/** An NFT, and since when it has been as it is. */
export interface DatedNft extends schemas.MirrorNft {
  /** `seconds.nnnnnnnnn` of its last change, of which a transfer is one; null: not known. */
  readonly changedAt: string | null;
}

/**
 * What whoever checks the past reads from a mirror node. Nobody waits for these reads, so each is
 * tried for minutes before it fails.
 */
export interface MirrorArchive {
  /** As of `MirrorNode`. */
  messages(topic: string, afterSequence: number): ReturnType<typeof readMessages>;
  /** The topic's last message; null while it has none. */
  newestMessage(topic: string): Promise<schemas.MirrorTopicMessage | null>;
  /** Whether the account was ever there: deleted ones still are. */
  accountExists(id: string): Promise<boolean>;
  /** Every NFT of a collection, page by page, ascending. */
  nfts(token: string): AsyncIterable<readonly DatedNft[]>;
  /** As of `MirrorNode`. */
  nftTransactions(
    token: string,
    serial: number,
    until: string | undefined,
  ): ReturnType<typeof readNftTransactions>;
  close(): Promise<void>;
}

const PAGE = 100;
/** 100,000 NFTs: collections are far smaller. */
const NFT_PAGES_MAX = 1_000;
const READ_DEADLINE_MS = 15_000;
/** With pauses of 1 s doubling to 30 s: public nodes have been out for minutes. */
const ATTEMPTS_MAX = 8;
const PAUSES = new ExponentialBackoff({ initialDelay: 1_000, maxDelay: 30_000 });

const entity = z.string().regex(/^\d{1,10}\.\d{1,10}\.\d{1,12}$/);
const datedNft = z
  .object({
    token_id: entity,
    serial_number: z.int().min(1),
    account_id: entity.nullable(),
    deleted: z.boolean(),
    modified_timestamp: z.string().nullish(),
  })
  .transform((row) => ({
    tokenId: row.token_id,
    serial: row.serial_number,
    owner: row.account_id,
    deleted: row.deleted,
    changedAt: row.modified_timestamp ?? null,
  }));
const datedNfts = z.object({
  nfts: z.array(datedNft).max(PAGE),
  links: z.object({ next: z.string().min(1).max(2_048).nullable() }),
});

/** @param urls base URLs of mirror nodes, the preferred one first, at least one */
export function openMirrorArchive(options: {
  readonly urls: readonly string[];
  readonly log: Logger;
}): MirrorArchive {
  const transport = createMirrorTransport(options);
  const reader = createReader(transport);
  // One that never answered is not there: whoever mistyped its URL is told at once.
  let hasAnswered = false;
  const policy = retry(
    handleWhen((error) => hasAnswered && error instanceof MirrorError && mayPass(error.fault)),
    { maxAttempts: ATTEMPTS_MAX - 1, backoff: PAUSES },
  );
  const patiently = <T>(read: (budget: Budget) => Promise<T>): Promise<T> =>
    policy.execute(async () => {
      const answer = await within({ deadlineMs: READ_DEADLINE_MS }, read);
      hasAnswered = true;
      return answer;
    });

  return {
    messages: (topic, afterSequence) =>
      patiently((budget) => readMessages(reader, { topic, from: { afterSequence }, budget })),
    async newestMessage(topic) {
      const path = `/topics/${known(topic)}/messages?limit=1&order=desc`;
      const body = await patiently((budget) =>
        reader.list(path, schemas.topicMessagesSchema, budget),
      );
      return body.messages[0] ?? null;
    },
    accountExists: async (id) =>
      (await patiently((budget) =>
        reader.one(`/accounts/${known(id)}?transactions=false`, schemas.accountSchema, budget),
      )) !== null,
    async *nfts(token) {
      const pages = walkPages(
        {
          path: `/tokens/${known(token)}/nfts`,
          query: `limit=${PAGE}&order=asc`,
          pagesMax: NFT_PAGES_MAX,
          prefixes: reader.prefixes,
        },
        (target) => patiently((budget) => reader.list(target, datedNfts, budget)),
      );
      for await (const { nfts } of pages) yield nfts;
    },
    nftTransactions: (token, serial, until) =>
      patiently((budget) => readNftTransactions(reader, { token, serial, until, budget })),
    close: () => transport.close(),
  };
}
