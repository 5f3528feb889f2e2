-- The daily check of forever mints: "removes the weight of … NFTs that the wallet no longer
-- holds". Attributions end here and nowhere else, each at most once; every end is kept with
-- its evidence; and a mint's whole history has one order in which it can be folded again.

-- Stars and releases of a mint in the order of their commits: both draw their number while
-- they hold the mint's row of `event_total`, so the numbers rise exactly as commits follow.
create sequence forever_mint_order;

create table mint_star (
  event_id text not null,
  seq bigint not null default nextval('forever_mint_order'),
  day date not null,
  star_id uuid not null,
  primary key (event_id, seq)
);

-- One run of the check. A scheduled one belongs to its UTC day; of a day there is one.
create table holdings_check_run (
  id uuid primary key,
  day date not null,
  kind text not null check (kind in ('scheduled', 'manual')),
  -- skipped     the day of the very first start counts as checked
  -- running     begun; parts may be deferred until `next_try_at`
  -- done        nothing was left open
  -- incomplete  ended with deferred parts: called by hand, or overtaken by the next day
  state text not null check (state in ('skipped', 'running', 'done', 'incomplete')),
  started_at epoch_ms not null,
  finished_at epoch_ms,
  -- Passes begun, and when the next may begin.
  passes integer not null default 0,
  next_try_at epoch_ms not null default 0,
  -- Who works on it, and until when nobody else may.
  lease_owner text,
  lease_until epoch_ms not null default 0,
  report json,
  check ((state = 'running') = (finished_at is null))
);
create unique index holdings_check_once_a_day on holdings_check_run (day) where kind = 'scheduled';
create index holdings_check_open on holdings_check_run (day) where state = 'running';

-- How far a run is with a mint: what was judged and kept, and what is still open.
create table holdings_check_mint (
  run_id uuid not null references holdings_check_run (id),
  event_id text not null,
  kept integer not null check (kept >= 0),
  -- The parts to look at again (see src/upkeep/holdings-check-judge.ts); empty: done.
  deferred json not null,
  primary key (run_id, event_id)
);

-- Every attribution that ended: of whom, by which run, on what evidence. Those of one number
-- ended together: first all their serials became free, then spares were chosen among the free.
create table claim_release (
  event_id text not null,
  seq bigint not null,
  run_id uuid not null references holdings_check_run (id),
  collection text not null check (collection in ('A', 'B')),
  serial bigint not null check (serial > 0),
  wallet bigint not null,
  -- The star that had brought it.
  star_id uuid not null,
  -- What the mint's total lost.
  weight smallint not null,
  -- The collection B serial that carries the wallet's +5 instead, and those it held to choose from.
  spare bigint,
  held_b bigint[] not null default '{}',
  -- As the mirror node said: in the reading of the whole collection, and of this serial alone.
  owner text,
  deleted boolean not null,
  listed_at epoch_ms not null,
  read_at epoch_ms not null,
  released_at epoch_ms not null,
  primary key (event_id, seq, collection, serial),
  check (read_at >= listed_at),
  check (case collection when 'A' then weight = 1 and spare is null
    else weight = case when spare is null then 5 else 0 end end)
);
create index claim_release_by_run on claim_release (run_id, event_id);

-- Set on a claim that took over the +5 from a sold carrier; null on those that a star made.
alter table serial_claim add column anchored_at epoch_ms;
create index serial_claim_released_on_mint
  on serial_claim (event_id, collection, serial) where day is null and released_at is not null;

-- What is written down stands: a claim changes once, when it is released.
create trigger serial_claim_facts_stand before update on serial_claim
  for each row when (old.released_at is not null or new.released_at is null
    or (old.event_id, old.day, old.collection, old.serial, old.wallet, old.star_id, old.anchored_at)
      is distinct from (new.event_id, new.day, new.collection, new.serial, new.wallet, new.star_id, new.anchored_at))
  execute function refuse_change();
create trigger claim_release_is_append_only before update or delete on claim_release
  for each row execute function refuse_change();
create trigger claim_release_is_never_emptied before truncate on claim_release
  for each statement execute function refuse_change();
create trigger mint_star_is_append_only before update or delete on mint_star
  for each row execute function refuse_change();
create trigger mint_star_is_never_emptied before truncate on mint_star
  for each statement execute function refuse_change();

insert into mint_star (event_id, day, star_id)
select target_id, day, id from star where repeatable order by at, id;

-- Whether an NFT counts on a mint just now, and the serial that carries a wallet's +5 there.
-- Functions of their own, because within a larger query a plan made while the table was small
-- would read all claims of a mint for each star.
create function counts_on_mint(mint text, of_collection text, of_serial bigint) returns boolean
language plpgsql as $$
begin
  perform from serial_claim where event_id = mint and collection = of_collection
    and serial = of_serial and day is null and released_at is null;
  return found;
end
$$;
create function carrier_on_mint(mint text, of_wallet bigint) returns bigint
language plpgsql as $$
begin
  return (select serial from serial_claim where event_id = mint and wallet = of_wallet
    and collection = 'B' and day is null and released_at is null);
end
$$;

-- Numbers the stars of forever mints, and hands back each one that a release has overtaken:
-- it was decided when one of its NFTs still counted, which meanwhile became free. The
-- statement that stores stars fires this when all its parts are done, so the rows of
-- `event_total` are locked and no release comes between.
--
-- Raises SB409 as `cast_stars` does, detail the star ids: decide them again with the truth.
create function keep_mint_order() returns trigger
language plpgsql as $$
declare
  overtaken text;
begin
  insert into mint_star (event_id, day, star_id)
  select target_id, day, id from arrived where repeatable order by target_id, id;
  if not found then return null; end if;

  select string_agg(id::text, E'\n') into overtaken
  from arrived
  where repeatable and case
    -- The usual day: the mint's last release is long past, and every star has seen it. A star
    -- is decided and stored within seconds of its reading; a minute allows for any clock.
    when coalesce((select released_at from claim_release release
      where release.event_id = target_id order by seq desc limit 1), 0) + 60000 < holdings_read_at
      then false
    -- A star that counted all it brought has left nothing behind. (Not by the function: a
    -- wallet may bring hundreds. A subquery for one value stays a look-up by key.)
    when counted_a < cardinality(held_a) and exists (
      select from unnest(held_a) as brought (serial)
      where (select true from serial_claim claim
        where claim.event_id = target_id and claim.collection = 'A'
          and claim.serial = brought.serial and claim.day is null and claim.released_at is null
        limit 1) is null) then true
    when bonus_b = 0 and cardinality(held_b) > 0 or cardinality(held_b) > 1 then exists (
      select from unnest(held_b) as serial
      -- A wallet that carried the +5 before had no use for another; one that spent a serial
      -- for it now had to spend the lowest.
      where serial < case bonus_b when 5 then carrier_on_mint(target_id, wallet)
          else coalesce(0 * carrier_on_mint(target_id, wallet), 9223372036854775807) end
        and not counts_on_mint(target_id, 'B', serial))
    else false
  end;
  if overtaken is not null then
    raise exception 'a serial became free meanwhile' using errcode = 'SB409', detail = overtaken;
  end if;
  return null;
end
$$;
create trigger star_keeps_mint_order after insert on star
  referencing new table as arrived
  for each statement execute function keep_mint_order();

-- An attribution to be ended, on which evidence (columns as in `claim_release`).
create type claim_ending as (
  collection text, serial bigint, wallet bigint, star_id uuid, weight smallint, spare bigint,
  held_b bigint[], owner text, deleted boolean, listed_at bigint, read_at bigint);

-- Ends attributions of one mint: one statement, one commit. `entries` is a JSON array of
-- `claim_ending`, `not_after` as with `cast_stars`.
--
-- Returned are the entries that ended now. One whose attribution has ended already, or is
-- another star's by now, is passed over: whoever repeats a run repeats nothing.
-- Raises SB409, detail `<collection>/<serial>` a line, where an entry was decided on what is
-- no longer so: its wallet has starred the mint since the reading began and brought NFTs of
-- that collection, or its spare was taken, or a lower one became free. Nothing is written then.
--
-- Locks as `cast_stars` does: claims by key, then the total. Should it wait for a star that
-- waits for it, the check gives way before a deadlock is looked for (after a second).
create function release_claims(of_run uuid, mint text, entries json, not_after bigint)
returns table (collection text, serial bigint, total_votes bigint)
language plpgsql set lock_timeout = '500ms' as $$
#variable_conflict use_column
declare
  asked claim_ending[];
  ended claim_ending[] := '{}';
  contested text[] := '{}';
  entry claim_ending;
  total bigint;
  number bigint;
begin
  if now_ms() > not_after then
    raise exception 'the deadline of this batch has passed' using errcode = 'SB408';
  end if;
  select array_agg(entry order by entry.collection, entry.serial) into asked
  from json_populate_recordset(null::claim_ending, entries) as entry;

  foreach entry in array coalesce(asked, '{}') loop
    update serial_claim claim set released_at = now_ms()
    where claim.event_id = mint and claim.collection = entry.collection and claim.serial = entry.serial
      and claim.day is null and claim.released_at is null
      and claim.wallet = entry.wallet and claim.star_id = entry.star_id
      -- Attributed anew since the reading began: not judged by it.
      and coalesce(claim.anchored_at, 0) < entry.listed_at;
    if found then ended := ended || entry; end if;
  end loop;
  if cardinality(ended) = 0 then return; end if;

  insert into serial_claim (event_id, day, collection, serial, wallet, star_id, anchored_at)
  select mint, null, 'B', entry.spare, entry.wallet, entry.star_id, now_ms()
  from unnest(ended) as entry where entry.spare is not null order by entry.spare
  on conflict do nothing;

  update event_total set weight = event_total.weight - (select sum(entry.weight) from unnest(ended) as entry)
  where event_id = mint
  returning event_total.weight into strict total;

  -- From here on no star of this mint commits before this does; those that did are seen.
  foreach entry in array ended loop
    if entry.collection = 'B' and (
        entry.spare is distinct from carrier_on_mint(mint, entry.wallet)
        or exists (select from unnest(entry.held_b) as held (serial)
          where (entry.spare is null or held.serial < entry.spare)
            and not counts_on_mint(mint, 'B', held.serial)))
      or has_starred_since(mint, entry)
    then
      contested := contested || (entry.collection || '/' || entry.serial);
    end if;
  end loop;
  if cardinality(contested) > 0 then
    raise exception 'decided on what is no longer so'
      using errcode = 'SB409', detail = array_to_string(contested, E'\n');
  end if;

  number := nextval('forever_mint_order');
  insert into claim_release (event_id, seq, run_id, collection, serial, wallet, star_id, weight, spare,
    held_b, owner, deleted, listed_at, read_at, released_at)
  select mint, number, of_run, entry.collection, entry.serial, entry.wallet, entry.star_id, entry.weight,
    entry.spare, entry.held_b, entry.owner, entry.deleted, entry.listed_at, entry.read_at, now_ms()
  from unnest(ended) as entry order by entry.collection, entry.serial;
  return query select entry.collection, entry.serial, total from unnest(ended) as entry;
end
$$;

-- Whether a wallet has starred a mint since the reading began and brought the lost serial, or,
-- where the +5 is concerned, any of collection B: its own reading is the newer one then.
create function has_starred_since(mint text, entry claim_ending) returns boolean
language plpgsql as $$
declare
  -- A second of grace: stars and readings are dated by different processes.
  since date := utc_day(greatest(entry.listed_at - 1000, 0));
  today date := utc_day(now_ms());
begin
  while since <= today loop
    perform from star where day = since and wallet = entry.wallet
      and target_type = 'event' and target_id = mint and holdings_read_at >= entry.listed_at
      and case entry.collection when 'A' then entry.serial = any(held_a) else cardinality(held_b) > 0 end;
    if found then return true; end if;
    since := since + 1;
  end loop;
  return false;
end
$$;

-- Finds the run that is due on a UTC day and hands it to one worker, until `at + lease_ms`.
-- Nothing is returned when there is nothing to do: done, not yet time to try again, or in
-- another worker's hands. The first call ever only notes that its day counts as checked.
create function take_holdings_check(of_day date, worker text, at bigint, lease_ms bigint)
returns setof holdings_check_run
language plpgsql as $$
declare
  is_first boolean;
begin
  -- One at a time, else two first starts could each take their day for the first.
  perform pg_advisory_xact_lock(hashtext('take_holdings_check'));
  select not exists (select from holdings_check_run where kind = 'scheduled') into is_first;
  insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
  values (gen_random_uuid(), of_day, 'scheduled', case when is_first then 'skipped' else 'running' end,
    at, case when is_first then at end)
  on conflict (day) where kind = 'scheduled' do nothing;
  -- Overtaken by a newer day, or begun by a command that never came to an end.
  update holdings_check_run set state = 'incomplete', finished_at = at
  where state = 'running' and (case kind when 'scheduled' then day < of_day else lease_until < at end);
  return query
    update holdings_check_run
    set lease_owner = worker, lease_until = at + lease_ms, passes = passes + 1
    where day = of_day and kind = 'scheduled' and state = 'running'
      -- Further ahead than either can be: dated by a clock that has gone back since.
      and (lease_owner = worker or lease_until not between at and at + 2 * lease_ms)
      and next_try_at not between at + 1 and at + 3600000
    returning *;
end
$$;

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert on mint_star, claim_release to starboard_app;
    grant usage on sequence forever_mint_order to starboard_app;
    grant select, insert, update on holdings_check_run, holdings_check_mint to starboard_app;
  end if;
end
$$;
