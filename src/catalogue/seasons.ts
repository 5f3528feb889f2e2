import { uuidv7 } from "uuidv7";
import { badField } from "../errors.ts";
import { codeOf, runStatement, type Sql } from "../store/postgres.ts";

/** A season: half-open, epoch milliseconds. */
export interface Season {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

const EXCLUSION_VIOLATION = "23P01";
const CHECK_VIOLATION = "23514";
const NAME_CHARACTERS_MAX = 300;
/**
 * A season that has started is folded from the ledger: 6 s for a million stars of 100,000 wallets,
 * and voting goes on meanwhile (see `fold_added_seasons` in migrations/), so it may take its time.
 */
export const FOLD_TIMEOUT_MS = 300_000;
/** Longer than the server's own, so that a failure that is reported did happen. */
const FOLD_DEADLINE_MS = FOLD_TIMEOUT_MS + 10_000;

/**
 * Adds a season. Seasons never overlap, so that "the current season" has one answer. XP that was
 * credited since its start counts in it.
 *
 * One statement without a transaction around it: its fold ends with all voters waiting, and a
 * client that is slow to say `commit`, or never does, would leave them waiting.
 *
 * @param sql a pool with a statement_timeout of `FOLD_TIMEOUT_MS`
 * @throws TerminalError `INVALID_REQUEST` for a bad name, an empty span, an overlap, or a span that would
 *   leave a wallet below zero: a correction lies in it, what was corrected does not
 */
export async function addSeason(sql: Sql, given: Omit<Season, "id">): Promise<Season> {
  const name = given.name.trim();
  if (name === "" || [...name].length > NAME_CHARACTERS_MAX)
    throw badField("name", "a name of 1 to 300 characters is needed");
  if (given.endsAt <= given.startsAt) throw badField("ends", "a season must end after it starts");
  const id = uuidv7();
  const { startsAt, endsAt } = given;
  try {
    await runStatement(
      sql`insert into season (id, name, starts_at, ends_at) values (${id}, ${name}, ${startsAt}, ${endsAt})`,
      FOLD_DEADLINE_MS,
    );
  } catch (error) {
    const code = codeOf(error);
    if (code === EXCLUSION_VIOLATION) throw badField("starts", "this season overlaps another one");
    if (code === CHECK_VIOLATION && String(error).includes("season_score_not_below_zero")) {
      throw badField("starts", "points are taken back in this season that were not earned in it");
    }
    throw error;
  }
  return { id, name, startsAt, endsAt };
}

/** All seasons, earliest first. */
export async function listSeasons(sql: Sql): Promise<readonly Season[]> {
  return await runStatement(sql<Season[]>`
    select id, name, starts_at as "startsAt", ends_at as "endsAt" from season order by starts_at`);
}
