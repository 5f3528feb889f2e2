import { foreverMintCheck } from "../../actors/forever-mint.ts";
import { type Loss, lostWeight, type Release } from "../../actors/nft-accounting.ts";
import type { Sql } from "../store/postgres.ts";
import { type LiveClaim, readCarriers } from "./holdings-check-claims.ts";
import type { Evidence } from "./holdings-check-judge.ts";
import { type Collection, holderOf, type LookAt } from "./holdings-check-reading.ts";

/** A claim whose NFT its wallet no longer holds. */
export interface GoneClaim extends LiveClaim {
  readonly evidence: Evidence;
}

/** An attribution as it is to end. */
export interface Ending extends GoneClaim {
  /** What the mint's total loses with it. */
  readonly weight: number;
  /** The collection B serial that carries the +5 on; null where none does. */
  readonly spare: number | null;
  /** The collection B serials it was chosen from. */
  readonly heldB: readonly number[];
}

/** A claim that cannot be settled now. */
export interface DoubtfulClaim {
  readonly claim: LiveClaim;
  readonly doubt: string;
}

export interface DecideDeps {
  readonly sql: Sql;
  readonly lookAt: LookAt;
  /** A wallet's collection B serials by the reading in which its carrier was missed. */
  readonly heldB: (wallet: string) => readonly number[];
}

/** What is decided together, and what is left open. */
export interface Decided {
  readonly endings: readonly Ending[];
  readonly doubtful: readonly DoubtfulClaim[];
}

/**
 * Lets the mint decide on losses, by the slice that they are about. A serial that is to carry
 * a +5 on has to be seen by itself too, because a guess must keep no weight either. While one
 * of them cannot be, its carrier is left open, and the rest is decided again.
 */
export async function decideEndings(
  deps: DecideDeps,
  mint: string,
  gone: readonly GoneClaim[],
): Promise<Decided> {
  const losers = gone.filter(({ collection }) => collection === "B").map(({ wallet }) => wallet);
  const held = new Map(losers.map((wallet) => [wallet, deps.heldB(wallet)]));
  const counted = await readCarriers(deps.sql, mint, [...held.values()].flat());
  const doubtful: DoubtfulClaim[] = [];
  let settled = gone;
  for (;;) {
    const endings = decide(mint, settled, { held, counted });
    const open = await doubtsAbout(deps, endings);
    if (open.length === 0) return { endings, doubtful };
    doubtful.push(...open);
    const left = new Set(open.map(({ claim }) => keyOf(claim)));
    settled = settled.filter((claim) => !left.has(keyOf(claim)));
  }
}

interface Slice {
  readonly held: ReadonlyMap<string, readonly number[]>;
  readonly counted: Readonly<Record<number, string>>;
}

function decide(
  mint: string,
  gone: readonly GoneClaim[],
  { held, counted }: Slice,
): readonly Ending[] {
  const losses = lossesOf(gone, held);
  const attributed = (of: Collection) =>
    Object.fromEntries(
      gone.filter(({ collection }) => collection === of).map((each) => [each.serial, each.wallet]),
    );
  const state = {
    value: "collecting",
    context: {
      event: mint,
      weight: 0,
      stars: 0,
      wallets: {},
      counted: { A: attributed("A"), B: { ...counted, ...attributed("B") } },
    },
  };
  const [, { releases }] = foreverMintCheck.step(state, { type: "lost", losses });
  const claims = new Map(gone.map((claim) => [keyOf(claim), claim]));
  return releases.flatMap(singly).flatMap((release) => {
    const [a] = release.a;
    const key = a === undefined ? `B/${release.b}` : `A/${a}`;
    const claim = claims.get(key);
    if (claim === undefined) return [];
    const heldB = a === undefined ? (held.get(release.wallet) ?? []) : [];
    return [{ ...claim, weight: lostWeight([release]), spare: release.spare, heldB }];
  });
}

/** One loss per wallet. */
function lossesOf(gone: readonly GoneClaim[], held: Slice["held"]): readonly Loss[] {
  const losses = new Map<string, { lostA: number[]; lostB: number[] }>();
  for (const { collection, serial, wallet } of gone) {
    const loss = losses.get(wallet) ?? { lostA: [], lostB: [] };
    losses.set(wallet, loss);
    (collection === "A" ? loss.lostA : loss.lostB).push(serial);
  }
  return [...losses].map(([wallet, loss]) => ({ wallet, heldB: held.get(wallet) ?? [], ...loss }));
}

/** A release as one per serial. */
function singly({ wallet, a, b, spare }: Release): readonly Release[] {
  const ofA = a.map((serial) => ({ wallet, a: [serial], b: null, spare: null }));
  return b === null ? ofA : [...ofA, { wallet, a: [], b, spare }];
}

async function doubtsAbout(
  { lookAt }: DecideDeps,
  endings: readonly Ending[],
): Promise<readonly DoubtfulClaim[]> {
  const doubts = endings.map(async (claim) => {
    const { spare, wallet } = claim;
    if (spare === null) return [];
    const own = await lookAt("B", spare);
    if ("doubt" in own) return [{ claim, doubt: `its replacement ${spare}: ${own.doubt}` }];
    if (holderOf(own) === wallet) return [];
    return [{ claim, doubt: `its replacement ${spare} moves just now` }];
  });
  return (await Promise.all(doubts)).flat();
}

function keyOf({ collection, serial }: Pick<LiveClaim, "collection" | "serial">): string {
  return `${collection}/${serial}`;
}
