import { bulkhead } from "cockatiel";
import { bounds } from "../../bounds.ts";
import type { Clock } from "../../clock.ts";
import type { Collection, Observation } from "../../journal/mint-end.ts";
import { MirrorError } from "../../ledger/mirror/error.ts";
import { isBehind } from "../../ledger/mirror/is-behind.ts";
import type { OneNode, ReadLimits } from "../../ledger/mirror/limits.ts";
import type { MirrorNode } from "../../ledger/mirror/node.ts";
import { msOf } from "../../ledger/transaction-id.ts";

/** Stands in the place of an answer that proves nothing, and says why. */
export type Inconclusive = { readonly inconclusive: string };

export interface ReadingDeps {
  readonly mirror: Pick<MirrorNode, "nftOwners" | "nft" | "newestBlock">;
  readonly clock: Clock;
  readonly collections: Readonly<Record<Collection, string>>;
  /** For one page of the mirror node, or one NFT, with all retries; default 5 s. */
  readonly deadlineMs?: number;
  /** Ends all reading early: what is not read by then is inconclusive. */
  readonly signal: AbortSignal;
  /** Called between steps by tests, which stop it there: `forever.*`. */
  readonly failpoint?: (name: string) => void | Promise<void>;
}

/** Who has each NFT of a collection, read page by page to the end. */
interface OwnersReading {
  /** Before its first page was asked for, epoch ms. */
  readonly startedAt: number;
  readonly seen: ReadonlyMap<number, Observation>;
}

/** What a mirror node says of one NFT when asked for it alone. */
interface OwnReading extends Observation {
  /** Before it was asked, epoch ms. */
  readonly readAt: number;
  /** When the NFT last moved, epoch ms by the ledger; null where the mirror node does not say. */
  readonly changedAt: number | null;
}

type Observing = Promise<OwnReading | Inconclusive>;

/** What a pass knows of both collections; all mints share it. */
export type Readings = Awaited<ReturnType<typeof readCollections>>;

/** What takes longer is tried again later, with everything else that is inconclusive. */
const DEADLINE_MS = 5_000;
/** Background work has eight connections; two stay free for the publisher. */
const OBSERVATIONS_IN_FLIGHT_MAX = 3;

/** Reads the wanted collections, both at once. */
export async function readCollections(deps: ReadingDeps, wanted: ReadonlySet<Collection>) {
  const read = (collection: Collection) =>
    wanted.has(collection) ? readCollection(deps, collection) : null;
  const [A, B] = await Promise.all([read("A"), read("B")]);
  let byHolder: ReadonlyMap<string, readonly number[]> | undefined;
  const known = new Map<string, Observing>();
  const gate = bulkhead(OBSERVATIONS_IN_FLIGHT_MAX, Number.MAX_SAFE_INTEGER);
  return {
    /** Null where no NFT of the collection counts anywhere, so it was not read. */
    of: { A, B },
    /** Reads a single NFT, once a pass. */
    observe(collection: Collection, serial: number): Observing {
      const key = `${collection}/${serial}`;
      const own = known.get(key) ?? gate.execute(() => observe(deps, collection, serial));
      known.set(key, own);
      return own;
    },
    /** Reads it anew, unless the mirror node says that it has not come as far as an instant, epoch ms. */
    async observeSince(collection: Collection, serial: number, since: number): Observing {
      try {
        // Asked first, and of the same node: what is read later is at least as new.
        const oneNode: OneNode = {};
        if (!(await isBehind(deps, since, { ...limitsOf(deps), oneNode })))
          return await gate.execute(() => observe(deps, collection, serial, oneNode));
        return { inconclusive: "the mirror node is behind the star that brought it" };
      } catch (error) {
        return inconclusive(error);
      }
    },
    /** The collection B serials a wallet holds by the collection's reading, ascending. */
    heldB(wallet: string): readonly number[] {
      // Made on first use: most passes need none.
      byHolder ??= B === null || "inconclusive" in B ? new Map() : serialsByHolder(B);
      return byHolder.get(wallet) ?? [];
    },
  };
}

/** Who holds an NFT by what was seen of it, or null. "NFTs … that are not deleted." */
export function holderOf({ owner, deleted }: Observation): string | null {
  return deleted ? null : owner;
}

/**
 * Reads a collection's owners by whole pages, 100 NFTs a request. A reading that breaks off
 * anywhere is no reading. One without any NFT is none either: burned ones stay listed, so
 * the mirror node does not know the collection (yet), or it is the wrong one.
 */
async function readCollection(
  deps: ReadingDeps,
  collection: Collection,
): Promise<OwnersReading | Inconclusive> {
  const { mirror, clock, collections, failpoint } = deps;
  const startedAt = clock.now();
  const seen = new Map<number, Observation>();
  try {
    const limits = { ...limitsOf(deps), pagesMax: bounds.collectionPagesMax };
    for await (const page of mirror.nftOwners(collections[collection], limits)) {
      for (const { serial, owner, deleted } of page) seen.set(serial, { owner, deleted });
      await failpoint?.("forever.page");
    }
  } catch (error) {
    return inconclusive(error);
  }
  if (seen.size === 0) return { inconclusive: "the mirror node knows no NFT of the collection" };
  return { startedAt, seen };
}

/**
 * Reads one NFT by two requests side by side, because behind a balancer one may be answered by
 * a replica that is behind: only what both say is believed.
 */
async function observe(
  deps: ReadingDeps,
  collection: Collection,
  serial: number,
  oneNode?: OneNode,
): Observing {
  const { mirror, clock, collections, failpoint } = deps;
  const readAt = clock.now();
  // When one fails the other need not go on.
  const either = new AbortController();
  const limits = {
    ...limitsOf(deps),
    signal: AbortSignal.any([either.signal, deps.signal]),
    oneNode,
  };
  const ask = () => mirror.nft(collections[collection], serial, limits);
  try {
    const [one, other] = await Promise.all([ask(), ask()]);
    await failpoint?.("forever.confirmed");
    if (one === null || other === null) {
      return { inconclusive: "the mirror node does not know the NFT" };
    }
    if (holderOf(one) !== holderOf(other)) {
      return { inconclusive: "asked twice, the mirror node names different holders" };
    }
    const changedAt = one.changedAt === null ? null : msOf(one.changedAt);
    return { owner: one.owner, deleted: one.deleted, readAt, changedAt };
  } catch (error) {
    return inconclusive(error);
  } finally {
    either.abort();
  }
}

/** No voter waits for a check, so it leaves most connections to the stars. */
function limitsOf({ deadlineMs = DEADLINE_MS, signal }: ReadingDeps): ReadLimits {
  return { background: true, deadlineMs, signal };
}

/** @throws the error itself where it is no fault of a mirror node */
function inconclusive(error: unknown): Inconclusive {
  if (error instanceof MirrorError) return { inconclusive: error.message };
  throw error;
}

function serialsByHolder({ seen }: OwnersReading): ReadonlyMap<string, readonly number[]> {
  const byHolder = new Map<string, number[]>();
  for (const [serial, observation] of seen) {
    const holder = holderOf(observation);
    if (holder === null) continue;
    const serials = byHolder.get(holder);
    if (serials === undefined) byHolder.set(holder, [serial]);
    else serials.push(serial);
  }
  return byHolder;
}
