-- Seasons are added and moved beside the voting (011 folded them while everybody waited), and the
-- kind of an event that is starred stands, whoever changes it at the same moment.
--
-- Whoever books XP holds `hold_seasons`, shared, until the commit. So what is booked divides into
-- two at any moment at which nobody books: all that was numbered before is there for good, and
-- all that comes later has a higher number. A fold takes such a place, adds up everything before
-- it while stars go on, and lets voters wait only for what was booked meanwhile.

-- The order of the credits, as `seq` is that of the stars.
create sequence xp_credit_seq;
alter table xp_credit add column seq bigint not null default nextval('xp_credit_seq');
alter sequence xp_credit_seq owned by xp_credit.seq;
create index xp_credit_by_seq on xp_credit (seq);

-- A place in the ledger of XP: the last numbers before it.
create type xp_place as (star bigint, credit bigint);

-- The ledger's end. The lock is gone with the block that took it; the variable stays.
create function xp_end() returns xp_place
language plpgsql as $$
declare
  place xp_place;
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  place := row(nextval('journal_seq'), nextval('xp_credit_seq'));
  raise exception 'nobody waits any longer' using errcode = 'SB001';
exception when sqlstate 'SB001' then
  return place;
end
$$;

-- A season and its instants, before and after; `was` of a new one is empty.
create type season_move as (id uuid, was int8range, becomes int8range);

-- What the move adds to the scores, and takes off them, of all that stands before a place. A
-- wallet whose sums are zero has its row too: the fold of a season has one for whoever earned.
create function xp_before(move season_move, up_to xp_place) returns setof season_score
language sql stable as $$
  select move.id, wallet, sum(sign * points)::bigint, sum(sign * stars)::bigint, sum(sign * weight)::bigint
  from (
    select at, wallet, xp as points, 1 as stars, weight from star
    where seq <= up_to.star
      and day >= utc_day(least(lower(move.was), lower(move.becomes)))
      and day <= utc_day(greatest(upper(move.was), upper(move.becomes)))
    union all
    select at, wallet, points, 0, 0 from xp_credit where seq <= up_to.credit
  ) as fact
  cross join lateral (
    select (at::bigint <@ move.becomes)::integer - (at::bigint <@ move.was)::integer as sign) as moved
  where sign <> 0 group by wallet
$$;

-- The same of what stands between two places: few rows, found by their numbers whatever the
-- planner believes, because voters may be waiting.
create function xp_between(move season_move, after xp_place, up_to xp_place) returns setof season_score
language sql set enable_seqscan = off as $$
  select move.id, wallet, sum(sign * points)::bigint, sum(sign * stars)::bigint, sum(sign * weight)::bigint
  from (
    select at, wallet, xp as points, 1 as stars, weight from star
    where seq > after.star and seq <= up_to.star
    union all
    select at, wallet, points, 0, 0 from xp_credit where seq > after.credit and seq <= up_to.credit
  ) as fact
  cross join lateral (
    select (at::bigint <@ move.becomes)::integer - (at::bigint <@ move.was)::integer as sign) as moved
  where sign <> 0 group by wallet
$$;

-- Adds changes up and onto the scores. Only for rows that nobody else can reach: those of a
-- season not yet visible, or while nobody books.
create function change_scores(changes season_score[]) returns void
language sql as $$
  with change as materialized (
    select season_id, wallet, sum(points)::bigint as points, sum(stars)::bigint as stars,
      sum(weight)::bigint as weight
    from unnest(changes) group by season_id, wallet
  ), known as (
    update season_score score set points = score.points + change.points,
      stars = score.stars + change.stars, weight = score.weight + change.weight
    from change where score.season_id = change.season_id and score.wallet = change.wallet
    returning score.season_id, score.wallet
  )
  insert into season_score (season_id, wallet, points, stars, weight)
  select season_id, wallet, points, stars, weight from change
  where not exists (
    select from known where known.season_id = change.season_id and known.wallet = change.wallet)
$$;

-- Folds the seasons of a statement that are new or lie elsewhere than before.
--
-- The row stays unseen until the commit, and so do the scores of a new season: they are written
-- as they are found. Those of a season that is moved are the voters' as well, so its changes are
-- kept until nobody books: voters then wait for as many rows as change.
create or replace function fold_changed_seasons() returns trigger
language plpgsql as $$
declare
  rounds_max constant integer := 4;
  -- So few take milliseconds.
  few constant integer := 1000;
  last constant xp_place := row(9223372036854775807, 9223372036854775807);
  moves season_move[];
  move season_move;
  place xp_place;
  next_place xp_place;
  changes season_score[] := '{}';
begin
  if tg_op = 'INSERT' then
    moves := array(select row(id, 'empty', int8range(starts_at, ends_at))::season_move
      from changed order by id);
  else
    moves := array(select row(changed.id, coalesce(int8range(was.starts_at, was.ends_at), 'empty'),
        int8range(changed.starts_at, changed.ends_at))::season_move
      from changed left join was on was.id = changed.id
      where (was.starts_at, was.ends_at) is distinct from (changed.starts_at, changed.ends_at)
      order by changed.id);
  end if;
  if cardinality(moves) = 0 then return null; end if;
  -- What others commit until nobody books must be seen: else the sums would lack it, unnoticed.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'seasons are changed at read committed: at % XP would be missed',
      current_setting('transaction_isolation') using errcode = 'SB400';
  end if;

  place := xp_end();
  foreach move in array moves loop
    if tg_op = 'INSERT' then
      insert into season_score select * from xp_before(move, place);
    else
      changes := changes || array(select score from xp_before(move, place) as score);
    end if;
  end loop;
  -- The less there is to catch up, the shorter voters wait in the end.
  for round in 1 .. rounds_max loop
    next_place := xp_end();
    changes := changes || array(
      select score from unnest(moves) as each, xp_between(each, place, next_place) as score);
    if tg_op = 'INSERT' then
      perform change_scores(changes);
      changes := '{}';
    end if;
    exit when next_place.star - place.star + next_place.credit - place.credit <= few;
    place := next_place;
  end loop;
  place := next_place;

  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  changes := changes || array(
    select score from unnest(moves) as each, xp_between(each, place, last) as score);
  perform change_scores(changes);
  if tg_op = 'UPDATE' then
    -- Whoever earned nothing in the season as it lies now has no row in it.
    delete from season_score score using unnest(moves) as each
    where score.season_id = each.id and score.stars = 0
      and score.wallet in (select wallet from unnest(changes))
      and not exists (select from xp_credit
        where xp_credit.wallet = score.wallet and xp_credit.at::bigint <@ each.becomes);
  end if;
  return null;
end
$$;

-- One change of seasons after the other. Else whoever removes a season that is being moved waits
-- for its row and lets all voters wait meanwhile, until the two have each other's locks.
create function change_seasons_in_turn() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('change_seasons'));
  return null;
end
$$;

-- Only who takes a season away still lets all others wait from the beginning. Triggers fire by
-- name: the turn comes first.
drop trigger season_is_changed_alone on season;
create trigger season_is_changed_in_turn before insert or update or delete on season
  for each statement execute function change_seasons_in_turn();
create trigger season_is_removed_alone before delete on season
  for each statement execute function change_seasons();
drop trigger season_is_folded_when_changed on season;
create trigger season_is_folded_when_changed after update on season
  referencing old table as was new table as changed
  for each statement execute function fold_changed_seasons();

-- "Forever mint" or not is the rule by which stars are counted, so it stands once an event is
-- starred. Asked at the commit: stars that are being stored are waited for, later ones wait and
-- then find the new rule, and nobody waits longer than the asking takes.
create function keep_starred_kind() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  if exists (select from event_total where event_id = new.id) then
    raise exception 'event % is starred and cannot come under another rule', new.id
      using errcode = 'SB409';
  end if;
  return null;
end
$$;
create constraint trigger event_keeps_its_kind after update on event
  deferrable initially deferred for each row
  when (old.is_forever_mint <> new.is_forever_mint) execute function keep_starred_kind();

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant usage on sequence xp_credit_seq to starboard_app;
  end if;
end
$$;
