-- What others read from the journal as it grows: the hand-off of stars to rewards, and the live
-- counters. Both follow it by `seq`, and the vote pays nothing for them but this index.
--
-- Numbers are drawn before commits, so a lower one may become visible after a higher one. How
-- far the journal is complete, `journal_head` tells exactly and without any clock: whoever has
-- drawn a number of a star or of a release holds a lock on `star` or `event_total` that began
-- before and ends with the commit. So once none of the writers seen after a number are left,
-- every star up to that number is visible, or will never be.
create index star_by_seq on star (seq);
create index claim_release_by_seq on claim_release (seq);

create function journal_head(out star_seq bigint, out release_seq bigint, out writers text[])
language plpgsql as $$
begin
  -- Two statements, in this order: the second sees all who had drawn before the first.
  star_seq := (select last_value - (not is_called)::integer from journal_seq);
  release_seq := (select last_value - (not is_called)::integer from forever_mint_order);
  writers := array(
    select distinct virtualtransaction from pg_locks
    where locktype = 'relation' and mode = 'RowExclusiveLock'
      and database = (select oid from pg_database where datname = current_database())
      and relation in ('star'::regclass, 'event_total'::regclass));
end
$$;

-- How far the stars have been handed to the queue `rewards`: one row, so a star costs nothing.
create table reward_hand_off (
  is_only boolean primary key default true check (is_only),
  -- Redis has accepted every star up to this number of the journal …
  offered_seq bigint not null default 0,
  -- … and up to this one, none was left in the queue that nobody had finished.
  finished_seq bigint not null default 0,
  -- What Redis must remember, or it may have forgotten jobs; null before the first hand-off.
  queue_memory text,
  -- Who hands off, and until when nobody else may.
  lease_owner text,
  lease_until epoch_ms not null default 0,
  check (finished_seq <= offered_seq)
);
insert into reward_hand_off default values;

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select on sequence journal_seq, forever_mint_order to starboard_app;
    grant select, update on reward_hand_off to starboard_app;
  end if;
end
$$;
