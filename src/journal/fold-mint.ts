import { type ForeverMintState, foreverMint, foreverMintCheck } from "../../actors/forever-mint.ts";
import type { Loss } from "../../actors/nft-accounting.ts";
import type { Sql } from "../store/postgres.ts";
import { readLiveMint } from "./live-mint.ts";
import {
  type EndedClaim,
  type MintHappening,
  type MintRelease,
  type MintStar,
  readMintHistory,
} from "./mint-history.ts";
import { accountNumber } from "./star-record.ts";

/** To whom an NFT, or a wallet's base, is attributed, and by which star it came. */
export interface Attribution {
  readonly wallet: string;
  readonly starId: string;
}

/** A forever mint by what is attributed, keyed `A/7`, `B/2`, `base/1001`. */
export interface MintAttributions {
  readonly weight: number;
  readonly stars: number;
  readonly attributions: ReadonlyMap<string, Attribution>;
}

/** A fold, and the projection it ought to equal. */
export interface MintComparison {
  readonly folded: MintAttributions;
  readonly live: MintAttributions;
  /** One line each, 20 at most; empty: they are equal. */
  readonly differences: readonly string[];
}

/**
 * Folds a mint's history through the machine and holds it against the live claims and the
 * total, both as of one commit: stars may go on meanwhile.
 *
 * @throws Error when the machine decides otherwise than was written down
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function compareMint(sql: Sql, mint: string): Promise<MintComparison> {
  const { upTo, live } = await readLiveMint(sql, mint);
  const folded = await foldForeverMint(mint, readMintHistory(sql, mint, { upTo }));
  return { folded, live, differences: differencesOf(folded, live) };
}

/**
 * Rebuilds a mint from its history: each star and each release is decided again, on the slice
 * it is about, so the cost is that of the serials named and not of the mint's size.
 *
 * @param pages as `readMintHistory` gives them, from the beginning
 * @throws Error when the machine decides otherwise than was written down
 */
export async function foldForeverMint(
  mint: string,
  pages: AsyncIterable<readonly MintHappening[]>,
): Promise<MintAttributions> {
  const fold: Fold = { mint, weight: 0, stars: 0, attributions: new Map(), carriers: new Map() };
  for await (const page of pages) {
    for (const happening of page) {
      if (happening.kind === "star") foldStar(fold, happening);
      else foldRelease(fold, happening);
    }
  }
  return fold;
}

/** The state of the machine in its own words; for mints small enough to be shown whole. */
export function stateOf(mint: string, folded: MintAttributions): ForeverMintState {
  const counted = { A: {} as Record<number, string>, B: {} as Record<number, string> };
  const wallets: Record<string, true> = {};
  for (const [key, { wallet }] of folded.attributions) {
    const [collection, serial] = key.split("/");
    if (collection === "A" || collection === "B") counted[collection][Number(serial)] = wallet;
    else wallets[wallet] = true;
  }
  const { weight, stars } = folded;
  const value = stars === 0 ? "empty" : "collecting";
  return { value, context: { event: mint, weight, stars, wallets, counted } };
}

interface Fold extends MintAttributions {
  readonly mint: string;
  weight: number;
  stars: number;
  readonly attributions: Map<string, Attribution>;
  /** The serial that carries each wallet's +5. */
  readonly carriers: Map<string, number>;
}

function foldStar(fold: Fold, star: MintStar): void {
  const { wallet, starId } = star;
  const carrier = fold.carriers.get(wallet);
  const heldB = carrier === undefined ? star.heldB : [...star.heldB, carrier];
  const baseKey = `base/${accountNumber(wallet)}`;
  const slice = sliceOf(fold, { A: star.heldA, B: heldB });
  const wallets = fold.attributions.has(baseKey) ? { [wallet]: true as const } : {};
  const holdings = { collectionA: star.heldA, collectionB: star.heldB, readAt: star.at };
  const [, { weight, breakdown, claims }] = foreverMint.step(
    { ...slice, context: { ...slice.context, wallets } },
    { type: "star", wallet, holdings },
  );
  if (
    weight !== star.weight ||
    String(breakdownOf(breakdown)) !== String(breakdownOf(star.breakdown))
  )
    throw new Error(`star ${starId} of ${fold.mint} does not follow from what came before it`);
  fold.weight += weight;
  fold.stars += 1;
  if (breakdown.base === 1) fold.attributions.set(baseKey, { wallet, starId });
  for (const serial of claims.a) fold.attributions.set(`A/${serial}`, { wallet, starId });
  if (claims.b !== null) carry(fold, claims.b, { wallet, starId });
}

function foldRelease(fold: Fold, { seq, ended }: MintRelease): void {
  const losses = lossesOf(ended);
  const lost = ended.filter(({ collection }) => collection === "B").map(({ serial }) => serial);
  const slice = sliceOf(fold, {
    A: ended.filter(({ collection }) => collection === "A").map(({ serial }) => serial),
    B: [...lost, ...losses.flatMap(({ heldB }) => heldB)],
  });
  const [, { weight, releases }] = foreverMintCheck.step(slice, { type: "lost", losses });
  const decided = releases.flatMap(({ wallet, a, b, spare }) => [
    ...a.map((serial) => `A/${serial} ${wallet} ${null}`),
    ...(b === null ? [] : [`B/${b} ${wallet} ${spare}`]),
  ]);
  const recorded = ended.map((end) => `${keyOf(end)} ${end.wallet} ${end.spare}`);
  const stars = ended.every((end) => fold.attributions.get(keyOf(end))?.starId === end.starId);
  const sum = ended.reduce((total, end) => total + end.weight, 0);
  if (!stars || weight !== sum || decided.sort().join() !== recorded.sort().join())
    throw new Error(`release ${seq} of ${fold.mint} does not follow from what came before it`);
  fold.weight -= weight;
  for (const end of ended) {
    fold.attributions.delete(keyOf(end));
    if (end.collection === "B") fold.carriers.delete(end.wallet);
  }
  for (const { wallet, starId, spare } of ended) {
    if (spare !== null) carry(fold, spare, { wallet, starId });
  }
}

function carry(fold: Fold, serial: number, attribution: Attribution): void {
  fold.attributions.set(`B/${serial}`, attribution);
  fold.carriers.set(attribution.wallet, serial);
}

/** The mint as one event sees it: the entries of the serials it names. */
function sliceOf(
  { mint, attributions }: Fold,
  serials: Readonly<Record<"A" | "B", readonly number[]>>,
): ForeverMintState {
  const counted = (of: "A" | "B") =>
    Object.fromEntries(
      serials[of].flatMap((serial) => {
        const found = attributions.get(`${of}/${serial}`);
        return found === undefined ? [] : [[serial, found.wallet]];
      }),
    );
  const scope = { event: mint, weight: 0, stars: 0, wallets: {} };
  return {
    value: "collecting",
    context: { ...scope, counted: { A: counted("A"), B: counted("B") } },
  };
}

function lossesOf(ended: readonly EndedClaim[]): readonly Loss[] {
  const wallets = [...new Set(ended.map(({ wallet }) => wallet))];
  return wallets.map((wallet) => {
    const own = ended.filter((end) => end.wallet === wallet);
    const lost = (of: "A" | "B") =>
      own.filter(({ collection }) => collection === of).map(({ serial }) => serial);
    return { wallet, lostA: lost("A"), lostB: lost("B"), heldB: own.flatMap((end) => end.heldB) };
  });
}

function breakdownOf({ base, collectionA, collectionB }: MintStar["breakdown"]): readonly number[] {
  return [base, collectionA, collectionB];
}

function keyOf({ collection, serial }: Pick<EndedClaim, "collection" | "serial">): string {
  return `${collection}/${serial}`;
}

const DIFFERENCES_MAX = 20;

function differencesOf(folded: MintAttributions, live: MintAttributions): readonly string[] {
  const lines: string[] = [];
  for (const of of ["weight", "stars"] as const) {
    if (folded[of] !== live[of]) lines.push(`${of}: ${folded[of]} folded, ${live[of]} live`);
  }
  const say = (found: Attribution | undefined) =>
    found === undefined ? "nobody" : `${found.wallet} by ${found.starId}`;
  for (const key of new Set([...folded.attributions.keys(), ...live.attributions.keys()])) {
    const [one, other] = [say(folded.attributions.get(key)), say(live.attributions.get(key))];
    if (one !== other) lines.push(`${key}: ${one} folded, ${other} live`);
    if (lines.length >= DIFFERENCES_MAX) break;
  }
  return lines;
}
