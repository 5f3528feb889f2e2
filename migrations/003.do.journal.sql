-- The journal. `star`, `serial_claim` and `outbox` only ever grow; everything else here
-- is a projection that a fold over them rebuilds.

-- The journal's order. A star that was decided again because of another one's commit draws its
-- number after that commit, so folding by number never meets an effect before its cause,
-- however far the clocks of two processes are apart.
create sequence journal_seq;

-- One row per accepted star: the truth. `slot` is the number of the star within its
-- wallet and UTC day, and so the version of the wallet-day actor: of two processes that
-- decided from the same state, the unique key lets one in and sends the other back.
create table star (
  id uuid not null,
  day date not null,
  wallet bigint not null check (wallet > 0),
  slot smallint not null,
  at epoch_ms not null,
  target_type text not null check (target_type in ('event', 'token', 'collection', 'project')),
  target_id text not null,
  -- True on forever mints alone: they may be starred again on the same day.
  repeatable boolean not null,
  voting_power integer not null check (voting_power >= 1),
  weight integer not null check (weight >= 0),
  base smallint not null check (base in (0, 1)),
  counted_a integer not null check (counted_a >= 0),
  bonus_b smallint not null check (bonus_b in (0, 5)),
  held_a bigint[] not null,
  held_b bigint[] not null,
  holdings_read_at epoch_ms not null,
  allowance_limit smallint not null check (allowance_limit in (5, 20)),
  season_id uuid,
  seq bigint not null default nextval('journal_seq'),
  primary key (day, id),
  constraint star_slot unique (wallet, day, slot),
  constraint star_within_allowance check (slot between 1 and allowance_limit),
  constraint star_dated_by_its_instant check (day = utc_day(at)),
  constraint star_weight_adds_up check (weight = base + counted_a + bonus_b),
  constraint star_power_from_holdings check (voting_power >= weight)
) partition by range (day);

-- "One star per wallet per item per UTC day."
create unique index star_once_per_item_and_day on star (wallet, day, target_type, target_id)
  where not repeatable;
create index star_by_target on star (target_type, target_id, at);

-- A month of days per partition: old months detach, and planning stays cheap.
-- Runs with its owner's rights, because the app's own role has no DDL.
create function ensure_star_partition(of_day date) returns void
language plpgsql security definer set search_path from current as $$
declare
  first_day date := date_trunc('month', of_day)::date;
  next_first date := (date_trunc('month', of_day) + interval '1 month')::date;
  partition_name text := 'star_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition_name) is null then
    perform pg_advisory_xact_lock(hashtext('ensure_star_partition'));
    execute format('create table if not exists %I partition of star for values from (%L) to (%L)',
      partition_name, first_day, next_first);
  end if;
end
$$;

-- Which NFT has counted where. On ordinary events a serial counts once per event and UTC
-- day whoever brings it; on forever mints (`day` is null) it counts while attributed to a
-- wallet, and the daily check releases it. There the base 1 of a wallet is a claim too
-- (`collection` 'base', `serial` the wallet's number): "a wallet's star counts once".
create table serial_claim (
  event_id text not null,
  day date,
  collection text not null check (collection in ('base', 'A', 'B')),
  serial bigint not null check (serial > 0),
  wallet bigint not null,
  star_id uuid not null,
  released_at epoch_ms,
  check (collection <> 'base' or (day is null and serial = wallet and released_at is null))
);
create unique index serial_claim_once_per_day
  on serial_claim (event_id, day, collection, serial) where day is not null;
create unique index serial_claim_live_on_mint
  on serial_claim (event_id, collection, serial) where day is null and released_at is null;
-- The +5 reaches a mint once per wallet.
create unique index serial_claim_one_bonus_per_wallet
  on serial_claim (event_id, wallet) where day is null and released_at is null and collection = 'B';

-- What must reach the ledger, written with its star. The rows are the queue.
create table outbox (
  star_id uuid primary key,
  topic text not null check (topic in ('event', 'asset')),
  message text not null check (octet_length(message) between 1 and 1024),
  state text not null default 'pending'
    check (state in ('pending', 'reserved', 'signed', 'sent', 'published')),
  topic_id text,
  transaction_id text,
  sequence_number bigint,
  consensus_timestamp text,
  running_hash text,
  check (state <> 'published' or (topic_id is not null and transaction_id is not null
    and sequence_number is not null and consensus_timestamp is not null and running_hash is not null))
);
-- Star ids are UUIDv7: their order is the order of acceptance, oldest first.
create index outbox_unpublished on outbox (star_id) where state <> 'published';
create unique index outbox_sequence on outbox (topic_id, sequence_number) where state = 'published';

-- Only a 201 binds a key; the reply is kept byte for byte.
create table idempotency_key (
  wallet bigint not null,
  key text not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  star_id uuid not null,
  reply text not null,
  created_at epoch_ms not null,
  primary key (wallet, key)
);
create index idempotency_key_age on idempotency_key (created_at);

-- Projections. An event's weight accumulates; the rest restart from zero each UTC day,
-- and hours serve the 7-day and 30-day windows.
create table event_total (
  event_id text primary key,
  weight bigint not null check (weight >= 0),
  stars bigint not null
);
create table item_day (
  target_type text not null,
  target_id text not null,
  day date not null,
  weight bigint not null check (weight >= 0),
  stars bigint not null,
  primary key (day, target_type, target_id)
);
create table item_hour (
  target_type text not null,
  target_id text not null,
  hour integer not null,
  weight bigint not null check (weight >= 0),
  stars bigint not null,
  primary key (target_type, target_id, hour)
);

-- Accepted means accepted for good: nobody edits or deletes, administrators included.
create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'SB403';
end
$$;
create trigger star_is_append_only before update or delete on star
  for each row execute function refuse_change();
create trigger star_is_never_emptied before truncate on star
  for each statement execute function refuse_change();
create trigger serial_claim_is_kept before delete on serial_claim
  for each row execute function refuse_change();
create trigger serial_claim_is_never_emptied before truncate on serial_claim
  for each statement execute function refuse_change();
create trigger outbox_is_kept before delete on outbox
  for each row execute function refuse_change();
create trigger outbox_is_never_emptied before truncate on outbox
  for each statement execute function refuse_change();
create trigger outbox_message_stands before update of star_id, topic, message on outbox
  for each row when (old.star_id <> new.star_id or old.topic <> new.topic or old.message <> new.message)
  execute function refuse_change();
