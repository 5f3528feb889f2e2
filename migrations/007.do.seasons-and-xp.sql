-- Seasons, premium passes and XP.
--
-- A credit is XP that a wallet earned at an instant: with a star (in the star's own row) or booked
-- from outside (`xp_credit`). It names no season: the season follows from the instant alone, and
-- XP of no season is booked like any other. `season_score` adds the credits up by season and
-- wallet. Each statement that books XP updates it too, and a season that is added or moved
-- is folded from the credits.

-- Seasons never overlap, so the current season is one.
create table season (
  id uuid primary key,
  name text not null,
  starts_at epoch_ms not null,
  ends_at epoch_ms not null,
  check (starts_at < ends_at),
  exclude using gist (int8range(starts_at, ends_at) with &&)
);

-- A paid pass for one season; its extra votes end with the season.
create table premium_pass (
  wallet bigint not null check (wallet > 0),
  season_id uuid not null references season (id),
  granted_at epoch_ms not null,
  primary key (wallet, season_id)
);

-- The order of the credits, as `journal_seq` is that of the stars.
create sequence xp_credit_seq;

-- XP booked by `starboard xp credit`: points of the rewards feature, and corrections (below
-- zero). The key is the caller's name for the credit; it books once.
create table xp_credit (
  key text primary key check (length(key) between 1 and 255),
  wallet bigint not null check (wallet > 0),
  points integer not null check (points <> 0),
  reason text not null check (length(reason) between 1 and 300),
  at epoch_ms not null,
  seq bigint not null default nextval('xp_credit_seq')
);
alter sequence xp_credit_seq owned by xp_credit.seq;
create index xp_credit_by_time on xp_credit (at);
create index xp_credit_by_seq on xp_credit (seq);
create index xp_credit_by_wallet on xp_credit (wallet, at);
call keep_rows('xp_credit', 'update or delete');

-- Every credit: `source` is 'star' or 'credit', `id` the star's id or the key. `stars` and
-- `weight` are what a row adds to these columns of the leaderboard. A condition on `day` leaves
-- partitions of other months unread.
create view xp_ledger as
select day, at, wallet, xp as points, 1 as stars, weight, 'star' as source, id::text as id from star
union all
select utc_day(at), at, wallet, points, 0, 0, 'credit', key from xp_credit;

create table season_score (
  season_id uuid not null references season (id) on delete cascade,
  wallet bigint not null,
  -- Corrections end at zero.
  points bigint not null constraint season_score_not_below_zero check (points >= 0),
  stars bigint not null,
  weight bigint not null,
  primary key (season_id, wallet)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- The leaderboard's order: points, then stars, then the lower account number.
create index season_score_ranking on season_score (season_id, points desc, stars desc, wallet);

-- A statement that books XP takes this lock, shared, until its commit. A change of seasons takes it
-- exclusively. So each credit either finds the season, or is found by the season's fold. What ends
-- claims takes it too: a recovery holds it exclusively.
create function hold_seasons() returns void
language sql volatile as $$ select pg_advisory_xact_lock_shared(hashtext('hold_seasons')) $$;

-- For a fold. What others committed before must be visible after it, or the sums would lack it
-- unnoticed.
create function hold_seasons_alone() returns void
language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'seasons are changed at read committed: at % XP would be missed',
      current_setting('transaction_isolation') using errcode = 'SB400';
  end if;
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
end
$$;

-- Takes the lock that the trigger names, exclusively, until the commit.
create function take_lock() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext(tg_argv[0]));
  return null;
end
$$;

-- A place in the ledger: the last numbers before it.
create type xp_place as (star bigint, credit bigint);

-- What the credits between two places add to a season's scores. Read by indexes without regard to
-- the planner's estimates, because voters may be waiting.
create function xp_between(span season, after xp_place, up_to xp_place) returns setof season_score
language sql set enable_seqscan = off as $$
  select span.id, wallet, sum(points)::bigint, sum(stars)::bigint, sum(weight)::bigint
  from (
    select at, wallet, xp as points, 1 as stars, weight from star
    where seq > after.star and seq <= up_to.star
      and day >= utc_day(span.starts_at) and day <= utc_day(span.ends_at)
    union all
    select at, wallet, points, 0, 0 from xp_credit where seq > after.credit and seq <= up_to.credit
  ) as credit
  where at >= span.starts_at and at < span.ends_at group by wallet
$$;

-- Adds a season's scores up again, while voters wait: a repair by hand, and what a season takes
-- that is moved by hand.
create function fold_season(of_season uuid) returns void
language plpgsql as $$
begin
  perform hold_seasons_alone();
  delete from season_score where season_id = of_season;
  insert into season_score
  select score.* from season,
    xp_between(season, row(0, 0), row(9223372036854775807, 9223372036854775807)) as score
  where season.id = of_season;
end
$$;

create function fold_moved_season() returns trigger
language plpgsql as $$
begin
  perform fold_season(new.id);
  return null;
end
$$;

-- A season that is added is folded beside the voting. Adding up a million stars takes
-- longer than a star may wait (3 s, all of it CPU). But at an instant at which no statement
-- holds the lock, the ledger divides in two: what was numbered before is committed, and what
-- comes later has a higher number. So the fold adds up in parts, each up to such an instant,
-- and makes voters wait for the last, small part alone.

-- The ledger's end at an instant at which no statement holds the lock. The exception rolls back
-- to the start of the block, which releases the lock; the variable keeps its value.
create function xp_end() returns xp_place
language plpgsql as $$
declare
  place xp_place;
begin
  perform hold_seasons_alone();
  place := row(nextval('journal_seq'), nextval('xp_credit_seq'));
  raise exception 'release the lock' using errcode = 'SB001';
exception when sqlstate 'SB001' then
  return place;
end
$$;

-- Folds the seasons that a statement added. Their scores are invisible until the commit, so each
-- part is written at once.
create function fold_added_seasons() returns trigger
language plpgsql as $$
declare
  parts_max constant integer := 6;
  -- So few credits take milliseconds.
  few constant integer := 1000;
  after xp_place := row(0, 0);
  up_to xp_place;
  is_last boolean := not exists (select from added);
begin
  for part in 1 .. parts_max loop
    if is_last or part = parts_max then
      is_last := true;
      perform hold_seasons_alone();
      up_to := row(9223372036854775807, 9223372036854775807);
    else
      up_to := xp_end();
    end if;
    -- No upsert: a part may hold a correction alone, and it checks the row to be inserted, below
    -- zero, before it sees the conflict.
    merge into season_score as score
    using (
      select part.* from added join season on season.id = added.id,
        xp_between(season, after, up_to) as part
    ) as part on score.season_id = part.season_id and score.wallet = part.wallet
    when matched then update set points = score.points + part.points,
      stars = score.stars + part.stars, weight = score.weight + part.weight
    when not matched then insert values (season_id, wallet, points, stars, weight);
    exit when is_last;
    is_last := up_to.star - after.star + up_to.credit - after.credit <= few;
    after := up_to;
  end loop;
  return null;
end
$$;
-- Changes of seasons run one after the other, or two could wait for each other's locks. Triggers
-- fire in the order of their names: the turn comes first. Only the removal of a season holds the
-- lock of the voters from its beginning.
create trigger season_is_changed_in_turn before insert or update or delete on season
  for each statement execute function take_lock('change_seasons');
create trigger season_is_removed_alone before delete on season
  for each statement execute function take_lock('hold_seasons');
create trigger season_is_folded_when_added after insert on season
  referencing new table as added for each statement execute function fold_added_seasons();
create trigger season_is_folded_when_moved after update on season
  for each row when ((old.starts_at, old.ends_at) <> (new.starts_at, new.ends_at))
  execute function fold_moved_season();

-- Books points from outside, once per key. Returns the credit as the key names it, of this call
-- or of an earlier one (the caller compares), with its season, null where none was on.
--
-- Below zero it is a correction of the current season. Raises SB400 where there is none, and
-- where the wallet has fewer points to lose.
create function credit_xp(of_key text, of_wallet bigint, of_points integer, of_reason text)
returns table (wallet bigint, points integer, reason text, at bigint, season_id uuid)
language plpgsql as $$
#variable_conflict use_column
begin
  perform hold_seasons();
  insert into xp_credit (key, wallet, points, reason, at)
  values (of_key, of_wallet, of_points, of_reason, now_ms())
  on conflict do nothing;
  if found then
    if of_points < 0 then
      -- No upsert here: it checks the row to be inserted, below zero, before it sees the conflict.
      update season_score score set points = score.points + of_points
      from season, xp_credit
      where score.wallet = of_wallet and score.season_id = season.id and xp_credit.key = of_key
        and xp_credit.at >= starts_at and xp_credit.at < ends_at and score.points + of_points >= 0;
      if not found then
        raise exception 'no season is on in which 0.0.% has % points to lose', of_wallet, -of_points
          using errcode = 'SB400';
      end if;
    else
      insert into season_score as score (season_id, wallet, points, stars, weight)
      select season.id, of_wallet, of_points, 0, 0 from season, xp_credit
      where xp_credit.key = of_key and xp_credit.at >= starts_at and xp_credit.at < ends_at
      on conflict (season_id, wallet) do update set points = score.points + excluded.points;
    end if;
  end if;
  return query
    select xp_credit.wallet, xp_credit.points, xp_credit.reason, xp_credit.at::bigint, season.id
    from xp_credit left join season on xp_credit.at >= starts_at and xp_credit.at < ends_at
    where xp_credit.key = of_key;
end
$$;
