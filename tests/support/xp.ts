import type { Sql } from "../../src/store/postgres.ts";

/** What a wallet has in a season. */
export interface Score {
  readonly season: string;
  readonly wallet: number;
  readonly points: number;
  readonly stars: number;
  readonly weight: number;
}

/** The projection, as the leaderboard reads it. */
export async function scores(sql: Sql): Promise<readonly Score[]> {
  return [
    ...(await sql<Score[]>`
      select name as season, wallet, points, stars, score.weight from season_score as score
      join season on season.id = season_id order by name, wallet`),
  ];
}

/** The same, folded here from the journal and the credits, row by row. */
export async function foldedScores(sql: Sql): Promise<readonly Score[]> {
  const seasons = await sql<{ name: string; starts_at: number; ends_at: number }[]>`
    select name, starts_at, ends_at from season`;
  const stars = await sql<{ wallet: number; at: number; xp: number; weight: number }[]>`
    select wallet, at, xp, weight from star`;
  const credits = await sql<{ wallet: number; at: number; points: number }[]>`
    select wallet, at, points from xp_credit`;
  const folded = new Map<string, Score>();
  const book = (
    fact: { wallet: number; at: number },
    more: Pick<Score, "points" | "stars" | "weight">,
  ) => {
    const season = seasons.find(
      ({ starts_at, ends_at }) => fact.at >= starts_at && fact.at < ends_at,
    );
    if (season === undefined) return;
    const key = `${season.name}/${fact.wallet}`;
    const known = folded.get(key) ?? {
      season: season.name,
      wallet: fact.wallet,
      points: 0,
      stars: 0,
      weight: 0,
    };
    folded.set(key, {
      ...known,
      points: known.points + more.points,
      stars: known.stars + more.stars,
      weight: known.weight + more.weight,
    });
  };
  for (const star of stars) book(star, { points: star.xp, stars: 1, weight: star.weight });
  for (const credit of credits) book(credit, { points: credit.points, stars: 0, weight: 0 });
  return [...folded.values()].sort(
    (a, b) => a.season.localeCompare(b.season) || a.wallet - b.wallet,
  );
}
