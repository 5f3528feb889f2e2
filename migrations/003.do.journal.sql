-- The journal. `star`, `serial_claim` and `outbox` only grow; the totals are projections of them.

-- The order in which to fold stars. A star that lost a race is decided again and draws a new
-- number, so an effect is never numbered before its cause, also where the processes' clocks differ.
create sequence journal_seq;

-- One row per accepted star. `slot` is the star's number within its wallet and UTC day, and so
-- the version of the wallet-day actor: of two processes that decide from the same state, the
-- unique key accepts one.
create table star (
  id uuid not null,
  day date not null,
  wallet bigint not null check (wallet > 0),
  slot smallint not null,
  at epoch_ms not null,
  target_type text not null check (target_type in ('event', 'token', 'collection', 'project')),
  target_id text not null,
  -- Forever mints alone may be starred again on the same day.
  is_forever_mint boolean not null,
  voting_power integer not null check (voting_power >= 1),
  weight integer not null check (weight >= 0),
  base smallint not null check (base >= 0),
  counted_a integer not null check (counted_a >= 0),
  bonus_b smallint not null check (bonus_b >= 0),
  held_a bigint[] not null,
  held_b bigint[] not null,
  -- What it claimed within its event's scope: its part of the machine's next state.
  claimed_a bigint[] not null default '{}',
  claimed_b bigint,
  holdings_read_at epoch_ms not null,
  -- The votes of its day, and the season of the pass that gave them.
  allowance_limit smallint not null,
  season_id uuid,
  -- The version of the rules it was decided under (actors/rules.ts).
  rules smallint not null default 1,
  seq bigint not null default nextval('journal_seq'),
  -- What the star is worth on the season's leaderboard.
  xp smallint not null default 1 constraint star_xp check (xp >= 0),
  primary key (day, id),
  constraint star_slot unique (wallet, day, slot),
  constraint star_within_allowance check (slot between 1 and allowance_limit),
  -- `utc_day(at)`, written out: a function's text would be read anew by each statement that checks it.
  constraint star_dated_by_its_instant check (day = date '1970-01-01' + (at / 86400000)::integer),
  constraint star_weight_adds_up check (weight = base + counted_a + bonus_b),
  constraint star_power_from_holdings check (voting_power >= weight)
) partition by range (day);

-- "One star per wallet per item per UTC day."
create unique index star_once_per_item_and_day on star (wallet, day, target_type, target_id)
  where not is_forever_mint;
create index star_by_target on star (target_type, target_id, at);
-- For readers that follow the journal, and for the export of a day.
create index star_by_seq on star (seq);
create index star_by_day_and_seq on star (day, seq);

-- Makes the partition of the month of a day. Made first and attached then, it locks out neither stars
-- nor readers (`partition of` waits for every reader, and every star for it). Runs with its owner's
-- rights, because the service's role has no DDL.
create function ensure_star_partition(of_day date) returns void
language plpgsql security definer as $$
declare
  first_day date := date_trunc('month', of_day)::date;
  next_first date := (date_trunc('month', of_day) + interval '1 month')::date;
  partition_name text := 'star_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition_name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('ensure_star_partition'));
  if to_regclass(partition_name) is not null then return; end if;
  execute format('create table %I (like star including all)', partition_name);
  execute format('alter table star attach partition %I for values from (%L) to (%L)',
    partition_name, first_day, next_first);
end
$$;

-- Which NFT has counted where. On ordinary events a serial counts once per event and UTC day,
-- whichever wallet brings it. On forever mints (`day` is null) it counts while it is attributed
-- to a wallet; the daily holdings check releases it. A wallet's base 1 on a forever mint is a
-- claim too: `collection` 'base', `serial` the wallet's number.
create table serial_claim (
  event_id text not null,
  day date,
  collection text not null check (collection in ('base', 'A', 'B')),
  serial bigint not null check (serial > 0),
  wallet bigint not null,
  star_id uuid not null,
  released_at epoch_ms,
  -- When the claim took over the +5 from a serial that was sold; null where a star made it.
  anchored_at epoch_ms,
  check (collection <> 'base' or (day is null and serial = wallet and released_at is null))
);
create unique index serial_claim_once_per_day
  on serial_claim (event_id, day, collection, serial) where day is not null;
create unique index serial_claim_live_on_mint
  on serial_claim (event_id, collection, serial) where day is null and released_at is null;
-- The +5 reaches a mint once per wallet.
create unique index serial_claim_one_bonus_per_wallet
  on serial_claim (event_id, wallet) where day is null and released_at is null and collection = 'B';
create index serial_claim_released_on_mint
  on serial_claim (event_id, collection, serial) where day is null and released_at is not null;

-- The ledger message of each star, written with it. The rows are the queue of the publisher.
create table outbox (
  star_id uuid primary key,
  topic text not null check (topic in ('event', 'asset')),
  message text not null check (octet_length(message) between 1 and 1024),
  state text not null default 'pending'
    check (state in ('pending', 'reserved', 'signed', 'sent', 'published')),
  topic_id text,
  transaction_id text,
  sequence_number bigint,
  -- Compared as text: the database's own collation plays no part.
  consensus_timestamp text collate "C",
  running_hash text,
  -- Which worker has the row, and until when.
  lease_owner text,
  lease_until epoch_ms not null default 0,
  tries integer not null default 0,
  next_try_at epoch_ms not null default 0,
  last_error text,
  -- The trace of the request that cast the star, as W3C's header names it; null where none was made.
  traceparent text check (length(traceparent) <= 55),
  -- First handed to a node; read back from a mirror node.
  submitted_at epoch_ms,
  published_at epoch_ms,
  check (state <> 'published' or (topic_id is not null and transaction_id is not null
    and sequence_number is not null and consensus_timestamp is not null and running_hash is not null))
);
-- Star ids are UUIDv7: their order is the order of acceptance.
create index outbox_unpublished on outbox (star_id) where state <> 'published';
-- A million stars that wait for one topic are not read through to find one for the other.
create index outbox_unpublished_by_topic on outbox (topic, star_id) where state <> 'published';
create unique index outbox_sequence on outbox (topic_id, sequence_number) where state = 'published';

-- Whether messages of a project's stars bear a ledger id. In plpgsql a statement that does not get
-- here neither plans it nor waits for its tables. Voters wait meanwhile, so each message is looked up by
-- its star: of a plain join the planner makes a reading of every message there is.
create function is_starred_as(of_project text, of_ledger_id text) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from star
    cross join lateral (select message from outbox where star_id = star.id limit 1) as sent
    where star.target_type = 'project' and star.target_id = of_project
      and sent.message::json ->> 'target_id' = of_ledger_id);
end
$$;

-- Only an accepted star binds a key; its reply is kept byte for byte.
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

-- The totals. An event's weight accumulates; other items start each UTC day at zero, and the
-- hours serve the 7-day and 30-day windows.
create table event_total (
  event_id text primary key,
  weight bigint not null check (weight >= 0),
  stars bigint not null,
  -- How often claims became free: the daily check released them on a forever mint, or a recovery took a
  -- star out. The version of the claims that a star was decided on.
  releases bigint not null default 0
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

-- A star's facts stand. Recovery alone (010.do.recovery.sql) moves its place within its wallet's day,
-- when stars before it come back, and takes it out once it stands among the conflicts.
create trigger star_facts_stand before update on star
  for each row when (old.slot = new.slot or to_jsonb(old) - '{slot,allowance_limit,season_id}'::text[]
    <> to_jsonb(new) - '{slot,allowance_limit,season_id}'::text[])
  execute function refuse_change();
-- What belongs to a star goes only with it.
create function keep_with_star() returns trigger
language plpgsql as $$
declare
  star uuid := coalesce(to_jsonb(old)->>'star_id', to_jsonb(old)->>'id');
begin
  if tg_op = 'DELETE' and exists (select from star_conflict where id = star) then return old; end if;
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'SB403';
end
$$;
call keep_rows('star', 'delete', 'keep_with_star');
call keep_rows('serial_claim', 'delete', 'keep_with_star');
-- A claim changes once: when it is released.
create trigger serial_claim_facts_stand before update on serial_claim
  for each row when (old.released_at is not null or new.released_at is null
    or to_jsonb(old) - 'released_at' <> to_jsonb(new) - 'released_at')
  execute function refuse_change();
call keep_rows('outbox', 'delete');
create trigger outbox_message_stands before update of star_id, topic, message on outbox
  for each row when (old.star_id <> new.star_id or old.topic <> new.topic or old.message <> new.message)
  execute function refuse_change();
