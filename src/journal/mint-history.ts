import type { EventStarred } from "../../actors/event-day.ts";
import type { MintReleased } from "../../actors/forever-mint.ts";
import type { Pages } from "../store/page-by-page.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import { type CountedStar, countedStarColumns, starredFact } from "./counted-star.ts";
import { type Evidence, type MintEnd, releaseOf, type SingleEnd } from "./mint-end.ts";

/** A star as it happened to a forever mint. */
export interface MintStar extends CountedStar {
  readonly kind: "star";
  /** Its place in the mint's history: the order of commits. */
  readonly seq: number;
}

/** An attribution that ended, with what the mirror node said last. */
export type EndedClaim = Omit<MintEnd, "since" | "evidence" | "countedB"> &
  Omit<Evidence, "listedAt">;

export interface MintRelease {
  readonly kind: "release";
  readonly seq: number;
  readonly runId: string;
  readonly at: number;
  readonly ended: readonly EndedClaim[];
}

export type MintHappening = MintStar | MintRelease;

/** What the machine takes in: a happening as it is recorded, decided by none again. */
export function mintFact(happening: MintHappening): EventStarred | MintReleased {
  return happening.kind === "star" ? starredFact(happening) : releasedFact(happening.ended);
}

/** Attributions that end together, as the machine takes them in. */
export function releasedFact(
  ended: readonly (SingleEnd & Pick<EndedClaim, "weight">)[],
): MintReleased {
  const weight = ended.reduce((sum, end) => sum + end.weight, 0);
  return { type: "released", weight, releases: ended.map(releaseOf) };
}

/** From where to where to read; both may be left out. */
export interface HistoryRange {
  readonly after?: number;
  readonly upTo?: number;
}

/**
 * What a mint's history ends with, as text: its newest star and its newest release, up to a place. A part
 * of a select. No two histories have the same end with as many stars.
 */
export function lastOfMint(sql: Sql, mint: string, upTo = Number.MAX_SAFE_INTEGER) {
  return sql`concat_ws('/',
    (select star_id from mint_star where event_id = ${mint} and seq <= ${upTo} order by seq desc limit 1),
    (select run_id || '/' || release
      from claim_release where event_id = ${mint} and seq <= ${upTo} order by seq desc limit 1))`;
}

/** The last place of a mint's history, 0 before the first. A part of a select. */
export function endOfMint(sql: Sql, mint: string) {
  return sql`greatest((select max(seq) from mint_star where event_id = ${mint}),
    (select max(seq) from claim_release where event_id = ${mint}), 0)`;
}

/** 1,000 stars with their serials are some 500 KB. */
const PAGE = 1_000;

/** Everything that changed a forever mint, in the order of commits, page by page. */
export async function* readMintHistory(
  sql: Sql,
  mint: string,
  { after = 0, upTo = Number.MAX_SAFE_INTEGER }: HistoryRange = {},
): Pages<MintHappening> {
  let from = after;
  while (from < upTo) {
    const stars = await readStars(sql, mint, { after: from, upTo });
    // A full page ends at its last star; a shorter one is the end of all stars.
    const to = stars.length < PAGE ? upTo : (stars.at(-1)?.seq ?? upTo);
    const releases = await readReleases(sql, mint, { after: from, upTo: to });
    const page = [...stars, ...releases].sort((one, other) => one.seq - other.seq);
    if (page.length > 0) yield page;
    from = to;
  }
}

async function readStars(
  sql: Sql,
  mint: string,
  { after, upTo }: Required<HistoryRange>,
): Promise<readonly MintStar[]> {
  return await runLong(sql<MintStar[]>`
      select 'star' as kind, page.seq, star.*
      from (
        select seq, day, star_id from mint_star
        where event_id = ${mint} and seq > ${after} and seq <= ${upTo}
        order by seq limit ${PAGE}
      ) page
      -- One look-up by key per star, also where the planner misjudges the journal's size.
      cross join lateral (
        select ${countedStarColumns(sql)} from star where star.day = page.day and star.id = page.star_id limit 1
      ) star
      order by page.seq`);
}

async function readReleases(
  sql: Sql,
  mint: string,
  { after, upTo }: Required<HistoryRange>,
): Promise<readonly MintRelease[]> {
  return await runLong(sql<MintRelease[]>`
      select 'release' as kind, seq, run_id as "runId", max(released_at) as at,
        json_agg(json_build_object('collection', collection, 'serial', serial,
          'wallet', '0.0.' || wallet, 'starId', star_id, 'weight', weight, 'spare', spare,
          'heldB', held_b, 'owner', owner, 'deleted', deleted, 'readAt', read_at)
          order by collection, serial) as ended
      from claim_release
      where event_id = ${mint} and seq > ${after} and seq <= ${upTo}
      group by seq, run_id order by seq`);
}
