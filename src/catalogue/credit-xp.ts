import { badField, coerceError, TerminalError } from "../errors.ts";
import { entityNumber, isEntityId } from "../ledger/entity-id.ts";
import { codeOf, RAISED, runStatement, type Sql } from "../store/postgres.ts";

/** Points booked from outside: the rewards feature's, or a correction. */
export interface XpCredit {
  /** The caller's name for it; booked once by it. */
  readonly id: string;
  /** Canonical `0.0.n`. */
  readonly wallet: string;
  /** Not 0; below it, points are taken back. */
  readonly points: number;
  readonly reason: string;
}

/** A credit as it stands in the ledger. */
export interface BookedCredit extends XpCredit {
  /** The season that was on; its leaderboard has the points. */
  readonly seasonId: string | null;
  readonly creditedAt: number;
}

const ID_CHARACTERS_MAX = 255;
const REASON_CHARACTERS_MAX = 300;
/** Nine digits, as every integer that callers send. */
const POINTS_MAX = 999_999_999;

/**
 * Books a credit (contract, section 7: "idempotent by KEY"). The same credit again, also at the
 * same time from elsewhere, is booked once and answered alike.
 *
 * A credit counts in the season that is on when it is booked; while none is on it stands in the
 * ledger alone. A correction, below zero, takes back what a wallet has in the season that is on
 * and no more.
 *
 * @throws TerminalError `INVALID_REQUEST` for a value that is none, and for a correction that
 *   cannot be; `IDEMPOTENCY_KEY_REUSED` when the id is another credit's
 */
export async function creditXp(sql: Sql, credit: XpCredit): Promise<BookedCredit> {
  const { id, wallet, points, reason } = read(credit);
  const [booked] = await runStatement(sql<BookedCredit[]>`
    select ${id} as id, '0.0.' || wallet as wallet, points, reason, season_id as "seasonId",
      at as "creditedAt"
    from credit_xp(${id}, ${entityNumber(wallet)}, ${points}, ${reason})`).catch(explain);
  if (booked === undefined) throw new Error("credit_xp returned no credit");
  if (booked.wallet !== wallet || booked.points !== points || booked.reason !== reason) {
    throw new TerminalError(
      "IDEMPOTENCY_KEY_REUSED",
      `the id ${id} is of another credit: ${booked.points} to ${booked.wallet}, ${booked.reason}`,
    );
  }
  return booked;
}

function explain(error: unknown): never {
  throw codeOf(error) === RAISED.senseless ? badField("points", coerceError(error).message) : error;
}

function read({ id, wallet, points, reason }: XpCredit): XpCredit {
  if (!isEntityId(wallet)) throw badField("wallet", `${wallet} is no account id such as 0.0.1001`);
  if (!Number.isInteger(points) || points === 0 || Math.abs(points) > POINTS_MAX) {
    throw badField("points", `points are a whole number other than 0, up to ${POINTS_MAX}`);
  }
  if (!isLine(id, ID_CHARACTERS_MAX)) {
    throw badField("id", `an id of 1 to ${ID_CHARACTERS_MAX} characters is needed`);
  }
  if (!isLine(reason.trim(), REASON_CHARACTERS_MAX)) {
    throw badField("reason", `a reason of 1 to ${REASON_CHARACTERS_MAX} characters is needed`);
  }
  return { id, wallet, points, reason: reason.trim() };
}

/** Text without control characters: NUL no database takes, the rest no list can show. */
function isLine(text: string, charactersMax: number): boolean {
  return text !== "" && [...text].length <= charactersMax && !/\p{Cc}/u.test(text);
}
