import type { Nanos } from "../timestamps.ts";
import type { AccountRow, NftRow, TokenRow, TopicRow } from "./rows.ts";
import { type Collection, RECEIPT_KEPT, type State, type Topic, transactionKey } from "./state.ts";
import type { LedgerStore } from "./store.ts";

type Source = Pick<LedgerStore, "sql" | "table">;

/** Instants come as text: they exceed 2^53. */
type Stored<Row> = Omit<Row, "valid_from" | "created_at" | "balance" | "balance_at"> & {
  readonly valid_from: string;
  readonly created_at: string;
};

const NO_MESSAGE_YET = new Uint8Array(48);

/** Reads the whole state back: the newest version of everything, and the last 180 s of ids. */
export async function loadState(from: Source, now: Nanos): Promise<State> {
  const state = await readHead(from);
  await Promise.all([
    readAccounts(from, state),
    readCollections(from, state),
    readTopics(from, state),
    readHandled(from, state, now),
    readChain(from, state),
  ]);
  return state;
}

async function readHead({ sql, table }: Source): Promise<State> {
  const [head] = await sql<{ epoch: number; last: string; next: number }[]>`
    select epoch::int, last_consensus_ns::text as last, next_entity::float8 as next
    from ${table("head")}`;
  if (head === undefined) throw new Error("the local ledger's head row is gone");
  return {
    epoch: head.epoch,
    lastConsensus: BigInt(head.last),
    nextEntity: head.next,
    accounts: new Map(),
    evmAddresses: new Map(),
    collections: new Map(),
    topics: new Map(),
    handled: new Map(),
    chain: { number: -1, to: 0n, hash: new Uint8Array(48), waiting: 0 },
  };
}

async function readAccounts({ sql, table }: Source, state: State): Promise<void> {
  type Found = Stored<AccountRow> & { balance: string | null; balance_at: string | null };
  const rows = await sql<Found[]>`
    select num::float8, valid_from::text, created_at::text, deleted, key, alias, evm_address, memo,
      balance::text, balance_at::text, auto_renew_period::float8, max_associations,
      receiver_sig_required
    from ${table("account")} where valid_to is null`;
  for (const row of rows) {
    const balance = row.balance === null ? null : BigInt(row.balance);
    const balance_at = row.balance_at === null ? null : BigInt(row.balance_at);
    state.accounts.set(row.num, { ...dated(row), balance, balance_at });
    if (row.evm_address !== null) {
      state.evmAddresses.set(Buffer.from(row.evm_address).toString("hex"), row.num);
    }
  }
}

async function readCollections({ sql, table }: Source, state: State): Promise<void> {
  const tokens = await sql<Stored<TokenRow>[]>`
    select num::float8, valid_from::text, created_at::text, deleted, treasury::float8, name,
      symbol, memo, max_supply::float8
    from ${table("token")} where valid_to is null`;
  const nfts = await sql<Stored<NftRow>[]>`
    select token::float8, serial::float8, valid_from::text, created_at::text, deleted,
      account::float8, metadata
    from ${table("nft")} where valid_to is null order by token, serial`;
  const collections: [number, Collection][] = tokens.map((row) => [
    row.num,
    { row: dated(row), nfts: new Map() },
  ]);
  for (const [num, collection] of collections) state.collections.set(num, collection);
  for (const row of nfts) state.collections.get(row.token)?.nfts.set(row.serial, dated(row));
}

async function readTopics({ sql, table }: Source, state: State): Promise<void> {
  type Found = Stored<TopicRow> & { sequence: number; running_hash: Uint8Array | null };
  const rows = await sql<Found[]>`
    select t.num::float8, t.valid_from::text, t.created_at::text, t.deleted, t.memo, t.admin_key,
      t.submit_key, t.fee_schedule_key, t.auto_renew_account::float8, t.auto_renew_period::float8,
      t.custom_fees, coalesce(m.sequence, 0)::float8 as sequence, m.running_hash
    from ${table("topic")} t
    left join lateral (
      select sequence, running_hash from ${table("topic_message")}
      where topic = t.num order by sequence desc limit 1) m on true
    where t.valid_to is null`;
  for (const { sequence, running_hash, ...row } of rows) {
    const topic: Topic = { row: dated(row), sequence, runningHash: running_hash ?? NO_MESSAGE_YET };
    state.topics.set(row.num, topic);
  }
}

async function readHandled(from: Source, state: State, now: Nanos): Promise<void> {
  const { sql, table } = from;
  const rows = await sql<{ payer: number; valid_start: string; at: string }[]>`
    select payer::float8, valid_start::text, min(consensus_ns)::text as at
    from ${table("transaction")} where consensus_ns > ${String(now - RECEIPT_KEPT)}::bigint
    group by payer, valid_start order by min(consensus_ns)`;
  for (const row of rows) {
    state.handled.set(transactionKey(row.payer, BigInt(row.valid_start)), BigInt(row.at));
  }
}

async function readChain({ sql, table }: Source, state: State): Promise<void> {
  const [block] = await sql<{ number: number; to: string; hash: Uint8Array }[]>`
    select number::float8, to_ns::text as to, hash from ${table("block")}
    order by number desc limit 1`;
  if (block !== undefined) {
    Object.assign(state.chain, { number: block.number, to: BigInt(block.to), hash: block.hash });
  }
  const [waiting] = await sql<{ count: number }[]>`
    select count(*)::float8 as count from ${table("transaction")}
    where consensus_ns > ${String(state.chain.to)}::bigint`;
  state.chain.waiting = waiting?.count ?? 0;
}

function dated<Row extends { valid_from: string; created_at: string }>(row: Row) {
  return { ...row, valid_from: BigInt(row.valid_from), created_at: BigInt(row.created_at) };
}
