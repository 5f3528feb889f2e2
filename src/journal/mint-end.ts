import { type Loss, lostWeight, type Release } from "../../actors/nft-accounting.ts";
import { decideLoss, type EventTables, emptyTables, evolveMint } from "../../actors/whole.ts";
import { instantOfStarId } from "./star-id.ts";

/** The two collections whose NFTs add weight. */
export type Collection = "A" | "B";

/** An NFT that counts on a mint, attributed to a wallet. */
export interface LiveClaim {
  readonly collection: Collection;
  readonly serial: number;
  readonly wallet: string;
  /** The star that brought it. */
  readonly starId: string;
  /** Since when it counts, epoch ms. */
  readonly since: number;
}

/** What a mirror node says of one NFT at one time. */
export interface Observation {
  /** The account that has it, deleted or not; null once burned or wiped. */
  readonly owner: string | null;
  /** The NFT, or its whole collection, is deleted: it then has no holder. */
  readonly deleted: boolean;
}

/** Why an NFT counts no longer: seen in the whole collection's reading and in its own. */
export interface Evidence extends Observation {
  /** When either reading started, epoch ms by the one clock. */
  readonly listedAt: number;
  readonly readAt: number;
}

/** A claim whose NFT its wallet no longer holds. */
export interface GoneClaim extends LiveClaim {
  readonly evidence: Evidence;
}

export interface MintEnd extends GoneClaim {
  /** What the mint's total loses with it. */
  readonly weight: number;
  /** The collection B serial that carries the +5 on; null where none does. */
  readonly spare: number | null;
  /** The collection B serials it was chosen from. */
  readonly heldB: readonly number[];
  /** Of these, the ones that count once everything of the plan is released. */
  readonly countedB: readonly number[];
}

/** An attribution that ends, and the collection B serial that carries the +5 on. */
export type SingleEnd = Pick<MintEnd, "collection" | "serial" | "wallet" | "spare">;

/** The attributions that a release of the machine ends, one by one. */
export function singleEnds({ wallet, a, b, spare }: Release): readonly SingleEnd[] {
  const ofA = a.map((serial) => ({ collection: "A", serial, wallet, spare: null }) as const);
  return b === null ? ofA : [...ofA, { collection: "B", serial: b, wallet, spare }];
}

/** One of them as the machine takes it in. */
export function releaseOf({ wallet, collection, serial, spare }: SingleEnd): Release {
  return collection === "A"
    ? { wallet, a: [serial], b: null, spare: null }
    : { wallet, a: [], b: serial, spare };
}

/** What ended, and the weight that went with it, in words: equal for equal ends. */
export function endsInWords(weight: number, ends: readonly SingleEnd[]): string {
  const words = ends.map(({ collection, serial, wallet, spare }) =>
    collection === "A" ? `A ${serial} of ${wallet}` : `B ${serial} of ${wallet}, spare ${spare}`,
  );
  return `${weight}: ${words.sort().join("; ")}`;
}

/** What wallets lost: one loss for each. */
export function lossesOf(
  lost: readonly Pick<MintEnd, "collection" | "serial" | "wallet" | "heldB">[],
): readonly Loss[] {
  const losses = new Map<string, { lostA: number[]; lostB: number[]; heldB: number[] }>();
  for (const { collection, serial, wallet, heldB } of lost) {
    const loss = losses.get(wallet) ?? { lostA: [], lostB: [], heldB: [] };
    loss[`lost${collection}`].push(serial);
    losses.set(wallet, { ...loss, heldB: [...new Set([...loss.heldB, ...heldB])] });
  }
  return [...losses].map(([wallet, loss]) => ({ wallet, ...loss }));
}

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
