import { z } from "zod";
import type { Day } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { Fragment } from "./star-windows.ts";

/** A run of the holdings check, in numbers. Instants are epoch milliseconds. */
export interface ListedCheck {
  readonly id: string;
  readonly day: Day;
  readonly kind: "scheduled" | "manual" | "star";
  readonly state: "skipped" | "running" | "done" | "incomplete";
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly passes: number;
  readonly nextTryAt: number;
  readonly removed: number;
  /** What totals lost. */
  readonly weight: number;
  readonly kept: number;
  readonly deferred: number;
}

/** A worker that dies keeps a run from the others this long. */
export const CHECK_LEASE_MS = 30_000;

/**
 * Runs, newest first.
 *
 * @param query.before only those that started before; epoch milliseconds
 */
export async function listChecks(
  sql: Sql,
  query: { readonly before: number | undefined; readonly limit: number },
): Promise<readonly ListedCheck[]> {
  const { before, limit } = query;
  return runStatement(sql<ListedCheck[]>`
    select ${numbers(sql)} from (
      select * from holdings_check_run
      -- What a star ended stands in the mint's own history.
      where kind <> 'star' and ${before === undefined ? sql`true` : sql`started_at < ${before}`}
      order by started_at desc limit ${limit}) run
    order by started_at desc`);
}

/** @returns null where there is no such run */
export async function findCheck(sql: Sql, id: string): Promise<ListedCheck | null> {
  const [row] = await runStatement(sql<ListedCheck[]>`
    select ${numbers(sql)} from holdings_check_run run where id = ${id}`);
  return row ?? null;
}

function numbers(sql: Sql) {
  // Its process died, and no worker has written that down yet: it ended when it last gave a sign of life.
  const isDead = sql`state = 'running' and kind = 'manual' and lease_until < now_ms()`;
  return sql`id, day, kind, case when ${isDead} then 'incomplete' else state end as state,
    started_at as "startedAt", case when ${isDead} then lease_until - ${CHECK_LEASE_MS}::bigint else finished_at end as "finishedAt",
    passes, next_try_at as "nextTryAt",
    (select count(*) from claim_release where run_id = run.id) as removed,
    (select coalesce(sum(weight), 0) from claim_release where run_id = run.id) as weight,
    (select coalesce(sum(kept), 0) from holdings_check_mint where run_id = run.id) as kept,
    (select coalesce(sum(json_array_length(deferred)), 0) from holdings_check_mint
      where run_id = run.id) as deferred`;
}

const count = z.number();
/** Epoch milliseconds; any that a date can have. */
export const epochMs = count.refine((at) => !Number.isNaN(new Date(at).getTime()));

/** What a run found on one mint. A dry run's is kept where others may write: read back by this. */
export const checkedMintRow = z.object({
  event: z.string(),
  kept: count,
  removed: count,
  weight: count,
  /** Parts left open. */
  open: count,
  deferred: z
    .array(
      z.object({
        collection: z.string(),
        /** Both null for the whole collection. */
        serial: count.nullable(),
        starId: z.string().nullable(),
        wallet: z.string().nullable(),
        reason: z.string(),
      }),
    )
    .readonly(),
});
export type CheckedMintRow = Readonly<z.output<typeof checkedMintRow>>;

export async function mintsOfCheck(sql: Sql, id: string): Promise<readonly CheckedMintRow[]> {
  return runStatement(sql<CheckedMintRow[]>`
    select event_id as event, kept, json_array_length(deferred) as open, deferred,
      (select count(*) from claim_release where run_id = mint.run_id and event_id = mint.event_id) as removed,
      (select coalesce(sum(weight), 0) from claim_release
        where run_id = mint.run_id and event_id = mint.event_id) as weight
    from holdings_check_mint mint where run_id = ${id} order by event_id`);
}

/** An NFT that stopped counting, with the evidence. */
export const releasedNft = z.object({
  event: z.string(),
  wallet: z.string(),
  collection: z.enum(["A", "B"]),
  serial: count,
  /** What the mint's total lost: 0 where a spare carries the +5 on. */
  weight: count,
  spare: count.nullable(),
  starId: z.string(),
  /** As the mirror node gives it; null once burned or wiped. */
  owner: z.string().nullable(),
  deleted: z.boolean(),
  /** When the collection's reading started, and the NFT's own. */
  listedAt: epochMs,
  readAt: epochMs,
});
export type ReleasedNft = Readonly<z.output<typeof releasedNft>>;

/** For a mint that lost all that counted there: a second or two. */
const RELEASES_WITHIN_MS = 60_000;

/** The first NFTs that a run ended, by mint. */
export function releasesOfCheck(sql: Sql, id: string, limit: number) {
  return runStatement(releases(sql, sql`run_id = ${id}`, limit));
}

export function releasesOnMint(sql: Sql, id: string, mint: string) {
  const query = releases(sql, sql`run_id = ${id} and event_id = ${mint}`, null);
  return runStatement(query, RELEASES_WITHIN_MS);
}

function releases(sql: Sql, which: Fragment, limit: number | null) {
  return sql<ReleasedNft[]>`
    select event_id as event, '0.0.' || wallet as wallet, collection, serial, weight, spare,
      star_id as "starId", owner, deleted, listed_at as "listedAt", read_at as "readAt"
    from claim_release where ${which}
    order by event_id, seq, collection, serial limit ${limit}`;
}
