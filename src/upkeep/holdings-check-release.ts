import type { Clock } from "../clock.ts";
import { bounds } from "../config.ts";
import { coerceError, RetryableError } from "../errors.ts";
import { accountNumber } from "../journal/star-record.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { DoubtfulClaim, Ending } from "./holdings-check-decide.ts";

/** What became of endings that were asked for. */
export interface Released {
  /** To be looked at again: decided on what is no longer so, or never let through. */
  readonly open: readonly DoubtfulClaim[];
  /** The mint's counter after the last that ended; null where none did. */
  readonly totalVotes: number | null;
}

export interface ReleaseDeps {
  readonly sql: Sql;
  readonly clock: Clock;
}

/** The run and the mint that endings belong to. */
export interface Scope {
  readonly runId: string;
  readonly mint: string;
}

/** SQLSTATEs: `release_claims` found a star in its way; it gave way to one that waits for it. */
const CONTESTED = "SB409";
const GAVE_WAY = ["55P03", "40P01"];
/** On a busy mint stars queue for its total, and the check among them. */
const TRIES_MAX = 3;

/**
 * Ends attributions, all or none of them but those that stars contest. Asked for twice, by
 * whomever, an attribution ends once.
 *
 * @throws RetryableError `UNAVAILABLE` when the journal does not confirm; what was asked for
 *   may have come to stand, and asking again is safe
 */
export async function releaseClaims(
  deps: ReleaseDeps,
  scope: Scope,
  endings: readonly Ending[],
): Promise<Released> {
  if (endings.length === 0) return { open: [], totalVotes: null };
  try {
    const [row] = await askPatiently(deps, scope, endings);
    return { open: [], totalVotes: row?.total_votes ?? null };
  } catch (thrown) {
    const { code = "", detail = "" } = statementError(thrown);
    if (GAVE_WAY.includes(code)) return { open: doubt(endings, BUSY), totalVotes: null };
    if (code !== CONTESTED) throw thrown;
    const keys = new Set(detail.split("\n"));
    const contested = endings.filter((ending) => keys.has(keyOf(ending)));
    // A detail that names none of ours would send the same batch for ever.
    const rest = endings.filter((ending) => contested.length > 0 && !contested.includes(ending));
    const released = await releaseClaims(deps, scope, rest);
    const open = doubt(contested.length > 0 ? contested : endings, STARRED);
    return { ...released, open: [...open, ...released.open] };
  }
}

const STARRED = "the mint was starred while the check ran";
const BUSY = "the mint is so busy that the check could not get at it";

function doubt(endings: readonly Ending[], reason: string): readonly DoubtfulClaim[] {
  return endings.map((claim) => ({ claim, doubt: reason }));
}

interface ReleasedRow {
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly total_votes: number;
}

async function askPatiently(
  { sql, clock }: ReleaseDeps,
  { runId, mint }: Scope,
  endings: readonly Ending[],
): Promise<readonly ReleasedRow[]> {
  const entries = JSON.stringify(endings.map(entryOf));
  for (let attempt = 1; ; attempt += 1) {
    const notAfter = clock.now() + bounds.statementDeadlineMs;
    try {
      return await inTime(
        sql<ReleasedRow[]>`
          select * from release_claims(${runId}, ${mint}, ${entries}::text::json, ${notAfter})`,
      );
    } catch (thrown) {
      const { code = "" } = statementError(thrown);
      if (!GAVE_WAY.includes(code) || attempt === TRIES_MAX) throw thrown;
    }
  }
}

/** One element of `release_claims`' JSON array; names are those of `claim_ending`. */
function entryOf(ending: Ending): Record<string, unknown> {
  const { collection, serial, wallet, starId, weight, spare, heldB, evidence } = ending;
  return {
    collection,
    serial,
    wallet: accountNumber(wallet),
    star_id: starId,
    weight,
    spare,
    held_b: heldB,
    owner: evidence.owner,
    deleted: evidence.deleted,
    listed_at: evidence.listedAt,
    read_at: evidence.readAt,
  };
}

interface StatementError extends Error {
  readonly code?: string;
  readonly detail?: string;
}

function statementError(thrown: unknown): StatementError {
  return coerceError(thrown instanceof RetryableError ? thrown.cause : thrown);
}

function keyOf({ collection, serial }: Pick<Ending, "collection" | "serial">): string {
  return `${collection}/${serial}`;
}
