import type { Evidence, GoneClaim, LiveClaim } from "../../journal/mint-end.ts";
import { type DeferredPart, deferClaim } from "./claims.ts";
import { holderOf, type Inconclusive, type Readings } from "./readings.ts";

/** Verifies claims side by side; writes nothing. @returns with how many were found held */
export async function verifyClaims(page: readonly LiveClaim[], readings: Readings) {
  const found = { kept: 0, gone: [] as GoneClaim[], deferred: [] as DeferredPart[] };
  const verified = page.map(async (claim) => [claim, await verifyClaim(claim, readings)] as const);
  for (const [claim, verdict] of await Promise.all(verified)) {
    if (verdict === "held") found.kept += 1;
    else if (verdict === "not covered") continue;
    else if ("inconclusive" in verdict)
      found.deferred.push(deferClaim(claim, verdict.inconclusive));
    else found.gone.push({ ...claim, evidence: verdict });
  }
  return found;
}

/**
 * Verifies one attribution. It is gone only when a complete reading of the collection shows the
 * NFT elsewhere, or nowhere, and a later reading of the NFT alone shows the same. Two readings
 * that differ (it moves just now, or two replicas are of different age) prove nothing, and two of
 * a mirror node that is behind the star neither: they may show who had it before. One attributed
 * since the reading started is not covered by it.
 */
async function verifyClaim(
  { collection, serial, wallet, since }: LiveClaim,
  readings: Readings,
): Promise<"held" | "not covered" | Evidence | Inconclusive> {
  const reading = readings.of[collection];
  if (reading === null) return "not covered";
  if ("inconclusive" in reading) return reading;
  if (since >= reading.startedAt) return "not covered";
  const listed = reading.seen.get(serial);
  if (listed !== undefined && holderOf(listed) === wallet) return "held";

  const seen = await readings.observe(collection, serial);
  if ("inconclusive" in seen) return seen;
  // A node that is behind the star would show this move as the last one too, and another may have
  // taken over since the check began.
  const isOlder = seen.changedAt !== null && seen.changedAt < since && holderOf(seen) !== wallet;
  const own = isOlder ? await readings.observeSince(collection, serial, since) : seen;
  if ("inconclusive" in own) return own;
  if (own.readAt < reading.startedAt) {
    return { inconclusive: "the clock was set back between its two readings" };
  }
  if (holderOf(own) === wallet) {
    return { inconclusive: "gone in the collection's reading, held in its own" };
  }
  // Only an NFT without a holder may be missing from the list of those that have one.
  if ((listed === undefined ? null : holderOf(listed)) !== holderOf(own)) {
    return { inconclusive: "its two readings name different holders" };
  }
  const { changedAt, ...evidence } = own;
  return { ...evidence, listedAt: reading.startedAt };
}
