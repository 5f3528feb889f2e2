import type { Day } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import { type Rules, rulesOn } from "../../actors/rules.ts";
import { type Breakdown, fullBreakdown, weigh } from "../../actors/weight.ts";
import type { HeldThen } from "../audit/rebuild-weights.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import type { StarMessage } from "../publishing/message.ts";
import { type Pages, pageByPage } from "../store/page-by-page.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import { NIL_UUID } from "../uuid.ts";
import { PIECE } from "./recovery.ts";

/** A star that the journal lacks, as its message was taken in. */
export interface StagedStar {
  readonly id: string;
  readonly wallet: string;
  readonly at: number;
  readonly day: Day;
  readonly type: string;
  readonly target: string;
  readonly isForeverMint: boolean;
  readonly message: string;
  readonly conflictsWith: string | null;
}

/** The days of which stars are taken in, with their numbers; oldest first. */
export async function stagedDays(
  sql: Sql,
): Promise<readonly { readonly day: Day; readonly stars: number }[]> {
  return runLong(sql<{ day: Day; stars: number }[]>`
      select day, count(distinct star_id) as stars from recovery_message where ${unknown(sql)}
      group by day order by day`);
}

/** Those of these stars that are taken in, and those that the journal has. */
export async function findStars(
  sql: Sql,
  ids: readonly string[],
): Promise<{
  readonly staged: ReadonlyMap<string, StagedStar>;
  readonly known: ReadonlySet<string>;
}> {
  const [rows, known] = await Promise.all([
    runLong(sql<StagedStar[]>`select ${columns(sql)} from recovery_message
        where star_id = any(${ids}::uuid[]) and ${unknown(sql)}`),
    runLong(
      sql<{ id: string }[]>`select star_id as id from outbox where star_id = any(${ids}::uuid[])`,
    ),
  ]);
  return {
    staged: new Map(rows.map((row) => [row.id, row])),
    known: new Set(known.map(({ id }) => id)),
  };
}

/** The stars of a day that are taken in, by their instants, page by page. */
export function stagedOfDay(sql: Sql, day: Day): Pages<StagedStar> {
  return pageByPage(
    (last?: StagedStar) =>
      runLong(sql<StagedStar[]>`
          select distinct on (at, star_id) ${columns(sql)} from recovery_message
          where ${unknown(sql)} and day = ${day}
            and (at, star_id) > (${last?.at ?? -1}::bigint, ${last?.id ?? NIL_UUID}::uuid)
          order by at, star_id, consensus_timestamp limit ${PIECE}`),
    (star) => star,
  );
}

/** A star that the journal has and whose message waits to be adopted does not come back. */
function unknown(sql: Sql) {
  return sql`not exists (select from outbox where outbox.star_id = recovery_message.star_id)`;
}

function columns(sql: Sql) {
  return sql`star_id as id, '0.0.' || wallet as wallet, at, day, target_type as type, target_id as target,
    is_forever_mint as "isForeverMint", message, conflicts_with as "conflictsWith"`;
}

/** A star as `recover_stars` takes it; names are those of its type `recovered_star`. */
export type RecoveredStar = ReturnType<typeof rowOfLine | typeof rowOfHistory>;

export function rowOfLine(line: ExportStar, staged: StagedStar, xp: number) {
  const { held, counted } = line;
  return {
    ...rowOf(staged, line),
    held_a: held.collectionA,
    held_b: held.collectionB,
    claimed_a: counted?.collectionA ?? [],
    claimed_b: counted?.collectionB ?? null,
    holdings_read_at: Date.parse(held.readAt),
    allowance_limit: line.limit,
    season_id: line.seasonId,
    rules: line.rules,
    xp,
    seq: line.seq,
    mint_seq: line.mintOrder,
  };
}

/**
 * A star from its message and its NFTs' histories; an event's star as the machine decides. Its
 * allowance follows from the pass in force or the number of stars, and its numbers are drawn.
 */
export function rowOfHistory(
  staged: StagedStar,
  star: StarMessage,
  given: { readonly held: HeldThen; readonly decision: EventDecision | null; readonly xp: number },
) {
  const rules = rulesOn(staged.day);
  const { held, decision, xp } = given;
  const full =
    star.type === "asset_vote"
      ? saidBreakdown(star, rules)
      : fullBreakdown({ collectionA: held.A, collectionB: held.B, readAt: staged.at }, rules);
  return {
    ...rowOf(staged, { votingPower: weigh(full), breakdown: decision?.breakdown ?? full }),
    held_a: held.A,
    held_b: held.B,
    claimed_a: decision?.claims.a ?? [],
    claimed_b: decision?.claims.b ?? null,
    holdings_read_at: staged.at,
    rules: rules.version,
    xp,
  };
}

function saidBreakdown(
  { votingPower, holdings }: StarMessage & { readonly type: "asset_vote" },
  { base }: Rules,
): Breakdown {
  const { collectionA } = holdings;
  return { base, collectionA, collectionB: votingPower - base - collectionA };
}

function rowOf(
  staged: StagedStar,
  { votingPower, breakdown }: Pick<ExportStar, "votingPower" | "breakdown">,
) {
  const { freeVotes, premiumVotes } = rulesOn(staged.day);
  return {
    id: staged.id,
    day: staged.day,
    wallet: entityNumber(staged.wallet),
    at: staged.at,
    target_type: staged.type,
    target_id: staged.target,
    is_forever_mint: staged.isForeverMint,
    voting_power: votingPower,
    weight: weigh(breakdown),
    base: breakdown.base,
    counted_a: breakdown.collectionA,
    bonus_b: breakdown.collectionB,
    free_votes: freeVotes,
    premium_votes: premiumVotes,
    conflicts_with: staged.conflictsWith,
  };
}
