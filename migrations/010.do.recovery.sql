-- What `starboard journal recover` brings back from the topics into a journal that lost it
-- (src/recovery, docs/operating/recover.md). Only the owner of the schema runs these functions.

-- One statement after the other: a run that was killed may have left one under way, and the next
-- run must see what it wrote. Nor beside a change of seasons: it sums stars up by their numbers, and what
-- comes back may have numbers that it has passed.
create function wait_for_recovery() returns void
language sql volatile as $$
  select pg_advisory_xact_lock(hashtext('recovery'));
  select pg_advisory_xact_lock(hashtext('change_seasons'));
$$;

-- Messages of stars that the journal lacks, as they were read. A row goes with the statement that
-- brings its star back, or once its star has it, so a run that was killed goes on where it stopped.
create table recovery_message (
  topic_id text not null,
  sequence_number bigint not null,
  consensus_timestamp text collate "C" not null,
  running_hash text not null,
  transaction_id text not null,
  star_id uuid not null,
  topic text not null,
  wallet bigint not null,
  at epoch_ms not null,
  day date not null,
  target_type text not null,
  target_id text not null,
  is_forever_mint boolean not null,
  message text not null,
  -- The star that was first on the ledger, where both break one rule.
  conflicts_with uuid,
  primary key (topic_id, sequence_number)
);
create index recovery_message_by_day on recovery_message (day, at, star_id);
create index recovery_message_by_star on recovery_message (star_id);
create index recovery_message_by_wallet on recovery_message (wallet, day);

-- Stars that were accepted because the journal had forgotten others, and break a rule beside them.
-- They count in no total and keep their receipt. Columns as in `star`.
create table star_conflict (
  like star,
  -- The star that was first on the ledger.
  conflicts_with uuid not null,
  noted_at epoch_ms not null default now_ms(),
  primary key (id)
);
create index star_conflict_by_day on star_conflict (day, id);
call keep_rows('star_conflict', 'update or delete');

-- Days that got stars back. Their final export may be another one than before the loss.
create table recovered_day (
  day date primary key,
  recovered_at epoch_ms not null default now_ms()
);

-- Gives stars that were still to be published the place that their message has: of two, the first one.
-- The messages themselves stay taken in. Returns how many there were, and how many of them were adopted.
create function adopt_messages(stars_max integer, out waiting bigint, out adopted bigint)
language plpgsql as $$
begin
  perform wait_for_recovery();
  with found as materialized (
    select distinct on (said.star_id) said.* from recovery_message said join outbox using (star_id)
    where outbox.state <> 'published' and outbox.message = said.message
    order by said.star_id, said.consensus_timestamp limit stars_max
  ), locked as materialized (
    -- In the order of the stars, as by the steps of publishing and the readings of topics.
    select star_id from outbox where star_id in (select star_id from found) order by star_id for update
  ), closed as (
    update publish_attempt attempt set closed_at = now_ms(), signed_bytes = null,
      outcome = case when attempt.transaction_id = found.transaction_id then 'published'
        when attempt.sends = 0 then 'never sent' else 'absent' end,
      evidence = found.topic_id || ' #' || found.sequence_number
    from found join locked using (star_id) where attempt.star_id = found.star_id and attempt.closed_at is null
  ), published as (
    update outbox set state = 'published', topic_id = found.topic_id,
      transaction_id = found.transaction_id, sequence_number = found.sequence_number,
      consensus_timestamp = found.consensus_timestamp, running_hash = found.running_hash,
      published_at = now_ms(), lease_owner = null, lease_until = 0, last_error = null
    -- A worker that reads the topic may have been faster.
    from found join locked using (star_id) where outbox.star_id = found.star_id and outbox.state <> 'published'
    returning outbox.star_id
  ), resolved as (
    update publishing_finding finding set resolved_at = now_ms() from found join published using (star_id)
    where finding.topic_id = found.topic_id and finding.sequence_number = found.sequence_number
      and finding.resolved_at is null and finding.kind <> 'broken chain'
  )
  select (select count(*) from found), (select count(*) from published) into waiting, adopted;
end
$$;

-- Takes a star out of the journal that was accepted after a loss and breaks a rule beside a star
-- that came first on the ledger: what it added is taken off again, and it stands among the
-- conflicts from now on. Called while seasons are held alone, so no star is cast and no claim ends
-- (`cast_stars` and `release_claims` hold them too): stars after it move up, and one cast meanwhile would stand
-- behind a gap for the rest of its day; a +5 that is moved meanwhile would stay.
create function set_aside_star(of_star uuid, of_day date, first_star uuid) returns void
language plpgsql as $$
declare
  gone star;
  claimed record;
  later record;
  ended bigint;
  spares bigint[];
begin
  select * into strict gone from star where day = of_day and id = of_star;
  insert into star_conflict select gone.*, first_star, now_ms();
  delete from mint_star where day = of_day and star_id = of_star;
  -- The weight of NFTs that have left its wallet since went from the total then.
  with taken as (
    delete from claim_release
    where gone.is_forever_mint and event_id = gone.target_id and star_id = of_star returning weight, spare
  )
  select coalesce(sum(weight), 0), array_agg(spare) into ended, spares from taken;
  -- By the keys of its claims, one by one: no index finds them by the star.
  for claimed in
    select 'base' as collection, gone.wallet as serial
    union all select 'A', unnest(gone.claimed_a)
    union all select 'B', unnest(gone.claimed_b || spares)
  loop
    delete from serial_claim where event_id = gone.target_id and collection = claimed.collection
      and serial = claimed.serial and star_id = of_star and (day = of_day
        or day is null and released_at is null or day is null and released_at is not null);
  end loop;
  delete from star where day = of_day and id = of_star;
  -- The places of a wallet's day have no gap: the next star's place follows from their number.
  for later in select id, slot from star
    where day = of_day and wallet = gone.wallet and slot > gone.slot order by slot
  loop
    update star set slot = later.slot - 1 where day = of_day and id = later.id;
  end loop;
  if gone.target_type = 'event' then
    update event_total set weight = weight - (gone.weight - ended), stars = stars - 1, releases = releases + 1
    where event_id = gone.target_id;
  else
    update item_day set weight = weight - gone.weight, stars = stars - 1
    where day = gone.day and target_type = gone.target_type and target_id = gone.target_id;
    update item_hour set weight = weight - gone.weight, stars = stars - 1
    where target_type = gone.target_type and target_id = gone.target_id and hour = (gone.at / 3600000)::integer;
  end if;
  -- Points that a correction has taken since are not taken twice.
  insert into xp_credit (key, wallet, points, reason, at)
  select 'set aside ' || of_star, gone.wallet, gone.xp - points, 'corrected before the star was set aside', gone.at
  from season_score join season on season.id = season_id
  where wallet = gone.wallet and gone.at >= starts_at and gone.at < ends_at and points < gone.xp;
  update season_score score set points = greatest(score.points - gone.xp, 0), stars = score.stars - 1,
    weight = score.weight - gone.weight
  from season where season.id = score.season_id and score.wallet = gone.wallet
    and gone.at >= starts_at and gone.at < ends_at;
end
$$;

-- When a star's message reached consensus; a text after all others while none is known.
create function consensus_of(of_star uuid) returns text
language sql stable as $$
  select coalesce((select consensus_timestamp from outbox where star_id = of_star),
    (select min(consensus_timestamp) from recovery_message where star_id = of_star), '~')
$$;

-- "One star per wallet per item per UTC day": the stars, taken in or of the journal, that repeat one which
-- was first on the ledger. A second message of a star that has one is no star.
create function repeats() returns table (id uuid, day date, first_star uuid, is_taken_in boolean)
language sql stable as $$
  select id, day, first_star, is_taken_in
  from (
    select id, day, is_taken_in, first_value(id) over (partition by wallet, day, target_type, target_id
      order by consensus_timestamp) as first_star
    from (
      select star_id as id, wallet, day, target_type, target_id, consensus_timestamp, true as is_taken_in
      from recovery_message said where not is_forever_mint and conflicts_with is null
        and not exists (select from outbox where outbox.star_id = said.star_id and state = 'published')
      union all
      select star.id, star.wallet, star.day, star.target_type, star.target_id,
        coalesce(outbox.consensus_timestamp, '~'), false
      from star join outbox on outbox.star_id = star.id
      where not star.is_forever_mint and (star.wallet, star.day) in (select wallet, day from recovery_message)
    ) as known
  ) as placed
  where id <> first_star
$$;

-- Sets those of the journal aside. Returns how many.
create function settle_repeats() returns bigint
language plpgsql as $$
begin
  perform wait_for_recovery();
  perform hold_seasons_alone();
  -- In one order: what is set aside changes the places of the wallet's later stars.
  return (select count(set_aside_star(id, day, first_star))
    from (select * from repeats() where not is_taken_in order by id) as repeated);
end
$$;

-- Days that became final without stars that come back, and those after them, are final no more:
-- what they were is kept.
create function reopen_days() returns void
language plpgsql as $$
declare
  first_day date;
begin
  perform wait_for_recovery();
  first_day := (select min(day) from recovery_message said
    where not exists (select from outbox where outbox.star_id = said.star_id));
  insert into export_day_replaced select * from export_day where day >= first_day;
  delete from export_check where day >= first_day;
  delete from export_day where day >= first_day;
  insert into recovered_day (day) select distinct day from export_day_replaced
  on conflict do nothing;
end
$$;

-- A star as `recover_stars` is given it: as its message, its export or the machines tell it. What
-- is null is found here: `seq` and `mint_seq` are drawn, the allowance is that of the pass in
-- force, or proved by the number of stars.
create type recovered_star as (
  id uuid, day date, wallet bigint, at bigint, target_type text, target_id text, is_forever_mint boolean,
  voting_power integer, weight integer, base smallint, counted_a integer, bonus_b smallint,
  held_a bigint[], held_b bigint[], claimed_a bigint[], claimed_b bigint, holdings_read_at bigint,
  allowance_limit smallint, season_id uuid, free_votes smallint, premium_votes smallint,
  rules smallint, xp smallint, seq bigint, mint_seq bigint,
  -- The place on its mint of the star that gave way to it.
  freed_seq bigint);

-- The place of a star among those of its wallet's day by its instant, and how many there are. `was` is
-- its place now; null: the journal lacks it.
create type place_of_star as (
  id uuid, wallet bigint, day date, at bigint, was bigint, slot bigint, used bigint);

-- The places of every star of some wallets' days, those taken in included. A place counts only stars that the
-- journal has or is given now: with `serve` up, wallets star on between the pieces, and behind no gap.
create function places_of_days(stars recovered_star[]) returns setof place_of_star
language sql stable as $$
  select known.id, known.wallet, known.day, known.at, known.was,
    row_number() over (partition by known.wallet, known.day, known.is_here order by known.at, known.id),
    count(*) over (partition by known.wallet, known.day)
  from (
    select id, wallet, day, at, max(was) as was, bool_or(is_here) as is_here
    from (
      select said.star_id as id, said.wallet, said.day, said.at::bigint as at, null::bigint as was,
        said.star_id in (select each.id from unnest(stars) as each) as is_here
      from recovery_message said
      where (said.wallet, said.day) in (select each.wallet, each.day from unnest(stars) as each)
        and said.conflicts_with is null
        and not exists (select from outbox where outbox.star_id = said.star_id and state = 'published')
      union all
      select star.id, star.wallet, star.day, star.at::bigint, star.slot, true from star
      where (star.wallet, star.day) in (select each.wallet, each.day from unnest(stars) as each)
    ) as every
    group by id, wallet, day, at
  ) as known
$$;

-- The votes of a wallet's day, and the season whose pass gave them. More stars than a day has
-- without a pass prove one; where its season is not known, the nil id stands for it.
create function proved_allowance(star recovered_star, of_at bigint, used bigint, out votes smallint, out season uuid)
language plpgsql stable as $$
begin
  season := (select pass.season_id from premium_pass pass join season on season.id = pass.season_id
    where pass.wallet = star.wallet and starts_at <= of_at and of_at < ends_at);
  if season is null and used > star.free_votes then
    season := coalesce((select season.id from season where starts_at <= of_at and of_at < ends_at),
      '00000000-0000-0000-0000-000000000000');
  end if;
  votes := case when season is null then star.free_votes else star.premium_votes end;
end
$$;

-- The stars for which their wallets' days have no vote left become conflicts: the last ones on the
-- ledger, for a clock that was behind may have dated them too early. Marks those taken in, and sets those
-- of the journal aside. Returns how many were set aside.
create function settle_days(stars recovered_star[], places place_of_star[]) returns bigint
language sql as $$
  with late as materialized (
    select id, day, was, first_star from (
      select place.id, place.day, place.was, place.used - one.premium_votes as too_many,
        row_number() over (partition by place.wallet, place.day
          order by consensus_of(place.id) collate "C" desc, place.id desc) as from_last,
        first_value(place.id) over (partition by place.wallet, place.day
          order by consensus_of(place.id) collate "C", place.id) as first_star
      from unnest(places) as place
      cross join lateral (select each.premium_votes from unnest(stars) as each
        where each.wallet = place.wallet and each.day = place.day limit 1) as one
      where place.used > one.premium_votes
    ) as ranked
    where from_last <= too_many
  ), marked as (
    update recovery_message said set conflicts_with = first_star from late
    where late.was is null and said.star_id = late.id
  )
  select count(set_aside_star(id, day, first_star)) from (select * from late where was is not null order by id) as beyond
$$;

-- Stars that the journal has move behind those that came before them, and close gaps of conflicts.
create function move_slots(stars recovered_star[], places place_of_star[]) returns void
language plpgsql as $$
declare
  moved record;
begin
  for moved in
    select place.id, place.day, place.slot, votes, season
    from unnest(places) as place
    cross join lateral (select each as first from unnest(stars) as each
      where each.wallet = place.wallet and each.day = place.day limit 1) as one
    cross join lateral proved_allowance(one.first, place.at, place.used)
    where place.was <> place.slot
    -- No two stand in one place meanwhile: those that move up go from the last, the others from the first.
    order by place.wallet, place.day, place.slot * sign(place.was - place.slot)
  loop
    update star set slot = moved.slot,
      allowance_limit = case when moved.slot > allowance_limit then moved.votes else allowance_limit end,
      season_id = case when moved.slot > allowance_limit then moved.season else season_id end
    where day = moved.day and id = moved.id;
  end loop;
end
$$;

-- What a star claims on its event.
create function claims_of(star recovered_star) returns table (collection text, serial bigint)
language sql immutable as $$
  select 'base', star.wallet where star.is_forever_mint and star.base > 0
  union all select 'A', unnest(star.claimed_a)
  union all select 'B', star.claimed_b where star.claimed_b is not null
$$;

-- The claims of the journal that stars taken in make too; the +5 reaches a mint once per wallet, by whichever NFT.
create function claims_met(stars recovered_star[])
returns table (claimant uuid, claimed_at bigint, star_id uuid, day date)
language sql stable as $$
  select each.id, each.at, met.star_id, utc_day(instant_of_star_id(met.star_id))
  from unnest(stars) as each
  cross join lateral claims_of(each) as wanted
  cross join lateral (
    select claim.star_id from serial_claim claim
    where not each.is_forever_mint and claim.event_id = each.target_id and claim.day = each.day
      and claim.collection = wanted.collection and claim.serial = wanted.serial
    union all
    select claim.star_id from serial_claim claim
    where each.is_forever_mint and claim.event_id = each.target_id and claim.day is null
      and claim.released_at is null and claim.collection = wanted.collection and claim.serial = wanted.serial
    union all
    select claim.star_id from serial_claim claim
    where each.is_forever_mint and claim.event_id = each.target_id and claim.day is null
      and claim.released_at is null and claim.collection = 'B' and wanted.collection = 'B'
      and claim.wallet = each.wallet
  ) as met
  where each.target_type = 'event' and met.star_id <> each.id
$$;

-- Those stars of the journal whose NFTs a recovered star had counted before them, by its instant or,
-- where a clock was behind, by its place on the ledger.
create function beaten_by(stars recovered_star[])
returns table (star_id uuid, day date, first_star uuid)
language sql stable as $$
  select distinct on (star.id) star.id, star.day, met.claimant
  from claims_met(stars) as met
  join star on star.day = met.day and star.id = met.star_id
  where star.at > met.claimed_at or consensus_of(met.claimant) < consensus_of(star.id) collate "C"
  order by star.id, met.claimed_at
$$;

-- Sets them aside, and returns how many. A star taken in whose NFTs are still counted then, by the journal or
-- by an earlier one of those taken in, is a conflict itself: its export came from another server.
create function settle_claims(stars recovered_star[]) returns bigint
language plpgsql as $$
declare
  settled bigint;
begin
  select count(set_aside_star(star_id, day, first_star)) into settled from beaten_by(stars);
  update recovery_message said set conflicts_with = met.star_id
  from claims_met(stars) as met where said.star_id = met.claimant;
  update recovery_message said set conflicts_with = earlier.id
  from unnest(stars) as earlier cross join lateral claims_of(earlier) as had,
    unnest(stars) as later cross join lateral claims_of(later) as wanted
  where (had = wanted or earlier.is_forever_mint and earlier.wallet = later.wallet
      and had.collection = 'B' and wanted.collection = 'B')
    and earlier.target_type = 'event' and later.target_type = 'event'
    and earlier.target_id = later.target_id and (earlier.is_forever_mint or earlier.day = later.day)
    and (earlier.at, earlier.id) < (later.at, later.id) and said.star_id = later.id;
  return settled;
end
$$;

-- With `serve` up, wallets may have starred the same items since all repeats were settled: those stars are set
-- aside too. Returns how many.
create function settle_new_repeats(stars recovered_star[]) returns bigint
language sql as $$
  select count(set_aside_star(other.id, each.day, each.id))
  from unnest(stars) as each
  cross join lateral (
    -- In the order of one index: a partition that just grew has no statistics by which to choose it.
    select id, target_type, target_id, is_forever_mint from star
    where star.wallet = each.wallet and star.day = each.day order by slot offset 0) as other
  where not each.is_forever_mint and not other.is_forever_mint and other.id <> each.id
    and other.target_type = each.target_type and other.target_id = each.target_id
    and consensus_of(each.id) < consensus_of(other.id) collate "C"
$$;

-- A star of a mint takes the place of the first one that gives way to it: later ones were decided beside that.
create function take_their_places(stars recovered_star[]) returns recovered_star[]
language sql stable as $$
  select array_agg(jsonb_populate_record(each, jsonb_build_object('freed_seq', freed.seq)))
  from unnest(stars) as each
  left join (
    select first_star, min(seq) as seq
    from beaten_by(stars) as beaten join mint_star using (day, star_id) group by first_star
  ) as freed on freed.first_star = each.id
$$;

-- Those that are no conflicts.
create function without_conflicts(stars recovered_star[]) returns recovered_star[]
language sql stable as $$
  select array_agg(each) from unnest(stars) as each where not exists (
    select from recovery_message said where said.star_id = each.id and said.conflicts_with is not null)
$$;

-- Writes recovered stars into the journal, at their places, and has them offered to rewards.
create function write_recovered(stars recovered_star[], places place_of_star[]) returns void
language sql as $$
  select setval('journal_seq', greatest((select last_value from journal_seq), max(each.seq)))
  from unnest(stars) as each having max(each.seq) is not null;
  select setval('forever_mint_order', greatest((select last_value from forever_mint_order), max(each.mint_seq)))
  from unnest(stars) as each having max(each.mint_seq) is not null;
  insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
    weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b, holdings_read_at,
    allowance_limit, season_id, rules, seq, xp)
  select each.id, each.day, each.wallet, place.slot, each.at, target_type, target_id, is_forever_mint,
    voting_power, weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b, holdings_read_at,
    case when place.slot <= allowance_limit then allowance_limit else proved.votes end,
    case when place.slot <= allowance_limit then season_id else proved.season end, rules,
    case when seq is null or exists (select from star as other where other.seq = each.seq)
      then nextval('journal_seq') else seq end, xp
  from unnest(stars) as each
  join unnest(places) as place on place.id = each.id
  cross join lateral proved_allowance(each, each.at, place.used) as proved
  order by coalesce(seq, 0), each.at, each.id;
  -- A sequence may stand further than the stars, and the hand-off to rewards goes as far as it stands. A
  -- worker that is at it loses its lease: it has not seen these stars.
  update reward_hand_off set offered_seq = least(offered_seq, lowest - 1),
    finished_seq = least(finished_seq, lowest - 1), lease_owner = null, lease_until = 0
  from (select min(star.seq) as lowest from unnest(stars) as each join star using (day, id)) as back
  where lowest is not null;
$$;

-- Brings stars back whose messages were taken in, with everything that `cast_stars` writes: one
-- statement, one commit. Each is written once. Returns how many stars, and how many as conflicts.
create function recover_stars(given json, out recovered bigint, out conflicts bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  offered recovered_star[];
  kept recovered_star[];
  places place_of_star[];
  settled bigint;
  moved_out bigint;
begin
  perform wait_for_recovery();
  -- No process reads a topic on meanwhile: what is not committed yet would be a finding, and stay one.
  lock table topic_reading in share mode;
  perform hold_seasons_alone();
  select array_agg(each order by each.at, each.id) into offered
  from json_populate_recordset(null::recovered_star, given) as each
  where exists (select from recovery_message said where said.star_id = each.id)
    and not exists (select from outbox where outbox.star_id = each.id);
  perform ensure_star_partition(day)
    from (select distinct each.day from unnest(offered) as each) as days;
  kept := take_their_places(without_conflicts(offered));
  settled := settle_claims(kept) + settle_new_repeats(kept);
  kept := without_conflicts(kept);
  moved_out := settle_days(kept, array(select place from places_of_days(kept) as place));
  kept := without_conflicts(kept);
  -- Of the conflicts' days too: an earlier piece may have left them a place.
  places := array(select place from places_of_days(offered) as place);
  perform move_slots(offered, places);
  perform write_recovered(kept, places);
  insert into star_conflict
  select distinct on (each.id) gone.*, said.conflicts_with
  from unnest(offered) as each join recovery_message said on said.star_id = each.id
  cross join lateral jsonb_populate_record(null::star, to_jsonb(each) || jsonb_build_object('slot', 1,
    'allowance_limit', coalesce(allowance_limit, free_votes), 'seq', nextval('journal_seq'))) as gone
  where said.conflicts_with is not null;

  perform count_recovered(kept);
  insert into outbox (star_id, topic, message, state, topic_id, transaction_id, sequence_number,
    consensus_timestamp, running_hash, published_at)
  select distinct on (said.star_id) said.star_id, topic, message, 'published', topic_id, transaction_id,
    sequence_number, consensus_timestamp, running_hash, now_ms()
  from unnest(offered) as each join recovery_message said on said.star_id = each.id
  order by said.star_id, said.consensus_timestamp;
  update publishing_finding finding set resolved_at = now_ms()
  from unnest(offered) as each join recovery_message said on said.star_id = each.id
  where finding.topic_id = said.topic_id and finding.sequence_number = said.sequence_number
    and finding.resolved_at is null and finding.kind <> 'broken chain';
  -- A second message of a star stays, and is reported.
  delete from recovery_message said using unnest(offered) as each join outbox on outbox.star_id = each.id
  where (said.topic_id, said.sequence_number) = (outbox.topic_id, outbox.sequence_number);
  insert into recovered_day (day) select distinct each.day from unnest(offered) as each
  on conflict do nothing;
  recovered := coalesce(cardinality(kept), 0);
  conflicts := coalesce(cardinality(offered), 0) - recovered + settled + moved_out;
end
$$;

-- The place of what comes back in its mint's history: the one that its export names, where that is free and
-- nothing that happened earlier stands behind it; else the place that was freed for it, or the end.
create function free_mint_place(mint text, exported bigint, freed bigint, of_instant bigint) returns bigint
language sql as $$
  select case when exported is null or freed < exported
      or exists (select from mint_star where event_id = mint and seq >= exported
        and (seq = exported or instant_of_star_id(star_id) < of_instant))
      or exists (select from claim_release where event_id = mint and seq >= exported
        and (seq = exported or released_at < of_instant))
    then coalesce(freed, nextval('forever_mint_order')) else exported end
$$;

-- Claims, totals, places on mints and points of recovered stars, as `cast_stars` writes them.
create function count_recovered(stars recovered_star[]) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
  select target_id, case when is_forever_mint then null else day end, claim.collection, claim.serial, wallet, id
  from unnest(stars) as each cross join lateral claims_of(each) as claim
  where target_type = 'event';
  insert into event_total as total (event_id, weight, stars)
  select target_id, sum(weight), count(*) from unnest(stars) where target_type = 'event'
  group by target_id order by target_id
  on conflict (event_id) do update
    set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars;
  insert into mint_star (event_id, seq, day, wallet, star_id)
  select target_id, free_mint_place(target_id, mint_seq, freed_seq, each.at), day, wallet, id
  from unnest(stars) as each where is_forever_mint order by freed_seq, coalesce(mint_seq, 0), each.at, id;
  insert into item_day as total (target_type, target_id, day, weight, stars)
  select target_type, target_id, day, sum(weight), count(*) from unnest(stars)
  where target_type <> 'event'
  group by target_type, target_id, day order by day, target_type, target_id
  on conflict (day, target_type, target_id) do update
    set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars;
  insert into item_hour as total (target_type, target_id, hour, weight, stars)
  select target_type, target_id, (at / 3600000)::integer, sum(weight), count(*) from unnest(stars)
  where target_type <> 'event'
  group by target_type, target_id, 3 order by target_type, target_id, 3
  on conflict (target_type, target_id, hour) do update
    set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars;
  insert into season_score as score (season_id, wallet, points, stars, weight)
  select season.id, wallet, sum(xp), count(*), sum(weight)
  from unnest(stars) as each join season on each.at >= starts_at and each.at < ends_at
  group by season.id, wallet order by season.id, wallet
  on conflict (season_id, wallet) do update
    set points = score.points + excluded.points, stars = score.stars + excluded.stars,
      weight = score.weight + excluded.weight;
end
$$;

-- Brings attributions back that the daily check had ended together, as an export tells them.
-- `given` is a JSON array of one `mintOrder`; the columns are those of `claim_release`, with
-- `check_day`. Returns whether it was written: it is once, and only where the claims stand and nothing else has
-- the spares. Meanwhile no star is cast and no other claim ends, or one might be placed between, or end the same.
create function recover_release(given json) returns boolean
language plpgsql as $$
declare
  said claim_release := json_populate_record(null::claim_release, given->0);
  ended claim_ending[] := array(select each from json_populate_recordset(null::claim_ending, given) as each);
  number bigint;
  n bigint;
begin
  perform wait_for_recovery();
  perform hold_seasons_alone();
  perform from unnest(ended) as each join claim_release known using (collection, serial)
    where known.run_id = said.run_id and known.event_id = said.event_id;
  if found then return false; end if;
  perform from unnest(ended) as each where not exists (select from serial_claim claim
    where claim.event_id = said.event_id and claim.collection = each.collection and claim.serial = each.serial
      and claim.star_id = each.star_id and claim.day is null and claim.released_at is null);
  if found then return false; end if;
  perform from unnest(ended) as each join serial_claim claim on claim.event_id = said.event_id
    and claim.collection = 'B' and claim.serial = each.spare and claim.day is null and claim.released_at is null
    where each.spare not in (select serial from unnest(ended) where collection = 'B');
  if found then return false; end if;
  -- A star's own run bears its id; the star comes back right after it.
  insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
  values (said.run_id, (given->0->>'check_day')::date,
    case when exists (select from recovery_message where star_id = said.run_id)
      or exists (select from outbox where star_id = said.run_id) then 'star' else 'manual' end,
    'done', said.listed_at, said.released_at)
  on conflict do nothing;
  -- A star behind its place that brought what becomes free was decided without that, and stays before it. Not so
  -- where the star that proved the end still comes back, and takes it again; nor where the star behind gives way
  -- itself, as a wallet's first star on a mint does to an earlier one that still comes back.
  if exists (
    select from mint_star behind join star on star.day = behind.day and star.id = behind.star_id,
      unnest(ended) as each
    where behind.event_id = said.event_id and behind.seq > said.seq and case each.collection
      when 'A' then each.serial = any(star.held_a) and each.serial <> all(star.claimed_a)
      else star.claimed_b is null and (each.serial = any(star.held_b)
        or each.spare is null and star.wallet = each.wallet and cardinality(star.held_b) > 0) end
      and not exists (
        select from recovery_message lost where lost.target_type = 'event' and lost.target_id = said.event_id
          and (lost.star_id = said.run_id or lost.wallet = star.wallet and star.base > 0)
          and not exists (select from outbox where outbox.star_id = lost.star_id))
  ) then said.seq := null; end if;
  number := free_mint_place(said.event_id, said.seq, null, said.released_at);
  perform setval('forever_mint_order', greatest((select last_value from forever_mint_order), number));
  update serial_claim claim set released_at = said.released_at from unnest(ended) as each
  where claim.event_id = said.event_id and claim.collection = each.collection
    and claim.serial = each.serial and claim.day is null and claim.released_at is null;
  insert into serial_claim (event_id, day, collection, serial, wallet, star_id, anchored_at)
  select said.event_id, null, 'B', spare, wallet, star_id, said.released_at
  from unnest(ended) where spare is not null;
  update event_total set releases = releases + 1,
    weight = event_total.weight - (select sum(each.weight) from unnest(ended) as each)
  where event_id = said.event_id returning releases into n;
  perform note_ended(said.run_id, said.event_id, n, number, ended, said.released_at);
  return true;
end
$$;
