-- What others read of the journal: attention, the hand-off to rewards, the daily export.

-- Stars, weight and distinct wallets per item over the last 24 hours, 7 days and 30 days, exact to
-- the millisecond (contract, section 5). The bounds of a window are known before its first row is
-- read, so the partitions of older months are never opened. Wallets are counted of each item's own list: `count(distinct wallet)` beside the sums would sort all stars of
-- the window by item and wallet, which takes longer than reading them.
create view attention as
with clock as materialized (select now_ms() as now)
select item.target_type, item.target_id, span."window", item.stars, item.weight, item.wallets
from (values ('24h', 86400000), ('7d', 604800000), ('30d', 2592000000)) as span ("window", ms)
cross join lateral (
  select target_type, target_id, count(*) as stars, sum(weight) as weight,
    (select count(distinct wallet_of) from unnest(array_agg(wallet)) wallet_of) as wallets
  from star
  where day >= (select utc_day(now - span.ms) from clock) and at > (select now - span.ms from clock)
  group by target_type, target_id
) as item;

-- How far the journal is complete. Numbers are drawn before the commit, so a lower one may become
-- visible after a higher one. But a writer holds a lock on `star` or `event_total` from before
-- it draws a number until its commit. So once none of the `writers` seen with a number is left,
-- every star up to that number is visible, or never will be.
create function journal_head(out star_seq bigint, out release_seq bigint, out writers text[])
language plpgsql as $$
begin
  -- The numbers first: the locks of all who had drawn them are seen afterwards.
  star_seq := (select last_value - (not is_called)::integer from journal_seq);
  release_seq := (select last_value - (not is_called)::integer from forever_mint_order);
  writers := array(
    select distinct virtualtransaction from pg_locks
    where locktype = 'relation' and mode = 'RowExclusiveLock'
      and database = (select oid from pg_database where datname = current_database())
      and relation in ('star'::regclass, 'event_total'::regclass));
end
$$;

-- How far the stars have been handed to the queue `rewards`, in one row.
create table reward_hand_off (
  is_only boolean primary key default true check (is_only),
  -- Redis has accepted every star up to this number …
  offered_seq bigint not null default 0,
  -- … and the consumers have finished every star up to this one.
  finished_seq bigint not null default 0,
  -- A mark that Redis must still have, or it may have lost jobs; null before the first hand-off.
  queue_memory text,
  -- Which worker hands off, and until when.
  lease_owner text,
  lease_until epoch_ms not null default 0,
  check (finished_seq <= offered_seq)
);
insert into reward_hand_off default values;

-- The final export of a day (src/journal/export-format.ts). Its bytes are made from the journal
-- each time; the row says what they must be. It holds the header whole, because settings change.
create table export_day (
  day date primary key,
  header text not null,
  stars bigint not null check (stars >= 0),
  releases bigint not null check (releases >= 0),
  -- Of the whole export.
  bytes bigint not null check (bytes > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  previous text not null check (previous ~ '^[0-9a-f]{64}$'),
  chain text not null,
  finalized_at epoch_ms not null default now_ms(),
  check (chain = encode(sha256(convert_to(previous || sha256, 'UTF8')), 'hex'))
);

-- The settings under which workers last worked on a day, as its header has them
-- (src/journal/export-settings.ts): a day becomes final after it is over, and they may be others by then.
create table export_setting (
  day date primary key,
  settings text not null
);

-- An instant, or the first one after the days that are final: what is dated by it changes no final export.
create function outside_final_days(at bigint) returns bigint
language sql stable as $$
  select greatest(at, (select (max(day) + 1 - date '1970-01-01')::bigint * 86400000 from export_day))
$$;

-- The hash found at the last check of a final day; another than the day's own is an alarm.
create table export_check (
  day date primary key references export_day (day),
  sha256 text not null,
  checked_at epoch_ms not null
);

-- Final days that lacked stars which came back from the ledger (010.do.recovery.sql), as they were.
create table export_day_replaced (
  like export_day,
  replaced_at epoch_ms not null default now_ms(),
  primary key (day, replaced_at)
);
create function keep_final_export() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and exists (select from export_day_replaced replaced
    where replaced.day = old.day and replaced.chain = old.chain) then return old; end if;
  raise exception 'export_day is append-only: % refused', lower(tg_op) using errcode = 'SB403';
end
$$;
call keep_rows('export_day', 'update or delete', 'keep_final_export');
call keep_rows('export_day_replaced', 'update or delete');

-- One chain without a gap.
create function follow_last_export() returns trigger
language plpgsql as $$
begin
  -- Where another worker was faster the primary key decides. Asked in one look with the rest: between
  -- two looks it may become faster.
  if not exists (select from export_day where day = new.day)
    and new.previous is distinct from coalesce(
    (select chain from export_day where day = new.day - 1),
    case when not exists (select from export_day) then repeat('0', 64) end)
    -- A day that is as it was before a loss follows the chain of then.
    and not (new.day - 1 = coalesce((select max(day) from export_day), new.day - 1)
      and exists (select from recovered_day where day in (new.day - 1, new.day)))
  then
    raise exception 'the export of % does not follow the day before', new.day using errcode = 'SB403';
  end if;
  return new;
end
$$;
create trigger export_day_follows before insert on export_day
  for each row execute function follow_last_export();

-- A final day takes no more stars and releases, even if the server's clock is set back over
-- midnight: SB408 with the table `export_day`, until the clock has passed the day again.
create function keep_final_days() returns trigger
language plpgsql as $$
begin
  if tg_table_name = 'claim_release' then
    perform from export_day where day in (select utc_day(released_at) from arrived);
  else
    perform from export_day where day in (select day from arrived);
  end if;
  if found then
    raise exception 'the export of this day is final' using errcode = 'SB408', table = 'export_day';
  end if;
  return null;
end
$$;
create trigger star_keeps_final_days after insert on star
  referencing new table as arrived
  for each statement execute function keep_final_days();
create trigger claim_release_keeps_final_days after insert on claim_release
  referencing new table as arrived
  for each statement execute function keep_final_days();
