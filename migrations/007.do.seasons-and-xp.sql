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
-- exclusively. So each credit either finds the season, or is found by the season's fold.
create function hold_seasons() returns void
language sql volatile as $$ select pg_advisory_xact_lock_shared(hashtext('hold_seasons')) $$;

-- Takes the lock that the trigger names, exclusively, until the commit.
create function take_lock() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext(tg_argv[0]));
  return null;
end
$$;

-- Adds a season's scores up from the ledger again, while voters wait: a repair by hand.
create function fold_season(of_season uuid) returns void
language plpgsql as $$
declare
  span season;
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  delete from season_score where season_id = of_season;
  select * into span from season where id = of_season;
  insert into season_score (season_id, wallet, points, stars, weight)
  select of_season, wallet, sum(points), sum(stars), sum(weight) from xp_ledger
  where at >= span.starts_at and at < span.ends_at
    and day >= utc_day(span.starts_at) and day <= utc_day(span.ends_at)
  group by wallet;
end
$$;

-- A season that is added late or moved is folded beside the voting. Adding up a million stars takes
-- longer than a star may wait (3 s, all of it CPU). But at an instant at which no statement
-- holds the lock, the ledger divides in two: what was numbered before is committed, and what
-- comes later has a higher number. So the fold adds up in parts, each up to such an instant,
-- and makes voters wait for the last, small part alone.

-- A place in the ledger: the last numbers before it.
create type xp_place as (star bigint, credit bigint);

-- The ledger's end at an instant at which no statement holds the lock. The exception rolls back
-- to the start of the block, which releases the lock; the variable keeps its value.
create function xp_end() returns xp_place
language plpgsql as $$
declare
  place xp_place;
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  place := row(nextval('journal_seq'), nextval('xp_credit_seq'));
  raise exception 'release the lock' using errcode = 'SB001';
exception when sqlstate 'SB001' then
  return place;
end
$$;

-- A season and its instants before and after a change; `was` of a new season is empty.
create type season_move as (id uuid, was int8range, becomes int8range);

-- What a move adds to the scores, and takes off them, for all that stands between two places. A
-- wallet whose sums are zero gets a row too. Read by indexes without regard to the planner's
-- estimates, because voters may be waiting.
create function xp_between(move season_move, after xp_place, up_to xp_place) returns setof season_score
language sql set enable_seqscan = off as $$
  select move.id, wallet, sum(sign * points)::bigint, sum(sign * stars)::bigint, sum(sign * weight)::bigint
  from (
    select at, wallet, xp as points, 1 as stars, weight from star
    where seq > after.star and seq <= up_to.star
      and day >= utc_day(least(lower(move.was), lower(move.becomes)))
      and day <= utc_day(greatest(upper(move.was), upper(move.becomes)))
    union all
    select at, wallet, points, 0, 0 from xp_credit where seq > after.credit and seq <= up_to.credit
  ) as fact
  cross join lateral (
    select (at::bigint <@ move.becomes)::integer - (at::bigint <@ move.was)::integer as sign) as moved
  where sign <> 0 group by wallet
$$;

-- Adds changes to the scores. Only for rows that no other transaction can reach: those of a
-- season not yet visible, or while the lock is held exclusively.
create function change_scores(changes season_score[]) returns void
language sql as $$
  merge into season_score as score
  using (
    select season_id, wallet, sum(points)::bigint as points, sum(stars)::bigint as stars,
      sum(weight)::bigint as weight
    from unnest(changes) group by season_id, wallet
  ) as change on score.season_id = change.season_id and score.wallet = change.wallet
  when matched then update set points = score.points + change.points,
    stars = score.stars + change.stars, weight = score.weight + change.weight
  when not matched then insert values (season_id, wallet, points, stars, weight)
$$;

-- Folds the seasons of a statement that are new or have moved. The scores of a new season are
-- invisible until the commit, so each part is written at once. The scores of a season that
-- moves are the voters' too, so its changes are collected and written with the last part.
create function fold_changed_seasons() returns trigger
language plpgsql as $$
declare
  parts_max constant integer := 6;
  -- So few credits take milliseconds.
  few constant integer := 1000;
  moves season_move[];
  after xp_place := row(0, 0);
  up_to xp_place;
  is_last boolean := false;
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
  -- What others commit meanwhile must be visible, or the sums would lack it unnoticed.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'seasons are changed at read committed: at % XP would be missed',
      current_setting('transaction_isolation') using errcode = 'SB400';
  end if;

  for part in 1 .. parts_max loop
    if is_last or part = parts_max then
      is_last := true;
      perform pg_advisory_xact_lock(hashtext('hold_seasons'));
      up_to := row(9223372036854775807, 9223372036854775807);
    else
      up_to := xp_end();
    end if;
    changes := changes || array(
      select score from unnest(moves) as move, xp_between(move, after, up_to) as score);
    if tg_op = 'INSERT' or is_last then perform change_scores(changes); end if;
    exit when is_last;
    if tg_op = 'INSERT' then changes := '{}'; end if;
    is_last := up_to.star - after.star + up_to.credit - after.credit <= few;
    after := up_to;
  end loop;
  if tg_op = 'UPDATE' then
    -- A wallet without a credit in the season as it lies now has no row in it.
    delete from season_score score using unnest(moves) as move
    where score.season_id = move.id and score.stars = 0
      and score.wallet in (select wallet from unnest(changes))
      and not exists (select from xp_credit
        where xp_credit.wallet = score.wallet and xp_credit.at::bigint <@ move.becomes);
  end if;
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
  referencing new table as changed for each statement execute function fold_changed_seasons();
create trigger season_is_folded_when_changed after update on season
  referencing old table as was new table as changed
  for each statement execute function fold_changed_seasons();

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
