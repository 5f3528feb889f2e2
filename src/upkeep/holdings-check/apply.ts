import { bounds } from "../../bounds.ts";
import type { Clock } from "../../clock.ts";
import { coerceError, RetryableError } from "../../errors.ts";
import type { MintEnd } from "../../journal/mint-end.ts";
import { endRow } from "../../journal/star-record.ts";
import { RAISED, runStatement, type Sql } from "../../store/postgres.ts";
import { type DeferredPart, deferClaim } from "./claims.ts";

/** `release_claims` stopped because a star waits for it, or seasons are changed for long. */
const GAVE_WAY = ["55P03", "40P01"];
/** On a busy mint stars queue for its total, and the check among them. */
const TRIES_MAX = 3;

const STARRED = "the mint was starred while the check ran";
const BUSY = "the mint is so busy that the check could not get at it";

/**
 * Ends attributions, all of them but those that stars contest. An attribution ends once, however
 * often and by however many processes it is asked for.
 *
 * @returns the parts to be looked at again: decided on what is no longer so, or never let through
 * @throws RetryableError `UNAVAILABLE` when the journal does not confirm; what was asked for
 *   may have been stored, and asking again is safe
 */
export async function applyReleases(
  { sql, clock }: { readonly sql: Sql; readonly clock: Clock },
  { runId, mint }: { readonly runId: string; readonly mint: string },
  releases: readonly MintEnd[],
): Promise<readonly DeferredPart[]> {
  const deferred: DeferredPart[] = [];
  let rest = releases;
  let tries = 0;
  while (rest.length > 0) {
    try {
      const entries = JSON.stringify(rest.map(endRow));
      const notAfter = clock.now() + bounds.statementDeadlineMs;
      // One statement, all or none.
      await runStatement(
        sql`select from release_claims(${runId}, ${mint}, ${entries}::text::json, ${notAfter})`,
      );
      return deferred;
    } catch (thrown) {
      const { code = "", detail = "" } = statementError(thrown);
      tries += 1;
      if (GAVE_WAY.includes(code) && tries < TRIES_MAX) continue;
      if (GAVE_WAY.includes(code))
        return [...deferred, ...rest.map((one) => deferClaim(one, BUSY))];
      if (code !== RAISED.conflict) throw thrown;
      const keys = new Set(detail.split("\n"));
      const isContested = ({ collection, serial }: MintEnd) => keys.has(`${collection}/${serial}`);
      // A detail that names none of ours would send the same batch without end.
      const contested = rest.some(isContested) ? rest.filter(isContested) : rest;
      deferred.push(...contested.map((one) => deferClaim(one, STARRED)));
      rest = rest.filter((one) => !contested.includes(one));
      tries = 0;
    }
  }
  return deferred;
}

function statementError(thrown: unknown): Error & { code?: string; detail?: string } {
  return coerceError(thrown instanceof RetryableError ? thrown.cause : thrown);
}
