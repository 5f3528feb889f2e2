import type { MirrorNftTransaction } from "../ledger/mirror/schemas.ts";
import { msOf } from "../ledger/transaction-id.ts";

/** Who held which NFT of a collection when, as far back as was read. */
export interface Ownership {
  /** Account id → what it held, in no order. */
  readonly tenures: ReadonlyMap<string, readonly Tenure[]>;
  /** The mirror node does not know the whole history of some NFT: nothing can be refuted. */
  readonly isPartial: boolean;
}

export interface Ownerships {
  readonly A: Ownership;
  readonly B: Ownership;
}

/** A time during which one account held an NFT; half-open, epoch milliseconds. */
export interface Tenure {
  readonly serial: number;
  readonly from: number;
  /** `Infinity`: still. */
  readonly to: number;
}

export interface NftHistory {
  /** Rising; those before the time that is read may be missing. */
  readonly rows: readonly MirrorNftTransaction[];
  /** Null: burned, wiped, or its collection deleted. */
  readonly owner: string | null;
}

/** Collects tenures; memory depends on how often NFTs moved in the time that is read. */
export class OwnershipBuilder implements Ownership {
  readonly tenures = new Map<string, Tenure[]>();
  isPartial = false;

  add(serial: number, history: NftHistory): void {
    for (const { owner, ...tenure } of tenuresOf(serial, history)) {
      const held = this.tenures.get(owner);
      if (held === undefined) this.tenures.set(owner, [tenure]);
      else held.push(tenure);
    }
  }
}

/**
 * The tenures of one NFT. A row names only the first hop of a transaction with several, and none
 * where a treasury changed, so the next sender held it before; the last holder is the owner. Before a
 * treasury changed, that treasury held it, as the rows since the mint show it.
 */
export function tenuresOf(
  serial: number,
  { rows, owner }: NftHistory,
): readonly (Tenure & { readonly owner: string })[] {
  const moves = rows.filter(({ type, sender, receiver }) => {
    // An allowance moves nothing. The deletion of the collection ends every tenure.
    return sender !== null || receiver !== null || ENDS.test(type);
  });
  const [first] = moves;
  const tenures: (Tenure & { owner: string })[] = [];
  // Held by the first sender before the rows begin; a mint has none.
  const before = first?.sender ?? null;
  if (before !== null && first !== undefined) {
    tenures.push({ serial, owner: before, from: 0, to: msOf(first.consensusTimestamp) });
  }
  /** Who held it before the move at this index, by that row; null where it does not say. */
  const heldBefore = (index: number): string | null =>
    index < moves.length ? (moves[index]?.sender ?? null) : owner;
  /** Who held it after the updates in a row from this index on. */
  const heldAfterUpdates = (index: number): string | null => {
    const other = moves.findIndex(({ type }, at) => at >= index && type !== "TOKENUPDATE");
    return heldBefore(other === -1 ? moves.length : other);
  };
  let held = before;
  let treasury: string | null = null;
  for (const [index, move] of moves.entries()) {
    const next = moves[index + 1];
    if (move.type === "TOKENMINT") treasury = move.receiver;
    // What a new treasury took over was the old one's, even where the first hop says otherwise.
    const isTakenOver: boolean =
      move.type !== "TOKENUPDATE" &&
      next?.type === "TOKENUPDATE" &&
      heldAfterUpdates(index + 1) !== move.receiver &&
      treasury !== null;
    // Updates in a row change nothing where the same wallet has it after the last of them.
    const isKept: boolean = move.type === "TOKENUPDATE" && heldAfterUpdates(index + 1) === held;
    const taken: string | null = isTakenOver ? treasury : move.receiver;
    const shown: string | null = next === undefined ? null : isKept ? held : taken;
    const holder: string | null =
      move.type === "TOKENDELETION" ? null : (heldBefore(index + 1) ?? shown);
    if (move.type === "TOKENUPDATE" && holder !== held) treasury = holder;
    held = holder;
    if (holder === null) continue;
    const from = msOf(move.consensusTimestamp);
    const to =
      next === undefined ? Number.POSITIVE_INFINITY : Math.max(from, msOf(next.consensusTimestamp));
    tenures.push({ serial, owner: holder, from, to });
  }
  if (moves.length === 0 && owner !== null) {
    tenures.push({ serial, owner, from: 0, to: Number.POSITIVE_INFINITY });
  }
  return tenures;
}

/** Rows without parties that change who holds: a new treasury, the end of the collection. */
const ENDS = /^TOKEN(DELETION|UPDATE)$/;

/** The serials a wallet held: throughout a time, and at some instant of it; both ascending. */
export interface HeldSerials {
  readonly always: readonly number[];
  readonly ever: readonly number[];
}

/** What a wallet held from `from` to `to`, both included, epoch milliseconds. */
export function heldBetween(
  { tenures }: Ownership,
  wallet: string,
  { from, to }: { readonly from: number; readonly to: number },
): HeldSerials {
  const always: number[] = [];
  const ever = new Set<number>();
  for (const tenure of tenures.get(wallet) ?? []) {
    if (tenure.from > to || tenure.to <= from) continue;
    ever.add(tenure.serial);
    if (tenure.from <= from && tenure.to > to) always.push(tenure.serial);
  }
  const rising = (one: number, other: number) => one - other;
  return { always: always.sort(rising), ever: [...ever].sort(rising) };
}

/** The same of one serial, without a look at the others: asked of each of thousands that a wallet sold. */
export function heldOne(
  { tenures }: Ownership,
  { wallet, serial }: { readonly wallet: string; readonly serial: number },
  { from, to }: { readonly from: number; readonly to: number },
): Readonly<Record<keyof HeldSerials, boolean>> {
  const held = (tenures.get(wallet) ?? []).filter((each) => each.serial === serial);
  return {
    always: held.some((each) => each.from <= from && each.to > to),
    ever: held.some((each) => each.from <= to && each.to > from),
  };
}

/** What a wallet held at one instant, ascending. */
export function heldAt(ownership: Ownership, wallet: string, at: number): readonly number[] {
  return heldBetween(ownership, wallet, { from: at, to: at }).always;
}
