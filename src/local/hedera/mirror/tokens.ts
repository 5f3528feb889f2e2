import { entityId } from "../entity-id.ts";
import { SECOND, timestampText, transactionIdText } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, pageOf } from "./exchange.ts";
import { readSerial } from "./nfts.ts";
import { checkQuery, filtersOf, isTimestamp, PAGE } from "./parameters.ts";
import { optionalId } from "./transactions.ts";
import { allOf, compareTime, hasHappened, isCurrent, sorted } from "./view.ts";

const NINETY_DAYS_S = 7_776_000n;

/** `GET /tokens/{id}`: a collection, deleted or not. */
export const getToken: Endpoint = async ({ view, query, part }) => {
  const num = readEntityNum(part("token"), "token.id");
  checkQuery(query, { timestamp: isTimestamp });
  const { sql, table } = view;
  const times = filtersOf(query, "timestamp").map(({ operator, value }) =>
    compareTime(view, "t.valid_from", { operator: operator === "lt" ? "lt" : "lte", value }),
  );
  type Found = {
    readonly created_at: string;
    readonly valid_from: string;
    readonly deleted: boolean;
    readonly treasury: string;
    readonly name: string;
    readonly symbol: string;
    readonly memo: string;
    readonly max_supply: string;
    readonly total: string;
  };
  const [row] = await sql<Found[]>`
    select t.created_at::text, t.valid_from::text, t.deleted, t.treasury::text, t.name, t.symbol,
      t.memo, t.max_supply::text,
      (select count(*)::text from ${table("nft")} n
        where n.token = t.num and not n.deleted and ${isCurrent(view, "n")}) as total
    from ${table("token")} t
    where t.num = ${num}::bigint and ${hasHappened(view, "t.valid_from")} and ${allOf(view, times)}
    order by t.valid_from desc limit 1`;
  if (row === undefined) throw notFound();
  const created = BigInt(row.created_at);
  return {
    maxAge: MAX_AGE.list,
    body: {
      ...UNSET,
      auto_renew_account: entityId(row.treasury),
      auto_renew_period: NINETY_DAYS_S,
      created_timestamp: timestampText(created),
      custom_fees: {
        created_timestamp: timestampText(created),
        fixed_fees: [],
        royalty_fees: [],
      },
      deleted: row.deleted,
      // In nanoseconds, unlike every other instant: a known oddity of the real one.
      expiry_timestamp: created + NINETY_DAYS_S * SECOND,
      max_supply: row.max_supply,
      memo: row.memo,
      modified_timestamp: timestampText(BigInt(row.valid_from)),
      name: row.name,
      supply_type: row.max_supply === "0" ? "INFINITE" : "FINITE",
      symbol: row.symbol,
      token_id: entityId(num),
      total_supply: row.total,
      treasury_account_id: entityId(row.treasury),
    },
  };
};

/** What a collection of the local ledger never has. */
const UNSET = {
  admin_key: null,
  decimals: "0",
  fee_schedule_key: null,
  freeze_default: false,
  freeze_key: null,
  initial_supply: "0",
  kyc_key: null,
  metadata: "",
  metadata_key: null,
  pause_key: null,
  pause_status: "NOT_APPLICABLE",
  supply_key: null,
  type: "NON_FUNGIBLE_UNIQUE",
  wipe_key: null,
} as const;

/**
 * `GET /tokens/{id}/nfts/{serial}/transactions`: where an NFT has been. The deletion of its
 * collection is a row without parties; so the real one shows it.
 */
export const getNftTransactions: Endpoint = async (request) => {
  const { view, query, part } = request;
  const token = readEntityNum(part("token"), "token.id");
  const serial = readSerial(part("serial"));
  checkQuery(query, { ...PAGE, timestamp: isTimestamp });
  const page = pageOf(request, "desc");
  const { sql, table } = view;
  const times = filtersOf(query, "timestamp").map((filter) =>
    compareTime(view, "h.consensus_ns", filter),
  );
  type Found = { at: string; payer: string; start: string; nonce: number; type: string } & {
    readonly sender: string | null;
    readonly receiver: string | null;
  };
  const rows = await sql<Found[]>`
    select h.consensus_ns::text as at, h.sender::text, h.receiver::text, x.payer::text,
      x.valid_start::text as start, x.nonce, x.type
    from (
      select consensus_ns, sender, receiver from ${table("nft_transfer")}
      where token = ${token}::bigint and serial = ${serial}::bigint
      union all
      select t.valid_from, null, null from ${table("token")} t
      where t.num = ${token}::bigint and t.deleted and exists (
        select from ${table("nft")} n
        where n.token = t.num and n.serial = ${serial}::bigint and not n.deleted
          and ${isCurrent(view, "n")})
    ) h join ${table("transaction")} x on x.consensus_ns = h.consensus_ns
    where ${hasHappened(view, "h.consensus_ns")} and ${allOf(view, times)}
    order by h.consensus_ns ${sorted(view, page.order)} limit ${page.limit}`;
  const transactions = rows.map((row) => ({
    consensus_timestamp: timestampText(BigInt(row.at)),
    nonce: row.nonce,
    transaction_id: transactionIdText(row.payer, BigInt(row.start)),
    type: row.type,
    is_approval: false,
    receiver_account_id: optionalId(row.receiver),
    sender_account_id: optionalId(row.sender),
  }));
  const next = page.after(transactions, ({ consensus_timestamp: value }) => [
    { parameter: "timestamp", value },
  ]);
  return listAnswer("transactions", transactions, next);
};
