import { Agent, request } from "undici";
import { z } from "zod";
import type { Logger } from "../log.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** Then the source is away, and the rest would fail as well. */
const FAILURES_IN_A_ROW_MAX = 3;
/** 1,000 requests, one after the other. */
const TOKENS_MAX = 100_000;

/**
 * Reads `price` and `marketCap` of every approved token, batch by batch. What the source does not
 * know, or says in a way that makes no sense, stays as it is.
 *
 * @returns false when the source failed so that the round ended early
 */
export async function refreshPrices(deps: {
  readonly sql: Sql;
  readonly source: PriceSource;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<boolean> {
  const { sql, source, log, signal } = deps;
  const tokens = await runStatement(sql<{ id: string }[]>`
    select id from token where approved_at is not null order by number limit ${TOKENS_MAX}`);
  let [asked, failures] = [0, 0];
  while (asked < tokens.length && failures < FAILURES_IN_A_ROW_MAX && !signal.aborted) {
    const batch = tokens.slice(asked, asked + IDS_PER_REQUEST_MAX).map(({ id }) => id);
    asked += batch.length;
    try {
      await store(sql, await source.read(batch, signal));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!signal.aborted) log.warn({ err: error }, "prices were not read");
    }
  }
  return asked >= tokens.length && failures === 0;
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

/**
 * Where prices come from: any HTTP service, or a small adapter before one, that answers
 *
 *     GET <PRICE_URL>?ids=0.0.1001,0.0.1002          at most 100 ids; other parameters stay
 *     200 { "tokens": [ { "id": "0.0.1001", "price": 0.0731, "marketCap": 2770000 } ] }
 *
 * `price` and `marketCap` are US dollars: JSON numbers, finite, not negative; null or absent
 * means not known. Other fields are ignored, and so is a token that was not asked for.
 */
export type PriceSource = ReturnType<typeof priceSource>;

/** At least one of the two is there. */
export interface PriceReading {
  readonly id: string;
  readonly price: number | null;
  readonly marketCap: number | null;
}

/** Keeps the address of a request below 2,000 characters. */
export const IDS_PER_REQUEST_MAX = 100;
/** 100 entries take some 10 KB. */
const BODY_BYTES_MAX = 1024 * 1024;
const ANSWER_WITHIN_MS = 5_000;
const CONNECT_WITHIN_MS = 2_000;

const answerSchema = z.object({ tokens: z.array(z.unknown()).max(10 * IDS_PER_REQUEST_MAX) });
const usd = z.number().min(0).nullable().default(null);
const entrySchema = z.object({ id: z.string(), price: usd, marketCap: usd });

/** @param url `PRICE_URL`; it is never repeated: it may hold a key */
export function priceSource(url: string) {
  const dispatcher = new Agent({
    connections: 1,
    maxResponseSize: BODY_BYTES_MAX,
    connect: { timeout: CONNECT_WITHIN_MS },
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  return {
    /**
     * @returns what makes sense of the answer, at most one reading per id
     * @throws Error when the answer is late, no 200, too long, no JSON or of another shape
     */
    async read(ids: readonly string[], signal: AbortSignal): Promise<readonly PriceReading[]> {
      const target = new URL(url);
      target.searchParams.set("ids", ids.join(","));
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
      const { statusCode, body } = await request(target, {
        dispatcher,
        signal: limit,
        headers: { accept: "application/json" },
      });
      // A redirect too: the operator named this address and no other.
      if (statusCode !== 200) {
        body.on("error", () => undefined).destroy();
        throw new Error(`the price source answered ${statusCode}`);
      }
      return sense(ids, answerSchema.parse(await body.json()).tokens);
    },
    close: () => dispatcher.destroy(),
  };
}

/** One bad entry spoils itself and no other; of one id with two prices neither is believed. */
function sense(ids: readonly string[], entries: readonly unknown[]): PriceReading[] {
  const asked = new Set(ids);
  const readings = new Map<string, PriceReading | undefined>();
  for (const entry of entries) {
    const { success, data } = entrySchema.safeParse(entry);
    if (!success || !asked.has(data.id)) continue;
    readings.set(data.id, readings.has(data.id) ? undefined : data);
  }
  return [...readings.values()].filter(
    (reading) => reading !== undefined && (reading.price !== null || reading.marketCap !== null),
  ) as PriceReading[];
}
