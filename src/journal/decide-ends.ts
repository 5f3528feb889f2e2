import { lostWeight } from "../../actors/nft-accounting.ts";
import { decideLoss, type EventTables, emptyTables, evolveMint } from "../../actors/whole.ts";
import {
  type GoneClaim,
  type LiveClaim,
  lossesOf,
  type MintEnd,
  releaseOf,
  singleEnds,
} from "./mint-end.ts";
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
  const lost = gone.map((claim) => {
    return { ...claim, heldB: claim.collection === "B" ? (held.get(claim.wallet) ?? []) : [] };
  });
  const decision = decideLoss(mint, tables, { type: "lost", losses: lossesOf(lost) });
  const endOf = new Map(
    decision.releases.flatMap(singleEnds).map((end) => {
      const weight = lostWeight([releaseOf(end)], (serial) => tables.B.get(serial));
      return [`${end.collection}/${end.serial}`, { weight, spare: end.spare }];
    }),
  );
  evolveMint(mint, tables, decision);
  return lost.flatMap((claim) => {
    const end = endOf.get(`${claim.collection}/${claim.serial}`);
    const countedB = claim.heldB.filter((serial) => tables.B.has(serial));
    return end === undefined ? [] : [{ ...claim, ...end, countedB }];
  });
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
