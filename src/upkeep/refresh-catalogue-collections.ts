import { MirrorError } from "../ledger/mirror/error.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { Logger } from "../log.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

export interface CollectionRefreshDeps {
  readonly sql: Sql;
  readonly mirror: Pick<MirrorNode, "nftOwners" | "token">;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Then the mirror node is away, and the rest would fail as well. */
const FAILURES_IN_A_ROW_MAX = 3;
/** Most records of a round: an hour of pages, at worst. */
const COLLECTIONS_MAX = 10_000;
/** For one page of owners, waiting for a connection and retries included. */
const PAGE_DEADLINE_MS = 10_000;

/**
 * Reads `owners` (accounts that hold at least one NFT) and `supply` of every approved collection,
 * one after the other, as background work of the mirror node's client.
 *
 * A reading counts when the ledger has such a collection, all pages of its NFTs were read, and
 * they are as many as its supply says: what is minted or burnt meanwhile lies between the supply
 * before and after.
 *
 * @returns false when the source failed so that the round ended early
 */
export async function refreshCollections(deps: CollectionRefreshDeps): Promise<boolean> {
  const { sql, log, signal } = deps;
  const ids = await runStatement(sql<{ id: string }[]>`
    select id from collection where approved_at is not null order by number limit ${COLLECTIONS_MAX}`);
  let [asked, failures] = [0, 0];
  for (const { id } of ids) {
    if (signal.aborted || failures >= FAILURES_IN_A_ROW_MAX) break;
    asked += 1;
    try {
      const reading = await readCollection(deps, id);
      failures = 0;
      if (typeof reading === "string") {
        log.warn({ collection: id, reason: reading }, "a collection's reading is inconsistent");
      } else await store(sql, id, reading);
    } catch (error) {
      failures = isOfCollection(error) ? 0 : failures + 1;
      if (!signal.aborted) log.warn({ err: error, collection: id }, "a collection was not read");
    }
  }
  return asked === ids.length && failures === 0;
}

/** The mirror node answers, and only this collection cannot be read. */
function isOfCollection(error: unknown): boolean {
  return error instanceof MirrorError && ["pages", "too-large", "schema"].includes(error.fault);
}

interface Reading {
  readonly owners: number;
  readonly supply: number;
}

/** @returns the reading, or why it is none. @throws MirrorError */
async function readCollection(
  { mirror, signal }: CollectionRefreshDeps,
  id: string,
): Promise<Reading | string> {
  const limits = { background: true, deadlineMs: PAGE_DEADLINE_MS, signal };
  const before = await mirror.token(id, limits);
  if (before === null) return "the ledger knows no such token";
  if (before.type !== "NON_FUNGIBLE_UNIQUE") return "it is no collection of NFTs";
  if (before.deleted) return "it was deleted";
  const owners = new Set<string>();
  let count = 0;
  for await (const page of mirror.nftOwners(id, limits)) {
    for (const { owner, deleted } of page) {
      if (deleted || owner === null) continue;
      owners.add(owner);
      count += 1;
    }
  }
  const after = await mirror.token(id, limits);
  if (after === null || after.type !== before.type) return "it changed while it was read";
  const [least, most] = [before.totalSupply, after.totalSupply].map(Number).sort((a, b) => a - b);
  if (least === undefined || most === undefined || count < least || count > most) {
    return `${count} NFTs were listed, its supply is ${after.totalSupply}`;
  }
  return { owners: owners.size, supply: Number(after.totalSupply) };
}

/** An equal reading writes nothing, and so moves no revision. */
async function store(sql: Sql, id: string, { owners, supply }: Reading): Promise<void> {
  await runStatement(sql`
    update collection set owners = ${owners}, supply = ${supply}
    where id = ${id} and (owners, supply) is distinct from (${owners}::bigint, ${supply}::bigint)`);
}
