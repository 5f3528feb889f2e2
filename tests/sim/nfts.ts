import type { Random } from "./random.ts";
import { COLLECTIONS } from "./setting.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** When an NFT came to its owner, epoch milliseconds. */
interface Change {
  /** By the world's time. */
  readonly since: number;
  /** By the ledger's, which goes on through the nights that a world passes over; null where it never moved. */
  readonly consensusAt: number | null;
}
const UNCHANGED: Change = { since: Number.NEGATIVE_INFINITY, consensusAt: null };

/** Who owns the NFTs, and who does as the mirror node shows it. */
export class Nfts {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #buyers: readonly number[];
  readonly #lagMs: number;
  readonly #nightsMs: () => number;
  readonly #owners = { A: new Map<number, number>(), B: new Map<number, number>() };
  readonly #shown = { A: new Map<number, number>(), B: new Map<number, number>() };
  /** When the mirror node showed a new owner last. */
  readonly #changed = { A: new Map<number, Change>(), B: new Map<number, Change>() };

  /**
   * Some of the wallets hold them at first, and some may get them.
   *
   * @param nightsMs how much of the nights the world has passed over, in which the ledger went on
   */
  constructor(
    random: Random,
    time: VirtualTime,
    { wallets, nightsMs }: { readonly wallets: readonly number[]; readonly nightsMs: () => number },
  ) {
    this.#random = random;
    this.#time = time;
    this.#nightsMs = nightsMs;
    this.#buyers = wallets.slice(0, Math.ceil(wallets.length / 2));
    this.#lagMs = random.chance(0.5) ? random.between(0, 5_000) : 0;
    const holders = wallets.slice(0, Math.max(4, Math.ceil(wallets.length / 4)));
    for (const collection of ["A", "B"] as const) {
      const serials = collection === "A" ? 2 * holders.length : holders.length;
      for (let serial = 1; serial <= serials; serial += 1) {
        const owner = random.pick(holders);
        this.#owners[collection].set(serial, owner);
        this.#shown[collection].set(serial, owner);
      }
    }
  }

  /** One NFT changes its wallet; the mirror node shows it a little later. */
  move(): void {
    const collection = this.#random.pick(["A", "B"] as const);
    const serial = 1 + this.#random.below(this.#owners[collection].size);
    this.sell(collection, serial, this.#random.pick(this.#buyers));
  }

  sell(collection: "A" | "B", serial: number, owner: number): void {
    this.#owners[collection].set(serial, owner);
    this.#time.in(this.#lagMs, null, () => {
      this.#shown[collection].set(serial, owner);
      const { now } = this.#time;
      this.#changed[collection].set(serial, { since: now, consensusAt: now + this.#nightsMs() });
    });
  }

  /** Who has an NFT, as the mirror node shows it, and since when. */
  ownerOf(collection: "A" | "B", serial: number): Change & { readonly owner: number | null } {
    const owner = this.#shown[collection].get(serial) ?? null;
    return { owner, ...(this.#changed[collection].get(serial) ?? UNCHANGED) };
  }

  /** Serials of a collection, ascending. */
  serials(collection: "A" | "B"): readonly number[] {
    return [...this.#shown[collection].keys()];
  }

  /** Serials that a wallet holds of a collection, as the mirror node shows them. */
  heldBy(wallet: number, token: string): readonly number[] {
    const shown = this.#shown[token === COLLECTIONS.A ? "A" : "B"];
    const held = [...shown].filter(([, owner]) => owner === wallet).map(([serial]) => serial);
    return held.sort((one, other) => one - other);
  }
}
