import { entityNumber } from "../ledger/entity-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** What a key is bound to: the first request and its reply, byte for byte. */
export interface KeptReply {
  readonly requestHash: string;
  readonly reply: string;
}

/** Names a key: keys belong to their wallet. */
export interface IdempotencyQuery {
  readonly wallet: string;
  readonly key: string;
}

/** Looks keys up, many in one select; answers in the order asked, null where nothing is bound. */
export async function findKeptReplies(
  sql: Sql,
  queries: readonly IdempotencyQuery[],
): Promise<readonly (KeptReply | null)[]> {
  const rows = await runStatement(sql<{ hash: string | null; reply: string | null }[]>`
    select encode(request_hash, 'hex') as hash, reply
    from unnest(${queries.map(({ wallet }) => entityNumber(wallet))}::bigint[],
        ${queries.map(({ key }) => key)}::text[]) with ordinality as asked (wallet, key, n)
    left join idempotency_key using (wallet, key)
    order by n`);
  return rows.map(({ hash, reply }) =>
    hash === null || reply === null ? null : { requestHash: hash, reply },
  );
}
