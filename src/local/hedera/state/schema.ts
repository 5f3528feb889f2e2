/** Postgres schema of the local ledger when nobody names another. */
export const DEFAULT_SCHEMA = "local_ledger";

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Any number, the same in every process: two openers make the tables one after the other. */
const ADVISORY_LOCK = 4_868_301;

/** The first number an entity of the public network's users gets. */
export const FIRST_ENTITY = 1001;

/**
 * The statements that make whatever is missing of the schema. One simple query, hence
 * one transaction: it is there whole or not at all.
 *
 * Entities are kept in versions, `[valid_from, valid_to)` in consensus nanoseconds, as the
 * real mirror node keeps them: that is what lets a lagging replica show the past truly.
 *
 * @throws RangeError when the name is not a plain lower-case identifier
 */
export function schemaStatements(schema: string): string {
  if (!SCHEMA_NAME.test(schema)) throw new RangeError(`"${schema}" is not a plain schema name`);
  return `
select pg_advisory_xact_lock(${ADVISORY_LOCK});
create schema if not exists ${schema};
set local search_path = ${schema};
${ENTITY_TABLES}
${EVENT_TABLES}
${commitFunction(schema)}`;
}

const VERSION = "valid_from bigint not null, valid_to bigint, created_at bigint not null";

const ENTITY_TABLES = `
create table if not exists head (
  one boolean primary key default true check (one),
  -- Each opening takes the next epoch; a ledger of an older one can write no more.
  epoch bigint not null, last_consensus_ns bigint not null, next_entity bigint not null);
insert into head values (true, 0, 0, ${FIRST_ENTITY}) on conflict do nothing;
create table if not exists account (
  num bigint not null, ${VERSION}, deleted boolean not null, key bytea, alias bytea,
  evm_address bytea, memo text not null, balance bigint, balance_at bigint,
  auto_renew_period bigint, max_associations int, receiver_sig_required boolean,
  primary key (num, valid_from));
create index if not exists account_alias on account (alias) where alias is not null;
create index if not exists account_evm_address on account (evm_address)
  where evm_address is not null;
create table if not exists token (
  num bigint not null, ${VERSION}, deleted boolean not null, treasury bigint not null,
  name text not null, symbol text not null, memo text not null, max_supply bigint not null,
  primary key (num, valid_from));
create table if not exists nft (
  token bigint not null, serial bigint not null, ${VERSION}, deleted boolean not null,
  account bigint, metadata bytea not null, primary key (token, serial, valid_from));
create index if not exists nft_holder on nft (account, token, serial);
create table if not exists topic (
  num bigint not null, ${VERSION}, deleted boolean not null, memo text not null,
  admin_key bytea, submit_key bytea, fee_schedule_key bytea, auto_renew_account bigint,
  auto_renew_period bigint, custom_fees jsonb not null, primary key (num, valid_from));`;

const EVENT_TABLES = `
create table if not exists transaction (
  consensus_ns bigint primary key, payer bigint not null, valid_start bigint not null,
  nonce int not null, scheduled boolean not null, type text not null, result text not null,
  entity bigint, node bigint, max_fee bigint not null, charged_fee bigint not null,
  memo bytea not null, valid_duration bigint not null, hash bytea not null);
create index if not exists transaction_id on transaction (payer, valid_start);
create index if not exists transaction_payer on transaction (payer, consensus_ns);
create table if not exists nft_transfer (
  token bigint not null, serial bigint not null, consensus_ns bigint not null,
  sender bigint, receiver bigint, primary key (token, serial, consensus_ns));
create index if not exists nft_transfer_time on nft_transfer (consensus_ns);
create table if not exists topic_message (
  topic bigint not null, sequence bigint not null, consensus_ns bigint not null unique,
  payer bigint not null, message bytea not null, running_hash bytea not null,
  running_hash_version int not null, chunk_payer bigint, chunk_valid_start bigint,
  chunk_nonce int, chunk_scheduled boolean, chunk_number int, chunk_total int,
  primary key (topic, sequence));
create index if not exists topic_message_time on topic_message (topic, consensus_ns);
create table if not exists block (
  number bigint primary key, from_ns bigint not null, to_ns bigint not null unique,
  transactions bigint not null, hash bytea not null, previous_hash bytea not null);`;

/** Blocks kept: half a day of an idle ledger; nothing reads further back than the newest. */
const BLOCKS_KEPT = 5_000;

/** What one version replaces ends where it begins. */
function closeVersions(table: string, keys: readonly string[]): string {
  const same = (a: string, b: string): string =>
    keys.map((key) => `${a}.${key} = ${b}.${key}`).join(" and ");
  return `
  update ${table} old set valid_to = (
      select min(later.valid_from) from ${table} later
      where ${same("later", "old")} and later.valid_from > old.valid_from)
    from (select distinct ${keys.join(", ")}
          from jsonb_populate_recordset(null::${table}, batch->'${table}')) touched
    where ${same("old", "touched")} and old.valid_to is null and exists (
      select from ${table} later where ${same("later", "old")} and later.valid_from > old.valid_from);`;
}

/**
 * One function writes a whole batch. The compare-and-set on `head` is the fence: it fails
 * for a ledger that was replaced, and for a batch whose predecessor's fate was unknown.
 */
function commitFunction(schema: string): string {
  const tables = [
    "account",
    "token",
    "nft",
    "topic",
    "transaction",
    "nft_transfer",
    "topic_message",
    "block",
  ];
  const inserts = tables.map(
    (table) =>
      `  insert into ${table} select * from jsonb_populate_recordset(null::${table}, batch->'${table}');`,
  );
  return `
create or replace function commit_batch(
    batch jsonb, my_epoch bigint, previous_ns bigint, last_ns bigint, next_num bigint)
  returns boolean language plpgsql set search_path = ${schema} as $commit$
begin
  update head set last_consensus_ns = last_ns, next_entity = next_num
    where epoch = my_epoch and last_consensus_ns = previous_ns;
  if not found then return false; end if;
${inserts.join("\n")}
${closeVersions("account", ["num"])}${closeVersions("token", ["num"])}
${closeVersions("nft", ["token", "serial"])}${closeVersions("topic", ["num"])}
  delete from block
    where number <= (select max(number) from block) - ${BLOCKS_KEPT} and batch ? 'block';
  return true;
end $commit$;`;
}
