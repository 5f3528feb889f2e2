-- As in 004, and each star's points are booked with it (011), and the serials of an ordinary event are looked at while the star is stored: who
-- decides a star there assumes that they are free, and one that has counted today already sends
-- only its own star back, as `lost`, before anything of it is written. So a batch is refused as
-- a whole (SB409) only for claims that two commits made at the same moment.
--
-- One more outcome: `changed`, the event became a forever mint, or stopped being one, since the
-- star was decided by the other rule.
create or replace function cast_stars(turns json, not_after bigint)
returns table (star_id uuid, outcome text, total_votes bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  today date := utc_day(now_ms());
  day_starts_at bigint := (today - date '1970-01-01')::bigint * 86400000;
  turn record;
  lost text[] := '{}';
begin
  if now_ms() > not_after then
    raise exception 'the deadline of this batch has passed' using errcode = 'SB408';
  end if;
  perform hold_seasons();
  for turn in
  with offered as materialized (
    select * from json_to_recordset(turns) as turn (
      id uuid, day date, wallet bigint, slot smallint, at bigint, target_type text, target_id text,
      repeatable boolean, voting_power integer, weight integer, base smallint, counted_a integer,
      bonus_b smallint, held_a bigint[], held_b bigint[], holdings_read_at bigint,
      allowance_limit smallint, season_id uuid, xp smallint, topic text, message text,
      claims json, idempotency json)
  ), judged as materialized (
    select offered.*, not repeatable and exists (
      select from json_to_recordset(claims) as claim (collection text, serial bigint)
      cross join lateral (
        select from serial_claim
        where serial_claim.event_id = offered.target_id and serial_claim.day = offered.day
          and serial_claim.collection = claim.collection and serial_claim.serial = claim.serial
          and serial_claim.day is not null
        limit 1
      ) as taken) as has_taken_serial,
      target_type = 'event' and exists (
        select from event where event.id = target_id and is_forever_mint <> repeatable) as has_changed_kind
    from offered
  ), stored as (
    insert into star (id, day, wallet, slot, at, target_type, target_id, repeatable, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, season_id, xp)
    select id, day, wallet, slot, at, target_type, target_id, repeatable, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, season_id,
      -- A process of an older build says nothing of XP.
      coalesce(xp, 1)
    from judged as offered
    -- A pass may have been granted or taken back, or its season ended, since the decision.
    where day = today and not has_taken_serial and not has_changed_kind and allowance_limit = case when exists (
      select from premium_pass join season on season.id = premium_pass.season_id
      where premium_pass.wallet = offered.wallet and offered.at >= starts_at and offered.at < ends_at
    ) then 20 else 5 end
      -- Slots leave no gap and instants rise, whatever the decider believed to remember.
      and (slot = 1 or exists (
        select from star as previous
        where previous.wallet = offered.wallet and previous.day = offered.day
          and previous.slot = offered.slot - 1 and previous.at < offered.at))
    order by wallet, slot
    on conflict do nothing
    returning id
  ), kept as materialized (
    select offered.* from offered join stored using (id)
  ), claimed as (
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select kept.target_id, case when repeatable then null else day end, claim.collection, claim.serial, wallet, id
    from kept, json_to_recordset(claims) as claim (collection text, serial bigint)
    order by kept.target_id, kept.day, claim.collection, claim.serial
    on conflict do nothing
    returning serial_claim.star_id
  ), event_totals as (
    insert into event_total as total (event_id, weight, stars)
    select target_id, sum(weight), count(*) from kept where target_type = 'event'
    group by target_id order by target_id
    on conflict (event_id) do update
      set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars
    returning event_id, weight
  ), item_days as (
    insert into item_day as total (target_type, target_id, day, weight, stars)
    select target_type, target_id, day, sum(weight), count(*) from kept where target_type <> 'event'
    group by target_type, target_id, day order by day, target_type, target_id
    on conflict (day, target_type, target_id) do update
      set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars
    returning target_type, target_id, day, weight
  ), item_hours as (
    insert into item_hour as total (target_type, target_id, hour, weight, stars)
    select target_type, target_id, (at / 3600000)::integer, sum(weight), count(*)
    from kept where target_type <> 'event'
    group by target_type, target_id, 3 order by target_type, target_id, 3
    on conflict (target_type, target_id, hour) do update
      set weight = total.weight + excluded.weight, stars = total.stars + excluded.stars
  ), on_today as materialized (
    -- The one or two seasons of this UTC day: each star's is among them.
    select id, starts_at, ends_at from season
    where starts_at < day_starts_at + 86400000 and ends_at > day_starts_at
  ), scored as (
    insert into season_score as score (season_id, wallet, points, stars, weight)
    select on_today.id, wallet, sum(coalesce(xp, 1)), count(*), sum(weight)
    from kept join on_today on at >= starts_at and at < ends_at
    group by on_today.id, wallet order by on_today.id, wallet
    on conflict (season_id, wallet) do update
      set points = score.points + excluded.points, stars = score.stars + excluded.stars,
        weight = score.weight + excluded.weight
  ), boxed as (
    insert into outbox (star_id, topic, message) select id, topic, message from kept order by id
  ), counted as materialized (
    select kept.*, coalesce(event_totals.weight, item_days.weight) as total
    from kept
    left join event_totals on kept.target_type = 'event' and event_totals.event_id = kept.target_id
    left join item_days using (target_type, target_id, day)
  ), bound as (
    -- The reply's only unknown is the counter: it goes between the two halves of the text.
    insert into idempotency_key (wallet, key, request_hash, star_id, reply, created_at)
    select wallet, idempotency->>'key', decode(idempotency->>'request_hash', 'hex'), id,
      (idempotency->>'reply_head') || total || (idempotency->>'reply_tail'), at
    from counted where idempotency is not null order by wallet, idempotency->>'key'
    on conflict do nothing
    returning idempotency_key.star_id
  ), claim_counts as (
    select claimed.star_id as id, count(*) as claims from claimed group by claimed.star_id
  )
  select offered.id as star_id, counted.total,
    case
      when offered.day <> today then 'wrong-day'
      when has_changed_kind then 'changed'
      when has_taken_serial then 'taken'
      when counted.id is null then 'stale'
      when json_array_length(offered.claims) <> coalesce(claim_counts.claims, 0)
        or (offered.idempotency is not null and bound.star_id is null) then 'lost'
      else 'stored'
    end as outcome
  from judged as offered
  left join counted on counted.id = offered.id
  left join claim_counts on claim_counts.id = offered.id
  left join bound on bound.star_id = offered.id
  loop
    if turn.outcome = 'lost' then lost := lost || turn.star_id::text; end if;
    star_id := turn.star_id;
    outcome := case turn.outcome when 'taken' then 'lost' else turn.outcome end;
    total_votes := turn.total;
    return next;
  end loop;
  if cardinality(lost) > 0 then
    raise exception 'claimed or bound meanwhile' using errcode = 'SB409', detail = array_to_string(lost, E'\n');
  end if;
end
$$;
