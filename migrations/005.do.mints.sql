-- Forever mints: the order of their stars and releases, and the daily check that "removes the
-- weight of … NFTs that the wallet no longer holds". A claim ends here and nowhere else, once,
-- and its end is kept with its evidence.

-- Stars and releases of a mint draw their number while they hold the mint's row of `event_total`.
-- So the numbers are in the order of the commits, and the mint's history can be folded by them.
create sequence forever_mint_order;

create table mint_star (
  event_id text not null,
  seq bigint not null default nextval('forever_mint_order'),
  day date not null,
  wallet bigint not null,
  star_id uuid not null,
  primary key (event_id, seq)
);
create index mint_star_by_star on mint_star (day, star_id);
-- For the date of a wallet's last vote on a mint.
create index mint_star_by_wallet on mint_star (event_id, wallet, seq);

-- One run of the check: one scheduled run per UTC day, and those called by hand. A star that ends
-- attributions before the day's check has come by is a run of its own, under the star's id.
create table holdings_check_run (
  id uuid primary key,
  day date not null,
  kind text not null check (kind in ('scheduled', 'manual', 'star')),
  -- skipped     the day of the very first start counts as checked
  -- running     parts may be deferred until `next_try_at`
  -- done        no part is left open
  -- incomplete  ended with deferred parts: called by hand, or the next day has come
  state text not null check (state in ('skipped', 'running', 'done', 'incomplete')),
  started_at epoch_ms not null,
  finished_at epoch_ms,
  -- How many passes have started, and when the next may.
  passes integer not null default 0,
  next_try_at epoch_ms not null default 0,
  -- Which worker has the run, and until when.
  lease_owner text,
  lease_until epoch_ms not null default 0,
  check ((state = 'running') = (finished_at is null))
);
create unique index holdings_check_once_a_day on holdings_check_run (day) where kind = 'scheduled';
create index holdings_check_open on holdings_check_run (day) where state = 'running';

-- How far a run is with a mint.
create table holdings_check_mint (
  run_id uuid not null references holdings_check_run (id),
  event_id text not null,
  kept integer not null check (kept >= 0),
  -- The parts to look at again, as src/upkeep writes them; empty: done.
  deferred json not null,
  primary key (run_id, event_id)
);

-- Every claim that ended. Those of one number ended together: first all their serials became
-- free, then the spares were chosen among the free.
create table claim_release (
  event_id text not null,
  seq bigint not null,
  -- Which of the mint's releases it was: `releases` of `event_total` right after it.
  release bigint not null,
  run_id uuid not null references holdings_check_run (id),
  collection text not null check (collection in ('A', 'B')),
  serial bigint not null check (serial > 0),
  wallet bigint not null,
  -- The star that made the claim.
  star_id uuid not null,
  -- What the mint's total lost.
  weight smallint not null,
  -- The collection B serial that carries the wallet's +5 instead, and those it held to choose from.
  spare bigint,
  held_b bigint[] not null default '{}',
  -- The evidence: the mirror node's answer in the reading of the collection, and of this serial.
  owner text,
  deleted boolean not null,
  listed_at epoch_ms not null,
  read_at epoch_ms not null,
  released_at epoch_ms not null,
  primary key (event_id, seq, collection, serial),
  check (read_at >= listed_at),
  check (weight >= 0 and (collection = 'B' or spare is null))
);
create index claim_release_by_run on claim_release (run_id, event_id);
create index claim_release_by_seq on claim_release (seq);
create index claim_release_by_release on claim_release (event_id, release);
create index claim_release_by_day on claim_release (utc_day(released_at), seq, collection, serial);

call keep_rows('claim_release', 'update or delete', 'keep_with_star');
call keep_rows('mint_star', 'update or delete', 'keep_with_star');

-- Whether an NFT counts on a mint now, and the serial that carries a wallet's +5 there. As
-- functions each is one look-up by key; inside a larger query, a plan made while the table was
-- small reads all claims of the mint for each star.
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

-- A claim to be ended, with its evidence (columns as in `claim_release`). `counted_b` are those of
-- `held_b` that count once all entries have ended, as the machine decided it.
create type claim_ending as (
  collection text, serial bigint, wallet bigint, star_id uuid, weight smallint, spare bigint,
  held_b bigint[], counted_b bigint[], owner text, deleted boolean, listed_at bigint, read_at bigint);

-- Ends those claims of a mint that still stand as `entries`, a JSON array of `claim_ending`, say, and
-- gives them back. An entry whose claim has ended before, or belongs to another star by now, is
-- passed over. The caller takes the weight from the mint's total.
create function end_claims(mint text, entries json) returns claim_ending[]
language plpgsql as $$
declare
  ended claim_ending[] := '{}';
  entry claim_ending;
begin
  for entry in
    select each.* from json_populate_recordset(null::claim_ending, entries) as each
    order by each.collection, each.serial
  loop
    update serial_claim claim set released_at = now_ms()
    where claim.event_id = mint and claim.collection = entry.collection and claim.serial = entry.serial
      and claim.day is null and claim.released_at is null
      and claim.wallet = entry.wallet and claim.star_id = entry.star_id
      -- A claim made since the reading began is not judged by it.
      and coalesce(claim.anchored_at, 0) < entry.listed_at;
    if found then ended := ended || entry; end if;
  end loop;
  insert into serial_claim (event_id, day, collection, serial, wallet, star_id, anchored_at)
  select mint, null, 'B', each.spare, each.wallet, each.star_id, now_ms()
  from unnest(ended) as each where each.spare is not null order by each.spare
  on conflict do nothing;
  return ended;
end
$$;

-- Which ends rest on what has changed, as `<collection>/<serial>`: the wallet has starred the mint
-- since the reading and brought NFTs of that collection, or other NFTs of those it holds count now than
-- the decision knew. Asked while the mint's total is held: stars that committed are visible, others wait.
create function contested_ends(mint text, ended claim_ending[]) returns text[]
language plpgsql as $$
begin
  return array(
    select entry.collection || '/' || entry.serial from unnest(ended) as entry
    where has_starred_since(mint, entry) or (entry.collection = 'B' and (
      entry.spare is distinct from carrier_on_mint(mint, entry.wallet)
      or exists (select from unnest(entry.held_b) as held (serial)
        where counts_on_mint(mint, 'B', held.serial) <> (held.serial = any(entry.counted_b))))));
end
$$;

-- Writes down what ended as the mint's n-th release, under `number`, which was drawn while the mint's
-- total was held. A clock that was set back since the reading dates no release before its evidence.
create function note_ended(
  of_run uuid, mint text, n bigint, number bigint, ended claim_ending[], at bigint default now_ms())
returns void
language sql as $$
  insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight, spare,
    held_b, owner, deleted, listed_at, read_at, released_at)
  select mint, number, n, of_run, entry.collection, entry.serial, entry.wallet, entry.star_id, entry.weight,
    entry.spare, entry.held_b, entry.owner, entry.deleted, entry.listed_at, entry.read_at,
    greatest(at, (select max(read_at) from unnest(ended)))
  from unnest(ended) as entry order by entry.collection, entry.serial
$$;

-- Ends claims of one mint for a run of the check: one statement, one commit. `entries` as with
-- `end_claims`, `not_after` as with `cast_stars`. What ended before is passed over, so a run may be
-- repeated. Raises SB409, detail `<collection>/<serial>` a line, and writes nothing, where an entry
-- is contested.
--
-- Locks in the order of `cast_stars`: claims by key, then the total. If the two still wait for
-- each other, this one gives up first, before Postgres looks for a deadlock (one second). Runs with
-- its owner's rights, as `cast_stars` does.
create function release_claims(of_run uuid, mint text, entries json, not_after bigint) returns void
language plpgsql security definer set lock_timeout = '500ms' as $$
declare
  ended claim_ending[];
  contested text[];
  n bigint;
begin
  if now_ms() > not_after then
    raise exception 'the deadline of this batch has passed' using errcode = 'SB408';
  end if;
  perform hold_seasons();
  ended := end_claims(mint, entries);
  if cardinality(ended) = 0 then return; end if;
  update event_total set releases = releases + 1,
    weight = event_total.weight - (select sum(entry.weight) from unnest(ended) as entry)
  where event_id = mint returning releases into strict n;
  contested := contested_ends(mint, ended);
  if cardinality(contested) > 0 then
    raise exception 'decided on what is no longer so'
      using errcode = 'SB409', detail = array_to_string(contested, E'\n');
  end if;
  perform note_ended(of_run, mint, n, nextval('forever_mint_order'), ended);
end
$$;

-- Ends the claims that a star proves lost, before its statement claims their serials. Returns what
-- the mint's total loses. Raises SB409, `<star> release`, where one stands no longer as the star knew it.
create function end_for_star(star uuid, mint text, entries json) returns bigint
language plpgsql as $$
declare
  ended claim_ending[] := end_claims(mint, entries);
begin
  if cardinality(ended) <> json_array_length(entries) then
    raise exception 'released meanwhile' using errcode = 'SB409', detail = star || ' release';
  end if;
  return (select sum(entry.weight) from unnest(ended) as entry);
end
$$;

-- Writes down what ended with a star, as a run of its own. Raises SB409: `<star> release` where an end
-- is contested, `<star> held` where its wallet has starred since and so held the NFT later.
create function note_ended_for_star(star uuid, mint text, entries json, n bigint, number bigint) returns void
language plpgsql as $$
declare
  ended claim_ending[] := array(
    select entry from json_populate_recordset(null::claim_ending, entries) as entry
    order by entry.collection, entry.serial);
begin
  if exists (select from unnest(ended) as entry where has_starred_since(mint, entry)) then
    raise exception 'brought again since' using errcode = 'SB409', detail = star || ' held';
  end if;
  if cardinality(contested_ends(mint, ended)) > 0 then
    raise exception 'decided on what is no longer so' using errcode = 'SB409', detail = star || ' release';
  end if;
  insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
  values (star, utc_day(now_ms()), 'star', 'done', ended[1].listed_at, now_ms());
  perform note_ended(star, mint, n, number, ended);
end
$$;

-- Whether one of a mint's releases after the n-th concerns a star: its wallet, or an NFT it brings.
-- Others leave its decision as it is, and many buyers at 00:00 UTC do not send each other back. Where one of
-- them is not written down, a recovery took a star out (`set_aside_star`): that concerns every star.
create function is_released_since(mint text, n bigint, up_to bigint, of_wallet bigint, of_a bigint[], of_b bigint[])
returns boolean language plpgsql as $$
begin
  -- Volatile, so it sees what committed while its statement waited for the mint's total.
  return (
    select count(distinct release) < up_to - n
      or coalesce(bool_or(wallet = of_wallet or serial = any(case collection when 'A' then of_a else of_b end)), false)
    from claim_release where event_id = mint and release > n);
end
$$;

-- Whether a wallet has starred a mint since the reading began and brought the lost serial, or,
-- for the +5, any of collection B: then the star's own reading is the newer one.
create function has_starred_since(mint text, entry claim_ending) returns boolean
language plpgsql as $$
declare
  -- Stars and readings are dated by different processes: a second allows for their clocks.
  since date := utc_day(greatest(entry.listed_at - 1000, 0));
  today date := utc_day(now_ms());
begin
  while since <= today loop
    perform from (
      -- In the order of one index, as in `cast_stars`: a plan made on an empty partition would read the day.
      select target_type, target_id, holdings_read_at, held_a, held_b from star
      where day = since and wallet = entry.wallet order by slot
    ) as given
    where target_type = 'event' and target_id = mint and holdings_read_at >= entry.listed_at
      and case entry.collection when 'A' then entry.serial = any(held_a) else cardinality(held_b) > 0 end;
    if found then return true; end if;
    since := since + 1;
  end loop;
  return false;
end
$$;

-- Starts a run by hand, and returns it; where it is to be the only one and a run is in a worker's hands,
-- returns that one.
create function start_holdings_check(
  run uuid, of_day date, worker text, at bigint, lease_ms bigint, is_only boolean)
returns setof holdings_check_run
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('take_holdings_check'));
  return query
    select * from holdings_check_run
    where is_only and state = 'running' and lease_until between at and at + 2 * lease_ms
    order by started_at limit 1;
  if found then return; end if;
  return query
    insert into holdings_check_run (id, day, kind, state, started_at, passes, lease_owner, lease_until)
    values (run, of_day, 'manual', 'running', at, 1, worker, at + lease_ms)
    returning *;
end
$$;

-- Gives the run of a UTC day to one worker, until `at + lease_ms`. Returns nothing when there is
-- nothing to do: the run is done, its next try is not due, or another worker has it. The very
-- first call records its day as checked, unless the journal came back from the ledger.
create function take_holdings_check(of_day date, worker text, at bigint, lease_ms bigint)
returns setof holdings_check_run
language plpgsql as $$
declare
  is_first boolean;
begin
  -- One at a time, or two first starts could both take their day for the first.
  perform pg_advisory_xact_lock(hashtext('take_holdings_check'));
  is_first := not exists (select from holdings_check_run where kind = 'scheduled')
    and not exists (select from recovered_day);
  insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
  values (gen_random_uuid(), of_day, 'scheduled', case when is_first then 'skipped' else 'running' end,
    at, case when is_first then at end)
  on conflict (day) where kind = 'scheduled' do nothing;
  -- A newer day has come, or the command that started the run died: that ended when it last gave a sign of life.
  update holdings_check_run
  set state = 'incomplete', finished_at = case kind when 'scheduled' then at else lease_until - lease_ms end
  where state = 'running' and (case kind when 'scheduled' then day < of_day else lease_until < at end);
  return query
    update holdings_check_run
    set lease_owner = worker, lease_until = at + lease_ms, passes = passes + 1
    where day = of_day and kind = 'scheduled' and state = 'running'
      -- An instant further ahead than possible is ignored: the clock was set back since.
      and (lease_owner = worker or lease_until not between at and at + 2 * lease_ms)
      and next_try_at not between at + 1 and at + 3600000
    returning *;
end
$$;
