import { bulkhead } from "cockatiel";
import type { MirrorNft, MirrorNftTransaction } from "../ledger/mirror/schemas.ts";
import { formatTimestamp, msOf, parseTimestamp } from "../ledger/transaction-id.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import { type Ownership, OwnershipBuilder, type Ownerships } from "./ownership.ts";

export interface OwnershipReading {
  readonly mirror: Pick<AuditMirror, "nftOwners" | "nftTransactions" | "token">;
  readonly collection: string;
  /** Who held what before this does not matter, epoch milliseconds. */
  readonly since: number;
  readonly onProgress: (nfts: number) => void;
}

/**
 * Reads who held the NFTs of both collections since an instant, one after the other.
 *
 * @throws MirrorError
 */
export async function readOwnerships(
  given: Omit<OwnershipReading, "collection"> & {
    readonly collections: { readonly a: string; readonly b: string };
  },
): Promise<Ownerships> {
  const { a, b } = given.collections;
  const A = await readOwnership({ ...given, collection: a });
  return { A, B: await readOwnership({ ...given, collection: b }) };
}

/** Hides the time that answers take; the mirror keeps to its rate by itself. */
const HISTORIES_AT_ONCE = 8;
/** 100 rows each: of an NFT that moved more often within the time audited, only a part is known. */
const HISTORY_PAGES_MAX = 100;

/**
 * Reads who held a collection's NFTs since an instant. An NFT that has not changed since costs
 * nothing beyond its row in the list; of the others the transactions are read, newest first, back
 * to that instant.
 *
 * @throws MirrorError; Error in one line when there is no such collection
 */
export async function readOwnership(given: OwnershipReading): Promise<Ownership> {
  const builder = new OwnershipBuilder();
  const lane = bulkhead(HISTORIES_AT_ONCE, Number.POSITIVE_INFINITY);
  let read = 0;
  for await (const page of given.mirror.nftOwners(given.collection)) {
    const reading = page.map((nft) =>
      isUnmoved(nft, given.since)
        ? builder.add(nft.serial, { rows: [], owner: nft.owner })
        : lane.execute(() => readHistory(given, builder, nft)),
    );
    await Promise.all(reading);
    read += page.length;
    given.onProgress(read);
  }
  // A mistyped collection has no NFTs either, and every star that shows some would be refuted.
  if (read === 0 && (await given.mirror.token(given.collection))?.type !== "NON_FUNGIBLE_UNIQUE")
    throw new Error(`the mirror node knows no NFT collection ${given.collection}`);
  return builder;
}

/**
 * A row is dated by its last move or by something later. A burn and a wipe leave no owner, and date
 * the row too. The deletion of the collection leaves owner and date as they are, so only the history
 * says when that was.
 */
function isUnmoved({ changedAt, deleted, owner }: MirrorNft, since: number): boolean {
  const isOwnChange = !deleted || owner === null;
  return changedAt !== null && isOwnChange && msOf(changedAt) < since;
}

async function readHistory(
  { mirror, collection, since }: OwnershipReading,
  builder: OwnershipBuilder,
  nft: MirrorNft,
): Promise<void> {
  const rows: MirrorNftTransaction[] = [];
  let until: string | undefined;
  for (let pages = 0; pages < HISTORY_PAGES_MAX; pages++) {
    const page = await mirror.nftTransactions(collection, nft.serial, { until });
    rows.push(...page.transactions);
    if (page.partial) builder.isPartial = true;
    const oldest = page.transactions.at(-1);
    if (oldest === undefined || !page.more || msOf(oldest.consensusTimestamp) < since) break;
    until = formatTimestamp(parseTimestamp(oldest.consensusTimestamp) - 1n);
    if (pages === HISTORY_PAGES_MAX - 1) builder.isPartial = true;
  }
  builder.add(nft.serial, { rows: rows.reverse(), owner: nft.deleted ? null : nft.owner });
}
