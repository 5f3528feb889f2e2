import type { Day } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import type { Claims } from "../../actors/nft-accounting.ts";
import { rulesOn } from "../../actors/rules.ts";
import { type Breakdown, fullBreakdown, weigh } from "../../actors/weight.ts";
import type { HeldThen } from "../audit/rebuild-weights.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { accountNumber } from "../journal/star-record.ts";
import type { StarMessage } from "../publishing/message.ts";
import { pageByPage } from "../store/page-by-page.ts";
import { runLong, type Sql } from "../store/postgres.ts";
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
export function stagedOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly StagedStar[], void, undefined> {
  return pageByPage(
    (last?: StagedStar) =>
      runLong(sql<StagedStar[]>`
          select distinct on (at, star_id) ${columns(sql)} from recovery_message
          where ${unknown(sql)} and day = ${day}
            and (at, star_id) > (${last?.at ?? -1}::bigint, ${last?.id ?? "00000000-0000-0000-0000-000000000000"}::uuid)
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

/** A star as its export records it. */
export function rowOfLine(line: ExportStar, staged: StagedStar, xp: number): RecoveredStar {
  return rowOf(staged, {
    votingPower: line.votingPower,
    breakdown: line.breakdown,
    held: { A: line.held.collectionA, B: line.held.collectionB },
    readAt: Date.parse(line.held.readAt),
    claims: line.counted && { a: line.counted.collectionA, b: line.counted.collectionB },
    allowance: { limit: line.limit, season: line.seasonId },
    rules: line.rules,
    xp,
    seq: line.seq,
    mintSeq: line.mintOrder,
  });
}

/** A star from its message and its NFTs' histories; an event's star as the machine decides. */
export function rowOfHistory(
  staged: StagedStar,
  star: StarMessage,
  given: { readonly held: HeldThen; readonly decision: EventDecision | null; readonly xp: number },
): RecoveredStar {
  const rules = rulesOn(staged.day);
  const { held, decision, xp } = given;
  const holdings = { collectionA: held.A, collectionB: held.B, readAt: staged.at };
  const counts =
    star.type === "asset_vote"
      ? { a: star.holdings.collectionA, power: star.votingPower }
      : { a: held.A.length, power: weigh(fullBreakdown(holdings, rules)) };
  const full = {
    base: rules.base,
    collectionA: counts.a,
    collectionB: counts.power - rules.base - counts.a,
  };
  return rowOf(staged, {
    votingPower: counts.power,
    breakdown: decision?.breakdown ?? full,
    held,
    readAt: staged.at,
    claims: decision?.claims ?? null,
    allowance: null,
    rules: rules.version,
    xp,
    seq: null,
    mintSeq: null,
  });
}

/** What is recovered of a star beside its message. */
interface Recovering {
  readonly votingPower: number;
  readonly breakdown: Breakdown;
  readonly held: Pick<HeldThen, "A" | "B">;
  readonly readAt: number;
  readonly claims: Claims | null;
  /** Null: by the pass in force, or proved by the number of stars. */
  readonly allowance: { readonly limit: number; readonly season: string | null } | null;
  readonly rules: number;
  readonly xp: number;
  /** Null: drawn. */
  readonly seq: number | null;
  readonly mintSeq: number | null;
}

/** A star as `recover_stars` takes it; names are those of its type `recovered_star`. */
export type RecoveredStar = ReturnType<typeof rowOf>;

function rowOf(staged: StagedStar, facts: Recovering) {
  const { freeVotes, premiumVotes } = rulesOn(staged.day);
  return {
    id: staged.id,
    day: staged.day,
    wallet: accountNumber(staged.wallet),
    at: staged.at,
    target_type: staged.type,
    target_id: staged.target,
    is_forever_mint: staged.isForeverMint,
    voting_power: facts.votingPower,
    weight: weigh(facts.breakdown),
    base: facts.breakdown.base,
    counted_a: facts.breakdown.collectionA,
    bonus_b: facts.breakdown.collectionB,
    held_a: facts.held.A,
    held_b: facts.held.B,
    claimed_a: facts.claims?.a ?? [],
    claimed_b: facts.claims?.b ?? null,
    holdings_read_at: facts.readAt,
    allowance_limit: facts.allowance?.limit ?? null,
    season_id: facts.allowance?.season ?? null,
    free_votes: freeVotes,
    premium_votes: premiumVotes,
    rules: facts.rules,
    xp: facts.xp,
    seq: facts.seq,
    mint_seq: facts.mintSeq,
    conflicts_with: staged.conflictsWith,
  };
}
