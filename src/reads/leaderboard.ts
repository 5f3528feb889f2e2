import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** A season; half-open, epoch milliseconds. */
export interface SeasonRow {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

export interface ScoreRow {
  readonly wallet: string;
  /** XP credited in the season; of which the stars' own is a part. */
  readonly points: number;
  readonly stars: number;
  readonly weight: number;
}

export interface Leaderboard {
  readonly season: SeasonRow | null;
  readonly scores: readonly ScoreRow[];
  /** When the clock alone ends this season or begins the next one, epoch milliseconds. */
  readonly until: number;
}

type Row = Omit<Leaderboard, "until"> & { readonly until: number | null };

/**
 * The first scores of the season that is on at `now`: points, then stars, then the lower account
 * number; a wallet whose points were all taken back and that has cast no star is no entry. One
 * statement, so that season and scores are of one state; it reads `limit` entries of the index that
 * holds this order, however many wallets there are.
 *
 * @param now epoch milliseconds
 */
export async function readLeaderboard(
  sql: Sql,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<Leaderboard> {
  const [row] = await runStatement(
    sql<[Row]>`
      select
        case when id is not null then
          json_build_object('id', id, 'name', name, 'startsAt', starts_at, 'endsAt', ends_at)
        end as season,
        coalesce(ends_at, (select min(starts_at) from season where starts_at > ${now})) as until,
        (select coalesce(json_agg(json_build_object('wallet', '0.0.' || wallet, 'points', points,
            'stars', stars, 'weight', weight) order by points desc, stars desc, wallet), '[]')
          from (
            select wallet, points, stars, weight from season_score
            where season_id = id and (points > 0 or stars > 0)
            order by points desc, stars desc, wallet limit ${limit}
          ) as top) as scores
      from (select) as always left join season on starts_at <= ${now} and ends_at > ${now}`,
    bounds.readDeadlineMs,
  );
  return { ...row, until: row.until ?? Number.POSITIVE_INFINITY };
}

/** Where a wallet stands in the season that is on. */
export interface Standing extends ScoreRow {
  /** Null beyond `RANK_MAX`: counting all who are ahead would take too long. */
  readonly rank: number | null;
}

const RANK_MAX = 10_000;

/** @returns null for a wallet that has no entry, and between seasons */
export async function readStanding(
  sql: Sql,
  { account, now }: { readonly account: number; readonly now: number },
): Promise<Standing | null> {
  const [row] = await runStatement(
    sql<({ ahead: number } & ScoreRow)[]>`
      select '0.0.' || own.wallet as wallet, own.points, own.stars, own.weight, (
        select count(*) from (
          select from season_score as other
          where other.season_id = own.season_id and other.points >= own.points
            and (other.points > own.points or other.stars > own.stars
              or (other.stars = own.stars and other.wallet < own.wallet))
          limit ${RANK_MAX}) as before) as ahead
      from season join season_score as own on own.season_id = season.id
      where starts_at <= ${now} and ends_at > ${now} and own.wallet = ${account}
        and (own.points > 0 or own.stars > 0)`,
    bounds.readDeadlineMs,
  );
  if (row === undefined) return null;
  const { ahead, ...score } = row;
  return { ...score, rank: ahead < RANK_MAX ? ahead + 1 : null };
}
