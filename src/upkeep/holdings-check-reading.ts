import { bulkhead } from "cockatiel";
import type { Clock } from "../clock.ts";
import type { ReadLimits } from "../ledger/mirror-deadline.ts";
import { MirrorError } from "../ledger/mirror-error.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";

/** The two collections whose NFTs add weight. */
export type Collection = "A" | "B";

/** What a mirror node says of one NFT at one time. */
export interface Sight {
  /** The account that has it, deleted or not; null once burned or wiped. */
  readonly owner: string | null;
  /** The NFT, or its whole collection, is deleted: then nobody holds it. */
  readonly deleted: boolean;
}

/** Who has each NFT of a collection, read page by page to the end. */
export interface OwnersReading {
  /** Before its first page was asked for, epoch ms by the one clock. */
  readonly begunAt: number;
  readonly seen: ReadonlyMap<number, Sight>;
}

/** A doubt stands in the place of what was asked; it is never taken for an answer. */
export type Doubt = { readonly doubt: string };

/** What a check reads from. */
export interface ReadingDeps {
  readonly mirror: Pick<MirrorNode, "nftOwners" | "nft">;
  readonly clock: Clock;
  /** Ledger ids of the collections. */
  readonly collections: Readonly<Record<Collection, string>>;
  /** For one page, or one NFT, with all retries. */
  readonly deadlineMs?: number | undefined;
  /** Ends all reading early: what is not read by then is in doubt. */
  readonly signal?: AbortSignal | undefined;
  /** Called between steps by tests, which stop it there. */
  readonly failpoint?: ((name: string) => void | Promise<void>) | undefined;
}

/** What takes longer is tried again later, with everything else that is in doubt. */
const DEADLINE_MS = 5_000;

/** Of the eight connections left to background work, two stay free for the publisher. */
const LOOKS_IN_FLIGHT_MAX = 3;

/** Who holds an NFT by what was seen of it; null for nobody. "NFTs … that are not deleted." */
export function holderOf({ owner, deleted }: Sight): string | null {
  return deleted ? null : owner;
}

/**
 * Reads a collection's owners by whole pages, 100 NFTs a request. A reading that breaks off
 * anywhere is no reading. One without any NFT is none either: burned ones stay listed, so
 * the mirror node does not know the collection (yet), or it is the wrong one.
 */
export async function readCollection(
  deps: ReadingDeps,
  collection: Collection,
): Promise<OwnersReading | Doubt> {
  const { mirror, clock, collections, failpoint } = deps;
  const begunAt = clock.now();
  const seen = new Map<number, Sight>();
  try {
    for await (const page of mirror.nftOwners(collections[collection], limitsOf(deps))) {
      for (const { serial, owner, deleted } of page) seen.set(serial, { owner, deleted });
      await failpoint?.("forever.page");
    }
  } catch (error) {
    return doubtOf(error);
  }
  if (seen.size === 0) return { doubt: "the mirror node knows no NFT of the collection" };
  return { begunAt, seen };
}

/** What was seen of one NFT in a reading of its own. */
export type OwnSight = Sight & { readonly readAt: number };

/** Looks at single NFTs; each is asked for once, whoever wants to know. */
export type LookAt = (collection: Collection, serial: number) => Promise<OwnSight | Doubt>;

/**
 * A look per NFT for the length of a pass: several mints share it. A look is two requests side
 * by side, because behind a balancer one may be answered by a replica that is behind: only
 * what both say is believed.
 */
export function createLookAt(deps: ReadingDeps): LookAt {
  const looks = new Map<string, Promise<OwnSight | Doubt>>();
  const gate = bulkhead(LOOKS_IN_FLIGHT_MAX, Number.MAX_SAFE_INTEGER);
  return (collection, serial) => {
    const key = `${collection}/${serial}`;
    const known = looks.get(key) ?? gate.execute(() => look(deps, collection, serial));
    looks.set(key, known);
    return known;
  };
}

async function look(
  deps: ReadingDeps,
  collection: Collection,
  serial: number,
): Promise<OwnSight | Doubt> {
  const { mirror, clock, collections, failpoint } = deps;
  const readAt = clock.now();
  // When one fails the look is worth nothing: the other need not go on.
  const either = new AbortController();
  const signals = [either.signal, ...(deps.signal === undefined ? [] : [deps.signal])];
  const limits = { ...limitsOf(deps), signal: AbortSignal.any(signals) };
  const ask = () => mirror.nft(collections[collection], serial, limits);
  try {
    const [one, other] = await Promise.all([ask(), ask()]);
    await failpoint?.("forever.confirmed");
    if (one === null || other === null) return { doubt: "the mirror node does not know the NFT" };
    if (holderOf(one) !== holderOf(other)) {
      return { doubt: "asked twice, the mirror node names different holders" };
    }
    return { owner: one.owner, deleted: one.deleted, readAt };
  } catch (error) {
    return doubtOf(error);
  } finally {
    either.abort();
  }
}

/** Nobody waits for a check, so it leaves most connections to the stars. */
function limitsOf({ deadlineMs = DEADLINE_MS, signal }: ReadingDeps): ReadLimits {
  return { background: true, deadlineMs, ...(signal === undefined ? {} : { signal }) };
}

/** @throws whatever is no fault of a mirror node */
function doubtOf(error: unknown): Doubt {
  if (error instanceof MirrorError) return { doubt: error.message };
  throw error;
}
