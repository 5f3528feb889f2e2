-- Stores a batch of decided stars: one statement, one commit. What it enforces is
-- identity, uniqueness and the day; the rules were decided by the machines.
--
-- `turns` is a JSON array, one object per star (see src/journal/group-commit.ts).
-- `not_after` (epoch ms, this server's clock): a statement that starts later does nothing,
-- so a caller that gave up and found no star can be sure that none will come.
--
-- Outcome per turn:
--   stored      the star, its claims, totals, message and idempotency key are written
--   wrong-day   it was decided for another UTC day than this server's
--   stale       the decision was not made from the wallet's last star and present limit:
--               another star was accepted since, a pass was granted, taken back or ended, or
--               the decider's memory was wrong
-- Raises SB409, detail the star ids (one a line), when a serial was claimed or an
-- idempotency key bound meanwhile: such a star is all or nothing, so nothing is written and
-- the caller sends the batch again without them. Raises SB408 after `not_after`.
--
-- Only unique keys are read, so no plan can go bad on a fresh table or partition.
-- Rows are sorted by key in every part: unsorted upserts of two processes deadlocked.
create function cast_stars(turns json, not_after bigint)
returns table (star_id uuid, outcome text, total_votes bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  today date := utc_day(now_ms());
  turn record;
  lost text[] := '{}';
begin
  if now_ms() > not_after then
    raise exception 'the deadline of this batch has passed' using errcode = 'SB408';
  end if;
  for turn in
  with offered as materialized (
    select * from json_to_recordset(turns) as turn (
      id uuid, day date, wallet bigint, slot smallint, at bigint, target_type text, target_id text,
      repeatable boolean, voting_power integer, weight integer, base smallint, counted_a integer,
      bonus_b smallint, held_a bigint[], held_b bigint[], holdings_read_at bigint,
      allowance_limit smallint, season_id uuid, topic text, message text,
      claims json, idempotency json)
  ), stored as (
    insert into star (id, day, wallet, slot, at, target_type, target_id, repeatable, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, season_id)
    select id, day, wallet, slot, at, target_type, target_id, repeatable, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, season_id
    from offered
    -- A pass may have been granted or taken back, or its season ended, since the decision.
    where day = today and allowance_limit = case when exists (
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
      when counted.id is null then 'stale'
      when json_array_length(offered.claims) <> coalesce(claim_counts.claims, 0)
        or (offered.idempotency is not null and bound.star_id is null) then 'lost'
      else 'stored'
    end as outcome
  from offered
  left join counted on counted.id = offered.id
  left join claim_counts on claim_counts.id = offered.id
  left join bound on bound.star_id = offered.id
  loop
    if turn.outcome = 'lost' then lost := lost || turn.star_id::text; end if;
    star_id := turn.star_id;
    outcome := turn.outcome;
    total_votes := turn.total;
    return next;
  end loop;
  if cardinality(lost) > 0 then
    raise exception 'claimed or bound meanwhile' using errcode = 'SB409', detail = array_to_string(lost, E'\n');
  end if;
end
$$;
