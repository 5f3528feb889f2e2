import type { Clock } from "../clock.ts";
import { bounds } from "../config.ts";
import { coerceError, RetryableError } from "../errors.ts";
import { accountNumber } from "../journal/star-record.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Ending } from "./holdings-check-decide.ts";

/** What became of endings that were asked for. */
export interface Released {
  readonly ended: readonly Ending[];
  /** Decided on what is no longer so: to be looked at again. */
  readonly contested: readonly Ending[];
  /** The mint's counter after the last of them; null where nothing ended. */
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

/**
 * Ends attributions, all or none of them but those that are contested. Asked for twice, by
 * whomever, an attribution ends once: it is left out of the second answer.
 *
 * @throws RetryableError `UNAVAILABLE` when the journal does not confirm; what was asked for
 *   may have come to stand, and asking again is safe
 */
export async function releaseClaims(
  deps: ReleaseDeps,
  scope: Scope,
  endings: readonly Ending[],
): Promise<Released> {
  if (endings.length === 0) return { ended: [], contested: [], totalVotes: null };
  try {
    const rows = await askDatabase(deps, scope, endings);
    const keys = new Set(rows.map(({ collection, serial }) => `${collection}/${serial}`));
    const ended = endings.filter((ending) => keys.has(keyOf(ending)));
    return { ended, contested: [], totalVotes: rows[0]?.total_votes ?? null };
  } catch (thrown) {
    const contested = contestedBy(thrown, endings);
    if (contested === null) throw thrown;
    const rest = endings.filter((ending) => !contested.includes(ending));
    const released = await releaseClaims(deps, scope, rest);
    return { ...released, contested: [...contested, ...released.contested] };
  }
}

interface ReleasedRow {
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly total_votes: number;
}

function askDatabase(
  { sql, clock }: ReleaseDeps,
  { runId, mint }: Scope,
  endings: readonly Ending[],
): Promise<readonly ReleasedRow[]> {
  const entries = JSON.stringify(endings.map(entryOf));
  const notAfter = clock.now() + bounds.statementDeadlineMs;
  return inTime(
    sql<ReleasedRow[]>`
      select * from release_claims(${runId}, ${mint}, ${entries}::text::json, ${notAfter})`,
  );
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

/** Those of the endings that an error is about; null where it is another kind of error. */
function contestedBy(thrown: unknown, endings: readonly Ending[]): readonly Ending[] | null {
  const error = coerceError(thrown instanceof RetryableError ? thrown.cause : thrown);
  const { code, detail } = error as { readonly code?: string; readonly detail?: string };
  if (code !== undefined && GAVE_WAY.includes(code)) return endings;
  if (code !== CONTESTED) return null;
  const keys = new Set((detail ?? "").split("\n"));
  const named = endings.filter((ending) => keys.has(keyOf(ending)));
  // A detail that names none of ours would send the same batch for ever.
  return named.length > 0 ? named : endings;
}

function keyOf({ collection, serial }: Pick<Ending, "collection" | "serial">): string {
  return `${collection}/${serial}`;
}
