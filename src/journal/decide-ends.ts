import { type Loss, lostWeight, type Release as MintRelease } from "../../actors/nft-accounting.ts";
import { decideLoss, type EventTables, emptyTables, evolveMint } from "../../actors/whole.ts";
import type { GoneClaim, LiveClaim, MintEnd } from "./mint-end.ts";
import { instantOfStarId } from "./star-id.ts";
import { accountNumber } from "./star-record.ts";

/** What the mint's machine is asked on: the claims of the serials at hand. */
export interface Losing {
  readonly mint: string;
  /** The collection B serials that each losing wallet holds. */
  readonly held: ReadonlyMap<string, readonly number[]>;
  readonly claims: readonly LiveClaim[];
}

/** Asks the mint's machine which attributions end; one per serial. */
export function decideEnds(
  { mint, held, claims }: Losing,
  gone: readonly GoneClaim[],
): readonly MintEnd[] {
  const tables: EventTables = emptyTables();
  for (const { collection, serial, wallet, starId } of claims) {
    tables[collection].set(serial, { wallet, starId, at: instantOfStarId(starId) });
  }
  const decision = decideLoss(mint, tables, { type: "lost", losses: lossesOf(gone, held) });
  const ends = decision.releases.flatMap(singly).map(([key, end]) => {
    const weight = lostWeight([end], (serial) => tables.B.get(serial));
    return [key, { weight, spare: end.spare }] as const;
  });
  evolveMint(mint, tables, decision);
  const endOf = new Map(ends);
  return gone.flatMap((claim) => {
    const end = endOf.get(`${claim.collection}/${claim.serial}`);
    if (end === undefined) return [];
    const heldB = claim.collection === "B" ? (held.get(claim.wallet) ?? []) : [];
    const countedB = heldB.filter((serial) => tables.B.has(serial));
    return [{ ...claim, ...end, heldB, countedB }];
  });
}

/** The mint's release of a wallet as one per serial, each with the key of its claim. */
function singly({ wallet, a, b, spare }: MintRelease): readonly (readonly [string, MintRelease])[] {
  const ofA = a.map(
    (serial) => [`A/${serial}`, { wallet, a: [serial], b: null, spare: null }] as const,
  );
  return b === null ? ofA : [...ofA, [`B/${b}`, { wallet, a: [], b, spare }]];
}

/** One loss per wallet. */
function lossesOf(
  gone: readonly GoneClaim[],
  held: ReadonlyMap<string, readonly number[]>,
): readonly Loss[] {
  const losses = new Map<string, { lostA: number[]; lostB: number[] }>();
  for (const { collection, serial, wallet } of gone) {
    const loss = losses.get(wallet) ?? { lostA: [], lostB: [] };
    losses.set(wallet, loss);
    (collection === "A" ? loss.lostA : loss.lostB).push(serial);
  }
  return [...losses].map(([wallet, loss]) => ({ wallet, heldB: held.get(wallet) ?? [], ...loss }));
}

/** An end as the journal takes it; names are those of `claim_ending`. */
export function endRow(end: MintEnd): Record<string, unknown> {
  const { collection, serial, wallet, starId, weight, spare, heldB, countedB, evidence } = end;
  return {
    collection,
    serial,
    wallet: accountNumber(wallet),
    star_id: starId,
    weight,
    spare,
    held_b: heldB,
    counted_b: countedB,
    owner: evidence.owner,
    deleted: evidence.deleted,
    listed_at: evidence.listedAt,
    read_at: evidence.readAt,
  };
}
