import type { Place } from "./place.ts";
import type { Voter } from "./voters.ts";

const WALLETS_AT_ONCE = 24;

/** Numbers from 0 up to and without `below`, the same for a seed (mulberry32). */
export function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What there is to star: half of it events, to which the rules of NFTs apply. */
export async function targetsOf({ sql }: Place): Promise<readonly string[]> {
  const rows = await sql<{ target: string }[]>`
    select 'token/' || id as target from token union all select 'collection/' || id from collection
    union all select 'project/' || id from project`;
  const assets = rows.map(({ target }) => target);
  const events = ["event/meetup", "event/hack", "event/mint", "event/mint"];
  return [...assets, ...Array.from({ length: 8 }, () => events).flat()];
}

/**
 * Gives out wallets one after the other: those that have votes left today, else new ones.
 *
 * @param all gets every wallet that is made
 */
export function walletsOf(place: Place, all: Voter[]): () => Promise<Voter> {
  const fresh: Voter[] = [];
  const spentOn = new Map<Voter, number>();
  const today = (): number => Math.floor(place.clock.now() / 86_400_000);
  let making: Promise<void> | undefined;
  const make = async (): Promise<void> => {
    const holdings = Array.from({ length: WALLETS_AT_ONCE }, (_, n) => ({
      a: n % 4,
      b: n % 3 === 0 ? 1 : 0,
    }));
    const made = await place.ledger.wallets(holdings);
    const voters = made.map((wallet, n): Voter => ({ ...wallet, votes: n % 4 === 0 ? 20 : 5 }));
    await place.grantPasses(voters.filter(({ votes }) => votes === 20));
    all.push(...voters);
    fresh.push(...voters);
  };
  return async () => {
    for (;;) {
      const day = today();
      const rested = [...spentOn].find(([, spent]) => spent < day)?.[0];
      const voter = rested ?? fresh.shift();
      if (voter !== undefined) {
        spentOn.delete(voter);
        spentOn.set(voter, day);
        return voter;
      }
      making ??= make().finally(() => {
        making = undefined;
      });
      await making;
    }
  };
}
