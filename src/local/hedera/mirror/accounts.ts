import type { Fragment } from "postgres";
import { entityId } from "../entity-id.ts";
import { SECOND, timestampText } from "../timestamps.ts";
import { readAccountReference, toBase32 } from "./account-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE, pageOf } from "./exchange.ts";
import { int64 } from "./json.ts";
import { showKey } from "./key.ts";
import { checkQuery, filtersOf, flagOf, isFlag, isTimestamp, PAGE } from "./parameters.ts";
import { isTransactionType, listTransactions } from "./transactions.ts";
import { allOf, compareTime, hasHappened, type View } from "./view.ts";

interface Found {
  readonly num: string;
  readonly created_at: string;
  readonly deleted: boolean;
  readonly key: Uint8Array | null;
  readonly alias: Uint8Array | null;
  readonly evm_address: Uint8Array | null;
  readonly memo: string;
  readonly balance: string | null;
  readonly balance_at: string | null;
  readonly auto_renew_period: string | null;
  readonly max_associations: number | null;
  readonly receiver_sig_required: boolean | null;
}

/** `GET /accounts/{idOrAliasOrEvmAddress}`: deleted accounts are there, with the key they had. */
export const getAccount: Endpoint = async (request) => {
  const { view, query } = request;
  checkQuery(query, {
    ...PAGE,
    timestamp: isTimestamp,
    transactions: isFlag,
    transactiontype: isTransactionType,
  });
  const num = await findAccountNum(view, request.part("account"));
  const times = filtersOf(query, "timestamp").map(({ operator, value }) =>
    // A version counts when any of its life lies where the filter looks.
    operator === "gt" || operator === "gte"
      ? view.sql`(valid_to is null or ${compareTime(view, "valid_to", { operator: "gt", value })})`
      : compareTime(view, "valid_from", { operator: operator === "lt" ? "lt" : "lte", value }),
  );
  const account = await findAccount(view, num, times);
  if (account === undefined) throw notFound();
  const page = pageOf(request, "desc");
  const transactions =
    flagOf(query, "transactions") === false ? [] : await listTransactions(request, page, num);
  const next = page.after(transactions, ({ consensus_timestamp: value }) => [
    { parameter: "timestamp", value },
  ]);
  return {
    body: { ...showAccount(account), transactions, links: { next } },
    maxAge: MAX_AGE.account,
    next,
  };
};

/**
 * The number of the account a path names.
 *
 * @throws MirrorError 400 for a bad spelling, 404 for an alias or EVM address nobody has; a
 *   number nobody has is returned as it is
 */
export async function findAccountNum(view: View, text: string): Promise<string> {
  const reference = readAccountReference(text);
  if (reference.kind === "num") return reference.num;
  const { sql, table } = view;
  const named =
    reference.kind === "evm"
      ? sql`evm_address = ${reference.address}`
      : sql`alias = ${reference.alias}`;
  const [row] = await sql<{ num: string }[]>`
    select num::text from ${table("account")}
    where ${named} and ${hasHappened(view, "valid_from")} limit 1`;
  if (row === undefined) throw notFound();
  return row.num;
}

async function findAccount(view: View, num: string, times: readonly Fragment[]) {
  const { sql, table } = view;
  const [row] = await sql<Found[]>`
    select num::text, created_at::text, deleted, key, alias, evm_address, memo, balance::text,
      balance_at::text, auto_renew_period::text, max_associations, receiver_sig_required
    from ${table("account")}
    where num = ${num}::bigint and ${hasHappened(view, "valid_from")} and ${allOf(view, times)}
    order by valid_from desc limit 1`;
  return row;
}

function showAccount(row: Found) {
  const created = BigInt(row.created_at);
  const period = int64(row.auto_renew_period);
  return {
    account: entityId(row.num),
    alias: row.alias === null ? null : toBase32(row.alias),
    auto_renew_period: period,
    balance: {
      balance: int64(row.balance),
      timestamp: row.balance_at === null ? null : timestampText(BigInt(row.balance_at)),
      tokens: [],
    },
    created_timestamp: timestampText(created),
    decline_reward: false,
    deleted: row.deleted,
    ethereum_nonce: 0,
    evm_address: `0x${evmAddress(row)}`,
    expiry_timestamp: period === null ? null : timestampText(created + period * SECOND),
    key: showKey(row.key),
    max_automatic_token_associations: row.max_associations,
    memo: row.memo,
    pending_reward: 0,
    receiver_sig_required: row.receiver_sig_required,
    staked_account_id: null,
    staked_node_id: null,
    stake_period_start: null,
  };
}

/** Its own, or the long-zero one that its number makes. */
function evmAddress({ evm_address: own, num }: Found): string {
  return own === null
    ? BigInt(num).toString(16).padStart(40, "0")
    : Buffer.from(own).toString("hex");
}
