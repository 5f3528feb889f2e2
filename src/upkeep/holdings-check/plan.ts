import { listClaims } from "../../journal/live-claims.ts";
import { decideEnds, type GoneClaim, type MintEnd } from "../../journal/mint-end.ts";
import type { Sql } from "../../store/postgres.ts";
import { type DeferredPart, deferClaim } from "./claims.ts";
import { holderOf, type Readings } from "./readings.ts";

/**
 * Lets the mint decide on losses, by the slice that they are about. A serial that is to carry
 * a +5 on has to be seen by itself too, because a guess must keep no weight either. While one
 * of them cannot be, its carrier is left open, and the rest is decided again.
 *
 * @param gone carriers of the +5 all together, because what one wallet lost may carry another's
 * @returns what is released together, and what is left open
 */
export async function planReleases(
  { sql, readings }: { readonly sql: Sql; readonly readings: Readings },
  mint: string,
  gone: readonly GoneClaim[],
): Promise<{ readonly releases: readonly MintEnd[]; readonly deferred: readonly DeferredPart[] }> {
  const losers = gone.filter(({ collection }) => collection === "B").map(({ wallet }) => wallet);
  const held = new Map(losers.map((wallet) => [wallet, readings.heldB(wallet)]));
  const serials = [...held.values()].flat();
  const claims = [...gone, ...(await listClaims(sql, { mint, collection: "B", serials }))];
  const deferred: DeferredPart[] = [];
  let settled = gone;
  for (;;) {
    const releases = decideEnds({ mint, held, claims }, settled);
    const open = await unprovenCarriers(readings, releases);
    if (open.size === 0) return { releases, deferred };
    deferred.push(...open.values());
    settled = settled.filter(({ collection, serial }) => collection === "A" || !open.has(serial));
  }
}

/** Releases whose +5 goes on with a serial that its own reading does not confirm, by carrier. */
async function unprovenCarriers(
  readings: Readings,
  releases: readonly MintEnd[],
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
