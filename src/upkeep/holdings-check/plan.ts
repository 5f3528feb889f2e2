import {
  type Loss,
  lostWeight,
  type Release as MintRelease,
} from "../../../actors/nft-accounting.ts";
import { decideLoss, type EventTables, emptyTables, evolveMint } from "../../../actors/whole.ts";
import { instantOfStarId } from "../../journal/star-id.ts";
import type { Sql } from "../../store/postgres.ts";
import { type DeferredPart, deferClaim, findClaims, type LiveClaim } from "./claims.ts";
import { type GoneClaim, holderOf, type Readings } from "./verify.ts";

/** An attribution as it is to end. */
export interface Release extends GoneClaim {
  /** What the mint's total loses with it. */
  readonly weight: number;
  /** The collection B serial that carries the +5 on; null where none does. */
  readonly spare: number | null;
  /** The collection B serials it was chosen from. */
  readonly heldB: readonly number[];
  /** Of these, the ones that count once everything of the plan is released. */
  readonly countedB: readonly number[];
}

/** What is released together, and what is left open. */
export interface ReleasePlan {
  readonly releases: readonly Release[];
  readonly deferred: readonly DeferredPart[];
}

/**
 * Lets the mint decide on losses, by the slice that they are about. A serial that is to carry
 * a +5 on has to be seen by itself too, because a guess must keep no weight either. While one
 * of them cannot be, its carrier is left open, and the rest is decided again.
 *
 * @param gone carriers of the +5 all together, because what one wallet lost may carry another's
 */
export async function planReleases(
  { sql, readings }: { readonly sql: Sql; readonly readings: Readings },
  mint: string,
  gone: readonly GoneClaim[],
): Promise<ReleasePlan> {
  const losers = gone.filter(({ collection }) => collection === "B").map(({ wallet }) => wallet);
  const held = new Map(losers.map((wallet) => [wallet, readings.heldB(wallet)]));
  const claims: LiveClaim[] = [...gone];
  const serials = [...held.values()].flat();
  for await (const page of findClaims(sql, { mint, collection: "B", serials })) {
    claims.push(...page);
  }
  const deferred: DeferredPart[] = [];
  let settled = gone;
  for (;;) {
    const releases = decide({ mint, held, claims }, settled);
    const open = await unprovenCarriers(readings, releases);
    if (open.size === 0) return { releases, deferred };
    deferred.push(...open.values());
    settled = settled.filter(({ collection, serial }) => collection === "A" || !open.has(serial));
  }
}

/** Releases whose +5 goes on with a serial that its own reading does not confirm, by carrier. */
async function unprovenCarriers(
  readings: Readings,
  releases: readonly Release[],
): Promise<ReadonlyMap<number, DeferredPart>> {
  const found = await Promise.all(
    releases.map(async (release): Promise<[number, DeferredPart][]> => {
      const { spare, wallet, serial } = release;
      if (spare === null) return [];
      const own = await readings.observe("B", spare);
      if ("inconclusive" in own) {
        return [[serial, deferClaim(release, `its replacement ${spare}: ${own.inconclusive}`)]];
      }
      if (holderOf(own) === wallet) return [];
      return [[serial, deferClaim(release, `its replacement ${spare} moves just now`)]];
    }),
  );
  return new Map(found.flat());
}

/** What the mint's machine is asked on: the claims of the serials at hand. */
interface Slice {
  readonly mint: string;
  /** The collection B serials that each losing wallet holds. */
  readonly held: ReadonlyMap<string, readonly number[]>;
  readonly claims: readonly LiveClaim[];
}

/** Asks the mint's machine which attributions end; one release per serial. */
function decide({ mint, held, claims }: Slice, gone: readonly GoneClaim[]): readonly Release[] {
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
