import type { Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Holdings } from "../../actors/weight.ts";
import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";
import type { CountedNft } from "../holdings/read-holdings.ts";
import type { Slice, SliceKey } from "../journal/load.ts";
import { type Collection, decideEnds, type LiveClaim } from "../journal/mint-end.ts";
import { BEHIND_MAX_MS } from "../ledger/mirror/is-behind.ts";

export interface SoldDeps {
  /** Asks the mirror node, now. */
  readonly readHoldings: (wallet: string) => Promise<Holdings>;
  /** Whether a wallet holds an NFT by a reading as new as the star that it counts with. */
  readonly hasTaken: (wallet: string, nft: CountedNft) => Promise<boolean>;
  readonly isMintChecked: (mint: string, day: Day) => Promise<boolean>;
  /** The live claims of a forever mint on some serials. */
  readonly claimsOn: (
    mint: string,
    collection: Collection,
    serials: readonly number[],
  ) => Promise<readonly LiveClaim[]>;
}

export interface SliceDeps extends SoldDeps {
  readonly loadSlice: (key: SliceKey) => Promise<Slice>;
}

/** Half of the connections to the mirror node, so that other stars go on beside one that asks about hundreds. */
const NFTS_AT_ONCE = 64;
/** A wallet is read by two requests. */
const WALLETS_AT_ONCE = NFTS_AT_ONCE / 2;

interface Voter {
  readonly target: Target;
  readonly wallet: string;
  readonly holdings: Holdings;
}

/**
 * The claims on the NFTs that the wallet brings, without what the star proves lost; null where the
 * target accounts for none.
 *
 * @throws RetryableError as `withSold`
 */
export async function sliceFor(deps: SliceDeps, voter: Voter, day: Day): Promise<Slice | null> {
  const { target, wallet, holdings } = voter;
  const { scope } = target.rule;
  if (scope === "none") return null;
  const slice = await deps.loadSlice({
    event: target.id,
    day: scope === "forever-mint" ? null : day,
    wallet,
    serialsA: holdings.collectionA,
    serialsB: holdings.collectionB,
  });
  return scope === "forever-mint" ? withSold(deps, voter, { day, slice }) : slice;
}

/**
 * Adds to a mint's slice what the star proves lost. Until the day's check has done the mint, a star ends
 * what was attributed to another wallet before today and is now in its own wallet, as the check would:
 * the star's own reading is the evidence. Most stars bring no such NFT, and cost nothing here.
 *
 * @throws RetryableError `HOLDINGS_UNAVAILABLE` where what a former holder of the +5 still holds cannot be
 *   read, or the star's own reading may be older than what it would end
 */
export async function withSold(
  deps: SoldDeps,
  { target, wallet, holdings }: Voter,
  given: { readonly day: Day; readonly slice: Slice },
): Promise<Slice> {
  const { day, slice } = given;
  const { id: mint } = target;
  const ofOthers = (of: Collection, serials: readonly number[]) =>
    serials.filter((serial) => (slice.counted[of][serial]?.wallet ?? wallet) !== wallet);
  const a = ofOthers("A", holdings.collectionA);
  const b = ofOthers("B", holdings.collectionB);
  if (a.length + b.length === 0 || (await deps.isMintChecked(mint, day))) return slice;
  const claims = [...(await deps.claimsOn(mint, "A", a)), ...(await deps.claimsOn(mint, "B", b))];
  const { readAt } = holdings;
  // As with the check, a reading does not judge what has counted only since it began.
  const isOld = ({ since }: LiveClaim) => dayOf(since) < day && since < readAt;
  const sold = claims.filter((claim) => claim.wallet !== wallet && isOld(claim));
  await refuseOldReading(deps, { wallet, readAt }, sold);
  const losers = sold.filter(({ collection }) => collection === "B").map((claim) => claim.wallet);
  const readings = new Map(
    await inPieces(losers, WALLETS_AT_ONCE, async (loser) => {
      return [loser, (await deps.readHoldings(loser)).collectionB] as const;
    }),
  );
  const evidence = { owner: wallet, deleted: false, listedAt: readAt, readAt };
  const gone = sold
    // Two readings that both name a holder prove nothing.
    .filter(
      (claim) => claim.collection === "A" || !readings.get(claim.wallet)?.includes(claim.serial),
    )
    .map((claim) => ({ ...claim, evidence }));
  // What the star's wallet holds cannot carry another wallet's +5 on: the star may claim it.
  const own = new Set(holdings.collectionB);
  const held = new Map(
    [...readings].map(([loser, serials]) => [loser, serials.filter((serial) => !own.has(serial))]),
  );
  const spares = [...held.values()].flat();
  const known = [...gone, ...(await deps.claimsOn(mint, "B", spares))];
  return { ...slice, ends: decideEnds({ mint, held, claims: known }, gone) };
}

/**
 * A mirror node that is seconds behind shows who had an NFT before the wallet that has starred with it
 * since: what it says of this wallet is of before that star.
 */
async function refuseOldReading(
  { hasTaken }: Pick<SoldDeps, "hasTaken">,
  { wallet, readAt }: { readonly wallet: string; readonly readAt: number },
  sold: readonly LiveClaim[],
): Promise<void> {
  const recent = sold.filter(({ since }) => since > readAt - BEHIND_MAX_MS);
  const taken = await inPieces(recent, NFTS_AT_ONCE, (claim) => hasTaken(wallet, claim));
  if (taken.every(Boolean)) return;
  throw new RetryableError(
    "HOLDINGS_UNAVAILABLE",
    "the mirror node is behind the star of another wallet with the same NFT",
  );
}

/**
 * Asks the mirror node about many wallets or NFTs, `atOnce` at a time.
 *
 * @throws what one of them throws; RetryableError `HOLDINGS_UNAVAILABLE` where they take longer than a
 *   wallet's reading may. No later one is asked then
 */
async function inPieces<T, R>(
  all: readonly T[],
  atOnce: number,
  ask: (one: T) => Promise<R>,
): Promise<R[]> {
  const endsAt = performance.now() + bounds.holdingsDeadlineMs;
  const answers: R[] = [];
  for (let from = 0; from < all.length; from += atOnce) {
    if (performance.now() >= endsAt) {
      throw new RetryableError("HOLDINGS_UNAVAILABLE", "the mirror node is slow about many NFTs");
    }
    const piece = all.slice(from, from + atOnce);
    answers.push(...(await Promise.all(piece.map(ask))));
  }
  return answers;
}
