-- XP and the season's leaderboard. A fact is a credit: a wallet earned points at an instant, by
-- a star (which carries its points in its own row) or booked from outside (`xp_credit`).
-- `xp_ledger` shows both as one list. "Leaderboard points of a season are the XP credited in
-- it": which season that is follows from the instant alone, so a credit names none, and XP
-- earned while no season is on is booked like any other.
--
-- `season_score` is the projection: the ledger added up by season and wallet. It is kept by
-- whoever books, in the same statement, and folded anew for a season whose dates change.

-- Stars of before this migration count as the setting's default says.
alter table star add column xp smallint not null default 1;
alter table star add constraint star_xp check (xp >= 0);

-- What `starboard xp credit` booked: the rewards feature's points, and corrections (below zero).
-- The key is the caller's name for the credit; a credit is booked once by it.
create table xp_credit (
  key text primary key check (length(key) between 1 and 255),
  wallet bigint not null check (wallet > 0),
  points integer not null check (points <> 0),
  reason text not null check (length(reason) between 1 and 300),
  at epoch_ms not null
);
create index xp_credit_by_time on xp_credit (at);
create trigger xp_credit_is_append_only before update or delete on xp_credit
  for each row execute function refuse_change();
create trigger xp_credit_is_never_emptied before truncate on xp_credit
  for each statement execute function refuse_change();

-- Every credit: `source` is 'star' or 'credit', `id` the star's or the key. `stars` and `weight`
-- are what a row adds to the leaderboard's columns of these names. `day` prunes months.
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

-- Whoever books holds the seasons as they are until the commit, together with all others who
-- book; whoever changes seasons waits for them and they for it. So a credit either finds the
-- season, or is found when the season is folded.
create function hold_seasons() returns void
language sql volatile as $$ select pg_advisory_xact_lock_shared(hashtext('hold_seasons')) $$;

create function change_seasons() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  return null;
end
$$;

-- Adds a season's scores up from the ledger, whatever they were.
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

create function fold_changed_seasons() returns trigger
language plpgsql as $$
begin
  perform fold_season(id) from changed order by id;
  return null;
end
$$;
create trigger season_is_changed_alone before insert or update or delete on season
  for each statement execute function change_seasons();
create trigger season_is_folded_when_added after insert on season
  referencing new table as changed for each statement execute function fold_changed_seasons();
create trigger season_is_folded_when_changed after update on season
  referencing new table as changed for each statement execute function fold_changed_seasons();

select fold_season(id) from season;

-- Books points from outside, once per key: one statement, one commit. Returned is the credit as
-- the key names it, be it of this call or of an earlier one, with the season it counts in
-- (none: null); the caller compares.
--
-- Below zero it is a correction of the season that is on. Raises SB400 while none is, and
-- where a wallet would be left with less than nothing.
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
      -- Not below: of an upsert the row to be inserted is checked before the conflict is seen.
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

create trigger shown_when_added after insert on season_score
  referencing new table as changed for each statement execute function note_changed_rows('season');
create trigger shown_when_changed after update on season_score
  referencing new table as changed for each statement execute function note_changed_rows('season');
create trigger shown_when_removed after delete on season_score
  referencing old table as changed for each statement execute function note_changed_rows('season');
create trigger shown_when_emptied after truncate on season_score
  for each statement execute function note_emptied();

-- Star history for whoever ranks attention (contract, section 5): stars, weight and distinct
-- wallets per item over the 24 hours, 7 days and 30 days until now, exact to the millisecond.
-- A window is a part of its own, so that asking for one reads the days of that one alone; its
-- bounds are known before the first row is read, so months outside are never opened.
create view attention as
with clock as materialized (select now_ms() as now)
select target_type, target_id, '24h' as "window",
  count(*) as stars, sum(weight) as weight, count(distinct wallet) as wallets
from star
where day >= (select utc_day(now - 86400000) from clock) and at > (select now - 86400000 from clock)
group by target_type, target_id
union all
select target_type, target_id, '7d' as "window",
  count(*) as stars, sum(weight) as weight, count(distinct wallet) as wallets
from star
where day >= (select utc_day(now - 604800000) from clock) and at > (select now - 604800000 from clock)
group by target_type, target_id
union all
select target_type, target_id, '30d' as "window",
  count(*) as stars, sum(weight) as weight, count(distinct wallet) as wallets
from star
where day >= (select utc_day(now - 2592000000) from clock) and at > (select now - 2592000000 from clock)
group by target_type, target_id;

do $$
begin
  begin
    create role starboard_reader nologin;
  exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then null;
  end;
  if exists (select from pg_roles where rolname = 'starboard_reader') then
    execute format('grant usage on schema %I to starboard_reader', current_schema());
    grant select on attention to starboard_reader;
  end if;
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert on xp_credit to starboard_app;
    grant select on xp_ledger, attention to starboard_app;
    grant select, insert, update, delete on season_score to starboard_app;
  end if;
end
$$;
