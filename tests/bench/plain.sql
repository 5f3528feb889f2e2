-- The straightforward service, as well as it can be done: one look before the holdings are
-- read, and then one call, one transaction, one commit for each star. Every rule stands here.
-- Same tables as the journal, same facts in them, same replies.

-- Everything there is to know before the mirror node is asked, in one round trip. What is
-- looked up is what the order of checks needs: session, key, target, repeat, allowance.
create function plain_look(hash bytea, of_key text, of_type text, of_id text,
  out wallet bigint, out kept_hash text, out kept_reply text, out kind text, out ledger_id text,
  out is_known boolean, out earlier uuid, out used integer, out vote_limit integer, out resets_at bigint)
language plpgsql stable as $$
declare
  at bigint := now_ms();
  today date := utc_day(at);
begin
  select session.wallet into plain_look.wallet from session
  where token_hash = hash and expires_at > at;
  if not found or of_type is null then return; end if;
  if of_key is not null then
    select encode(kept.request_hash, 'hex'), kept.reply into kept_hash, kept_reply
    from idempotency_key kept where kept.wallet = plain_look.wallet and kept.key = of_key;
    if found then return; end if;
  end if;
  case of_type
    when 'event' then
      select case when is_forever_mint then 'FOREVER_MINT' else event_type end into kind
      from event where id = of_id and approved_at is not null;
    when 'token' then perform from token where id = of_id and approved_at is not null;
    when 'collection' then perform from collection where id = of_id and approved_at is not null;
    else
      select project.ledger_id into plain_look.ledger_id
      from project where id = of_id and approved_at is not null;
  end case;
  is_known := found;
  if not is_known then return; end if;
  select count(*), max(star.id::text) filter (where star.target_type = of_type
      and star.target_id = of_id and not star.is_forever_mint)
  into used, earlier
  from star where star.wallet = plain_look.wallet and star.day = today;
  vote_limit := plain_limit(plain_look.wallet, at);
  resets_at := ((at / 86400000) + 1) * 86400000;
end
$$;

-- "Free: 5 votes per day. Premium (while active): 20."
create function plain_limit(of_wallet bigint, at bigint) returns integer
language plpgsql stable as $$
begin
  perform from premium_pass pass join season on season.id = pass.season_id
  where pass.wallet = of_wallet and at >= starts_at and at < ends_at;
  return case when found then 20 else 5 end;
end
$$;

create function plain_season(of_wallet bigint, at bigint) returns uuid
language plpgsql stable as $$
begin
  return (select pass.season_id from premium_pass pass join season on season.id = pass.season_id
    where pass.wallet = of_wallet and at >= starts_at and at < ends_at limit 1);
end
$$;

-- RFC 3339 UTC with milliseconds.
create function plain_instant(at bigint) returns text
language plpgsql immutable as $$
begin
  return to_char(timestamp 'epoch' + at * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;

-- Casts one star. Outcomes: `stored` and `replayed` (with `body`, the reply), `ALREADY_STARRED`
-- (with `earlier`), `ALLOWANCE_EXHAUSTED` (with `vote_limit`, `used`), `KEY_REUSED`.
--
-- Locks in one order everywhere: the wallet, then serials ascending, then the counter, last and
-- shortest, because all stars of one item wait for it.
create function plain_cast(of_wallet bigint, of_type text, of_id text, of_kind text, of_ledger_id text,
  held_a bigint[], held_b bigint[], read_at bigint, of_key text, of_hash bytea,
  key_a text, key_b text,
  out outcome text, out body text, out earlier uuid, out used integer, out vote_limit integer, out resets_at bigint)
language plpgsql as $$
declare
  at bigint;
  today date;
  last_at bigint;
  kept record;
  is_mint boolean := of_kind = 'FOREVER_MINT';
  scope date;
  star_id uuid;
  base integer := 1;
  counted integer;
  bonus integer := 0;
  power integer := 1 + cardinality(held_a) + case when cardinality(held_b) > 0 then 5 else 0 end;
  weight integer;
  total bigint;
  text_of_id text;
  serial_b bigint;
begin
  perform pg_advisory_xact_lock(of_wallet);
  at := now_ms();
  today := utc_day(at);
  if of_key is not null then
    select encode(request_hash, 'hex') as hash, reply into kept
    from idempotency_key where wallet = of_wallet and key = of_key;
    if found then
      outcome := case when kept.hash = encode(of_hash, 'hex') then 'replayed' else 'KEY_REUSED' end;
      body := kept.reply;
      return;
    end if;
  end if;
  select count(*), max(star.at), max(star.id::text) filter (where star.target_type = of_type
      and star.target_id = of_id and not star.is_forever_mint)
  into used, last_at, earlier
  from star where star.wallet = of_wallet and star.day = today;
  resets_at := ((at / 86400000) + 1) * 86400000;
  if last_at >= at then at := last_at + 1; end if;
  -- The wallet's stars of this day run up to midnight: its next is one of the new day.
  if at >= resets_at then
    raise exception 'the day is over' using errcode = 'SB425';
  end if;
  if earlier is not null then outcome := 'ALREADY_STARRED'; return; end if;
  vote_limit := plain_limit(of_wallet, at);
  if used >= vote_limit then outcome := 'ALLOWANCE_EXHAUSTED'; return; end if;
  text_of_id := replace(gen_random_uuid()::text, '-', '');
  -- A UUIDv7 of `at`: ids sort by acceptance.
  star_id := (lpad(to_hex(at), 12, '0') || '7' || substr(text_of_id, 14, 3) || substr(text_of_id, 17, 16))::uuid;

  if of_kind is null then
    counted := cardinality(held_a);
    bonus := case when cardinality(held_b) > 0 then 5 else 0 end;
  else
    scope := case when is_mint then null else today end;
    if is_mint then
      insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
      values (of_id, null, 'base', of_wallet, of_wallet, star_id) on conflict do nothing;
      base := case when found then 1 else 0 end;
    end if;
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select of_id, scope, 'A', serial, of_wallet, star_id from unnest(held_a) as serial order by serial
    on conflict do nothing;
    get diagnostics counted = row_count;
    if not is_mint or not exists (select from serial_claim claim where claim.event_id = of_id
      and claim.wallet = of_wallet and claim.collection = 'B' and claim.day is null
      and claim.released_at is null)
    then
      -- "The lowest free one is spent."
      foreach serial_b in array held_b loop
        insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
        values (of_id, scope, 'B', serial_b, of_wallet, star_id) on conflict do nothing;
        if found then bonus := 5; exit; end if;
      end loop;
    end if;
  end if;
  weight := base + counted + bonus;
  used := used + 1;

  insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
    weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, season_id)
  values (star_id, today, of_wallet, used, at, of_type, of_id, coalesce(is_mint, false), power,
    weight, base, counted, bonus, held_a, held_b, read_at, vote_limit, plain_season(of_wallet, at));
  insert into outbox (star_id, topic, message) values (star_id,
    case when of_kind is null then 'asset' else 'event' end,
    case when of_kind is null then format(
      '{"type":"asset_vote","version":1,"wallet":"0.0.%s","target_id":"%s","target_type":"%s","vote":"up","voting_power":%s,"holdings":{"%s":%s,"%s":%s},"timestamp":%s}',
      of_wallet, coalesce(of_ledger_id, of_id), of_type, power, key_a, cardinality(held_a), key_b, cardinality(held_b), at)
    else format(
      '{"type":"event_vote","version":1,"wallet":"0.0.%s","event_id":"%s","event_type":"%s","vote":"up","timestamp":%s}',
      of_wallet, of_id, of_kind, at) end);

  if of_kind is null then
    insert into item_hour as there (target_type, target_id, hour, weight, stars)
    values (of_type, of_id, at / 3600000, weight, 1)
    on conflict (target_type, target_id, hour) do update
      set weight = there.weight + excluded.weight, stars = there.stars + 1;
    insert into item_day as there (target_type, target_id, day, weight, stars)
    values (of_type, of_id, today, weight, 1)
    on conflict (day, target_type, target_id) do update
      set weight = there.weight + excluded.weight, stars = there.stars + 1
    returning there.weight into total;
  else
    insert into event_total as there (event_id, weight, stars) values (of_id, weight, 1)
    on conflict (event_id) do update set weight = there.weight + excluded.weight, stars = there.stars + 1
    returning there.weight into total;
    if is_mint then
      insert into mint_star (event_id, day, wallet, star_id) values (of_id, today, of_wallet, star_id);
    end if;
  end if;

  outcome := 'stored';
  body := format(
    '{"star":{"id":"%s","wallet":"0.0.%s","target":{"type":"%s","id":"%s"},"at":"%s","day":"%s",'
    '"votingPower":%s,"weight":%s,"breakdown":{"base":%s,"collectionA":%s,"collectionB":%s},'
    '"holdings":{"collectionA":%s,"collectionB":%s},"publication":{"state":"stored","topicId":null,'
    '"transactionId":null,"sequenceNumber":null,"consensusTimestamp":null,"runningHash":null}},'
    '"allowance":{"limit":%s,"used":%s,"remaining":%s,"resetsAt":"%s"},"counter":{"totalVotes":%s}}',
    star_id, of_wallet, of_type, of_id, plain_instant(at), today,
    power, weight, base, counted, bonus, cardinality(held_a), cardinality(held_b),
    vote_limit, used, vote_limit - used, plain_instant(resets_at), total);
  if of_key is not null then
    insert into idempotency_key (wallet, key, request_hash, star_id, reply, created_at)
    values (of_wallet, of_key, of_hash, star_id, body, at);
  end if;
end
$$;
