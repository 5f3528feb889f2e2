import type { Logger } from "../log.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { RefreshReport } from "./refresh-catalogue-collections.ts";
import {
  IDS_PER_REQUEST_MAX,
  type PriceReading,
  type PriceSource,
} from "./refresh-catalogue-price-source.ts";

/** Then the source is away, and the rest would fail as well. */
const FAILURES_IN_A_ROW_MAX = 3;
/** 1,000 requests, one after the other. */
const TOKENS_MAX = 100_000;

/**
 * Reads `price` and `marketCap` of every approved token, batch by batch. What the source does not
 * know, or says in a way that makes no sense, stays as it is.
 */
export async function refreshPrices(deps: {
  readonly sql: Sql;
  readonly source: PriceSource;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<RefreshReport> {
  const { sql, source, log, signal } = deps;
  const tokens = await runStatement(sql<{ id: string }[]>`
    select id from token where approved_at is not null order by number limit ${TOKENS_MAX}`);
  let [refreshed, asked, failures] = [0, 0, 0];
  while (asked < tokens.length && failures < FAILURES_IN_A_ROW_MAX && !signal.aborted) {
    const batch = tokens.slice(asked, asked + IDS_PER_REQUEST_MAX).map(({ id }) => id);
    asked += batch.length;
    try {
      const readings = await source.read(batch, signal);
      await store(sql, readings);
      refreshed += readings.length;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!signal.aborted) log.warn({ err: error }, "prices were not read");
    }
  }
  const isComplete = asked >= tokens.length && failures === 0;
  return { refreshed, kept: tokens.length - refreshed, isComplete };
}

/** Sorted by key, so that two workers wait for each other and do not deadlock; an equal price writes nothing. */
async function store(sql: Sql, readings: readonly PriceReading[]): Promise<void> {
  if (readings.length === 0) return;
  await runStatement(sql`
    with given as (
      select * from json_to_recordset(${JSON.stringify(readings)}::text::json)
        as given (id text, price float8, "marketCap" float8)
    ), locked as (
      select token.id from token join given using (id) order by token.id for update of token
    )
    update token set price = coalesce(given.price, token.price),
      market_cap = coalesce(given."marketCap", token.market_cap)
    from given join locked using (id)
    where token.id = given.id and (token.price, token.market_cap)
      is distinct from (coalesce(given.price, token.price), coalesce(given."marketCap", token.market_cap))`);
}
