import { DAY_MS } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type ListedCredit, type ListedPass, passesWhere } from "./console-seasons.ts";

/** Transactions bear the ledger's time, stars that of Postgres. */
const SKEW_MS = 3_600_000;

/** What stands of a wallet beside its stars. Instants are epoch milliseconds. */
export interface WalletRecords {
  /** Newest first. */
  readonly passes: readonly ListedPass[];
  /** Newest first, as many as were asked for; each knows how many the wallet has. */
  readonly credits: readonly (ListedCredit & { readonly total: number })[];
  /** When each voting session that is open was opened, newest first. */
  readonly sessions: readonly number[];
}

/**
 * Passes, credits and sessions of a wallet, each by its own index.
 *
 * @param account number of the account
 * @param asked.limit of the credits; a wallet has as many passes as seasons, and 20 sessions
 */
export async function readWalletRecords(
  sql: Sql,
  account: number,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<WalletRecords> {
  const [passes, credits, sessions] = await Promise.all([
    passesWhere(sql, sql`wallet = ${account} order by granted_at desc`),
    runStatement(sql<WalletRecords["credits"][number][]>`
      select key as id, '0.0.' || wallet as wallet, points, reason, at, count(*) over () as total from xp_credit
      where wallet = ${account} order by at desc limit ${limit}`),
    runStatement(sql<{ at: number }[]>`
      select created_at as at from session
      where wallet = ${account} and expires_at > ${now}::bigint order by created_at desc`),
  ]);
  return { passes, credits, sessions: sessions.map(({ at }) => at) };
}

/**
 * The star that a transaction was reserved for. A star that came back from the ledger has its transaction
 * without that: it is looked for among the stars of the day until then, in which nearly all are sent.
 *
 * @param transactionId `0.0.n@seconds.nnnnnnnnn`
 */
export async function starOfTransaction(sql: Sql, transactionId: string): Promise<string | null> {
  const from = Number(/@(\d+)/.exec(transactionId)?.[1]) * 1_000;
  const [row] = await runStatement(sql<{ id: string }[]>`
    select star_id as id from publish_attempt where transaction_id = ${transactionId}
    union all
    select star_id from outbox where transaction_id = ${transactionId}
      and star_id > first_star_id(${Math.max(0, from - DAY_MS)}::bigint)
      and star_id < first_star_id(${from + SKEW_MS}::bigint)
    limit 1`);
  return row?.id ?? null;
}

/** The star whose message stands at a place of a topic. */
export async function starOfMessage(
  sql: Sql,
  { topic, sequence }: { readonly topic: string; readonly sequence: number },
): Promise<string | null> {
  const [row] = await runStatement(sql<{ id: string }[]>`
    select star_id as id from outbox
    where topic_id = ${topic} and sequence_number = ${sequence}::bigint and state = 'published'`);
  return row?.id ?? null;
}
