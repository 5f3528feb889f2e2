import type { Day } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { fullBreakdown, weigh } from "../../actors/weight.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { accountNumber, walletOf } from "../journal/star-record.ts";
import type { StarMessage } from "../publishing/message.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { HeldThen } from "./held-then.ts";
import { PIECE, PIECE_WITHIN_MS } from "./recovery.ts";
import type { RecoveredStar } from "./write-pieces.ts";

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

interface StagedRow extends Omit<StagedStar, "wallet"> {
  readonly wallet: number;
}

/** The days of which stars are taken in, with their numbers; oldest first. */
export async function stagedDays(
  sql: Sql,
): Promise<readonly { readonly day: Day; readonly stars: number }[]> {
  return runStatement(
    sql<{ day: Day; stars: number }[]>`
      select day, count(distinct star_id) as stars from recovery_message where ${unknown(sql)}
      group by day order by day`,
    PIECE_WITHIN_MS,
  );
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
    runStatement(
      sql<StagedRow[]>`select ${columns(sql)} from recovery_message
        where star_id = any(${ids}::uuid[]) and ${unknown(sql)}`,
      PIECE_WITHIN_MS,
    ),
    runStatement(
      sql<{ id: string }[]>`select star_id as id from outbox where star_id = any(${ids}::uuid[])`,
      PIECE_WITHIN_MS,
    ),
  ]);
  return {
    staged: new Map(rows.map((row) => [row.id, { ...row, wallet: walletOf(row.wallet) }])),
    known: new Set(known.map(({ id }) => id)),
  };
}

/** The stars of a day that are taken in, by their instants, page by page. */
export async function* stagedOfDay(sql: Sql, day: Day): AsyncGenerator<readonly StagedStar[]> {
  let after = { at: -1, id: "00000000-0000-0000-0000-000000000000" };
  for (;;) {
    const rows = await runStatement(
      sql<StagedRow[]>`
        select distinct on (at, star_id) ${columns(sql)} from recovery_message
        where ${unknown(sql)} and day = ${day} and (at, star_id) > (${after.at}::bigint, ${after.id}::uuid)
        order by at, star_id, consensus_timestamp limit ${PIECE}`,
      PIECE_WITHIN_MS,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({ ...row, wallet: walletOf(row.wallet) }));
    after = last;
  }
}

/** A star that the journal has and whose message waits to be adopted does not come back. */
function unknown(sql: Sql) {
  return sql`not exists (select from outbox where outbox.star_id = recovery_message.star_id)`;
}

function columns(sql: Sql) {
  return sql`star_id as id, wallet, at, day, target_type as type, target_id as target,
    is_forever_mint as "isForeverMint", message, conflicts_with as "conflictsWith"`;
}

/** A star as its export records it. */
export function rowOfLine(line: ExportStar, staged: StagedStar, xp: number): RecoveredStar {
  const rules = rulesOn(staged.day);
  return {
    ...common(staged, rules.version, xp),
    voting_power: line.votingPower,
    weight: line.weight,
    base: line.breakdown.base,
    counted_a: line.breakdown.collectionA,
    bonus_b: line.breakdown.collectionB,
    held_a: line.held.collectionA,
    held_b: line.held.collectionB,
    claimed_a: line.counted?.collectionA ?? [],
    claimed_b: line.counted?.collectionB ?? null,
    holdings_read_at: Date.parse(line.held.readAt),
    allowance_limit: line.limit,
    season_id: line.seasonId,
    rules: line.rules,
    seq: line.seq,
    mint_seq: line.mintOrder,
  };
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
  const breakdown = decision?.breakdown ?? full;
  return {
    ...common(staged, rules.version, xp),
    voting_power: counts.power,
    weight: weigh(breakdown),
    base: breakdown.base,
    counted_a: breakdown.collectionA,
    bonus_b: breakdown.collectionB,
    held_a: held.A,
    held_b: held.B,
    claimed_a: decision?.claims.a ?? [],
    claimed_b: decision?.claims.b ?? null,
    holdings_read_at: staged.at,
    allowance_limit: null,
    season_id: null,
    seq: null,
    mint_seq: null,
  };
}

function common(staged: StagedStar, rules: number, xp: number) {
  const { freeVotes, premiumVotes } = rulesOn(staged.day);
  return {
    id: staged.id,
    day: staged.day,
    wallet: accountNumber(staged.wallet),
    at: staged.at,
    target_type: staged.type,
    target_id: staged.target,
    is_forever_mint: staged.isForeverMint,
    free_votes: freeVotes,
    premium_votes: premiumVotes,
    rules,
    xp,
    conflicts_with: staged.conflictsWith,
  };
}
