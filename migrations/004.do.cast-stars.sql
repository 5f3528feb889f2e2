-- Stores a batch of decided stars: one statement, one commit. The machines decide by the rules;
-- this function enforces identity and uniqueness, and compares the versions they decided on.
--
-- `turns` is a JSON array, one object per star (see src/journal/star-record.ts). A statement that
-- starts after `not_after` (epoch ms, this server's clock) stores nothing, and a star is not stored
-- after its own `not_after`: a caller that gave up and finds no star knows that none will come.
--
-- `ends` is null, or `{ mint, entries }`: attributions on a forever mint (`claim_ending`, 005.do.mints.sql)
-- that the star proves lost. They end with it and before it, or neither is written. Such a star comes
-- alone, because the others of its mint rest on them.
--
-- Outcome per star: `stored` (the star, its claims, totals, points, message and idempotency key are
-- written), or why it is handed back:
--   day      it was decided for another UTC day than this server's
--   kind     the event became a forever mint, or stopped being one; or the project's ledger id changed
--   pass     another pass of the wallet is in force at its instant, or none
--   slot     it was not decided after the wallet's last star, or its item was starred today
--   claim    one of its NFTs has counted already on this event and day
--
-- Raises SB408 after `not_after`. Raises SB409, a line `<star> <reason>` each, for what only the
-- writing shows; then nothing of the batch is written, and the caller sends the rest again:
--   claim    another commit claims a serial
--   key      another commit binds the idempotency key
--   release  claims of its wallet, or on NFTs it brings, were released on the forever mint since the decision,
--            or a recovery took a star of its event out
--   held     the wallet whose claims the star would end has starred since its reading
--   late     the statement had to wait until after the star's `not_after`
--
-- Tables are read by unique keys alone, so a fresh table or partition needs no statistics. Rows
-- are written in the order of their keys, so that two processes cannot deadlock.
--
-- Runs with its owner's rights, because the service's role may write the journal and its counters
-- in no other way. It notes the kinds of data that it changed itself, because eight triggers on its
-- counters would cost a single star a tenth of its time (`note_changed`, 009.do.operations.sql).
create function cast_stars(turns json, not_after bigint, ends json default null)
returns table (star_id uuid, outcome text, total_votes bigint)
language plpgsql security definer as $$
#variable_conflict use_column
declare
  today date := utc_day(now_ms());
  day_starts_at bigint := (today - date '1970-01-01')::bigint * 86400000;
  turn record;
  lost text[] := '{}';
  kinds text[] := '{}';
  written_at bigint;
  ended_weight bigint := 0;
begin
  if now_ms() > not_after then
    raise exception 'the deadline of this batch has passed' using errcode = 'SB408';
  end if;
  -- No clause of the function: only a superuser may name a setting of our own there.
  perform set_config('starboard.notes_itself', 'on', true);
  perform hold_seasons();
  if ends is not null then
    ended_weight := end_for_star((turns->0->>'id')::uuid, ends->>'mint', ends->'entries');
  end if;
  for turn in
  with offered as materialized (
    select * from json_to_recordset(turns) as turn (
      id uuid, day date, wallet bigint, slot smallint, follows uuid, at bigint, target_type text, target_id text,
      ledger_id text, is_forever_mint boolean, voting_power integer, weight integer, base smallint, counted_a integer,
      bonus_b smallint, held_a bigint[], held_b bigint[], claimed_a bigint[], claimed_b bigint,
      holdings_read_at bigint, allowance_limit smallint, season_id uuid, rules smallint,
      releases bigint, xp smallint, not_after bigint, topic text, message text, traceparent text,
      idempotency json)
  ), judged as materialized (
    select offered.*, case
      when day <> today then 'day'
      when target_type = 'project' and exists (
        select from project where project.id = target_id and project.ledger_id is distinct from offered.ledger_id
      ) then 'kind'
      when target_type = 'event' and exists (
        select from event where event.id = target_id and event.is_forever_mint <> offered.is_forever_mint
      ) then 'kind'
      when season_id is distinct from (
        select season.id from premium_pass join season on season.id = premium_pass.season_id
        where premium_pass.wallet = offered.wallet and starts_at <= offered.at and offered.at < ends_at
      ) then 'pass'
      when slot > 1 and not exists (
        select from (
          -- In the order of one index: on an empty partition any index with the day seems as good,
          -- and a plan made then would read the whole day for each star of the next one. Of today, which
          -- it is by now: a day known at the start leaves the journal's other months closed.
          select slot, id, at from star where star.wallet = offered.wallet and star.day = today
          order by slot desc limit 1
        ) as latest
        where latest.slot = offered.slot - 1 and latest.id = offered.follows and latest.at < offered.at) then 'slot'
      when target_type = 'event' and not is_forever_mint and exists (
        select from (
          select 'A' as collection, unnest(claimed_a) as serial union all select 'B', claimed_b
        ) as claim
        cross join lateral (
          select from serial_claim
          where serial_claim.event_id = offered.target_id and serial_claim.day = offered.day
            and serial_claim.collection = claim.collection and serial_claim.serial = claim.serial
            and serial_claim.day is not null
          limit 1
        ) as taken) then 'claim'
    end as reason
    from offered
  ), stored as (
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b, holdings_read_at,
      allowance_limit, season_id, rules, xp)
    select id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b, holdings_read_at,
      allowance_limit, season_id, rules, xp
    from judged where reason is null
    order by wallet, slot
    on conflict do nothing
    returning id
  ), kept as materialized (
    select judged.* from judged join stored using (id)
  ), claimed as (
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select target_id, case when is_forever_mint then null else day end, claim.collection, claim.serial, wallet, id
    from kept cross join lateral (
      select 'base' as collection, wallet as serial where is_forever_mint and base > 0
      union all select 'A', unnest(claimed_a)
      union all select 'B', claimed_b where claimed_b is not null
    ) as claim
    order by target_id, day, claim.collection, claim.serial
    on conflict do nothing
    returning serial_claim.star_id
  ), event_totals as (
    insert into event_total as total (event_id, weight, stars)
    -- The claims come first, as in `release_claims`; Postgres takes parts that do not ask for each other in any order.
    select target_id, sum(weight), count(*) from kept
    where target_type = 'event' and (select count(*) from claimed) >= 0
    group by target_id order by target_id
    on conflict (event_id) do update
      set weight = total.weight + excluded.weight - ended_weight, stars = total.stars + excluded.stars,
        releases = total.releases + (ends is not null)::integer
    returning event_id, weight, releases
  ), numbered as materialized (
    -- Numbers are drawn while the mint's total is held, so they are in the order of the commits. What
    -- ends with a star comes before it.
    select event_id, case when ends is not null then nextval('forever_mint_order') end as number
    from event_totals
  ), on_mints as (
    insert into mint_star (event_id, day, wallet, star_id)
    select target_id, day, wallet, id from kept join numbered on event_id = target_id
    where is_forever_mint order by target_id, id
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
    select on_today.id, wallet, sum(xp), count(*), sum(weight)
    from kept join on_today on at >= starts_at and at < ends_at
    group by on_today.id, wallet order by on_today.id, wallet
    on conflict (season_id, wallet) do update
      set points = score.points + excluded.points, stars = score.stars + excluded.stars,
        weight = score.weight + excluded.weight
  ), boxed as (
    insert into outbox (star_id, topic, message, traceparent)
    select id, topic, message, traceparent from kept order by id
  ), counted as materialized (
    select kept.id, wallet, at, idempotency, coalesce(event_totals.weight, item_days.weight) as total,
      event_totals.releases,
      -- What ends with the star itself is written down below, and no release yet.
      -- Null, where nothing is accounted, would not keep the function from being called.
      coalesce(kept.releases < event_totals.releases - (ends is not null)::integer, false)
        and is_released_since(kept.target_id, kept.releases, event_totals.releases - (ends is not null)::integer,
          wallet, held_a, held_b) as is_overtaken,
      (is_forever_mint and base > 0)::integer + cardinality(claimed_a) + (claimed_b is not null)::integer
        as claims
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
  select judged.id as star_id, judged.not_after, counted.total, coalesce(reason, case
      when counted.id is null then 'slot'
      when counted.claims <> coalesce(claim_counts.claims, 0) then 'claim'
      when is_overtaken then 'release'
      when judged.idempotency is not null and bound.star_id is null then 'key'
      else 'stored'
    end) as outcome, counted.id is not null as is_written, judged.target_type,
    exists (select from on_today) as is_scored, counted.releases, (select max(number) from numbered) as number
  from judged
  left join counted on counted.id = judged.id
  left join claim_counts on claim_counts.id = judged.id
  left join bound on bound.star_id = judged.id
  loop
    -- All rows are written before the first of them is read here.
    written_at := coalesce(written_at, now_ms());
    if turn.outcome = 'stored' and written_at > turn.not_after then turn.outcome := 'late'; end if;
    if turn.outcome <> 'stored' and (turn.is_written or ends is not null) then
      lost := lost || (turn.star_id || ' ' || turn.outcome);
    elsif ends is not null then
      perform note_ended_for_star(turn.star_id, ends->>'mint', ends->'entries', turn.releases, turn.number);
    end if;
    if turn.is_written then kinds := kinds || turn.target_type; end if;
    if turn.is_written and turn.is_scored then kinds := kinds || text 'season'; end if;
    star_id := turn.star_id;
    outcome := turn.outcome;
    total_votes := turn.total;
    return next;
  end loop;
  if cardinality(lost) > 0 then
    raise exception 'claimed, bound or released meanwhile'
      using errcode = 'SB409', detail = array_to_string(lost, E'\n');
  end if;
  perform set_config('starboard.notes_itself', 'off', true);
  perform note_change(kind) from (select distinct unnest(kinds) as kind) as changed;
end
$$;
