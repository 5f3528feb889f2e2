import { runStatement, type Sql } from "../store/postgres.ts";

/** The spans that the view `attention` counts. */
export const WINDOWS = ["24h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];

/** A row of the view (contract, section 5), by its own names. */
export interface AttentionRow {
  readonly target_type: string;
  readonly target_id: string;
  readonly window: Window;
  readonly stars: number;
  readonly weight: number;
  readonly wallets: number;
}

/** What is asked of the view; each part that is left out narrows nothing. */
export interface AttentionQuery {
  readonly window?: Window | undefined;
  readonly type?: string | undefined;
  readonly limit: number;
}

/** Counting a window of tens of millions of stars takes longer than a page may. */
const DEADLINE_MS = 30_000;

/**
 * Star history per item, shorter windows first, then by weight. How to weigh the windows is the
 * reader's choice.
 *
 * @param sql a pool whose statements may take their time
 */
export async function readAttention(
  sql: Sql,
  { window, type, limit }: AttentionQuery,
): Promise<readonly AttentionRow[]> {
  return runStatement(
    sql<AttentionRow[]>`
      select target_type, target_id, "window", stars, weight::bigint as weight, wallets
      from attention
      where ${window === undefined ? sql`true` : sql`"window" = ${window}`}
        and ${type === undefined ? sql`true` : sql`target_type = ${type}`}
      order by array_position(${[...WINDOWS]}::text[], "window"), attention.weight desc,
        attention.stars desc, target_type, target_id
      limit ${limit}`,
    DEADLINE_MS,
  );
}
