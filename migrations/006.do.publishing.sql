-- From outbox to ledger, exactly once. A row of `publish_attempt` is one transaction id of
-- one star, and what is known of its fate; a star has at most one open. While it is open
-- nothing but its own signed bytes may be sent, and it is closed only by proof: its message
-- was read back, or it cannot be on the ledger and never will be.

alter table outbox
  -- Who works on the row, and until when nobody else may.
  add column lease_owner text,
  add column lease_until epoch_ms not null default 0,
  add column tries integer not null default 0,
  add column next_try_at epoch_ms not null default 0,
  add column last_error text,
  -- First handed to a node; read back from a mirror node.
  add column submitted_at epoch_ms,
  add column published_at epoch_ms;

-- How far each topic was read back, without a gap. No id is reserved on a topic whose
-- reading has not begun, so no message of ours can lie before it.
create table topic_reading (
  topic_id text primary key check (topic_id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  sequence_number bigint not null check (sequence_number >= 0),
  -- Consensus time of that message, nanoseconds since the epoch.
  consensus_ns bigint not null default 0,
  begun_at epoch_ms not null
);

create table publish_attempt (
  star_id uuid not null references outbox (star_id),
  attempt integer not null check (attempt >= 1),
  topic_id text not null references topic_reading (topic_id),
  payer text not null check (payer ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  valid_start_ns bigint not null,
  transaction_id text not null generated always as (
    payer || '@' || (valid_start_ns / 1000000000)::text || '.'
      || lpad((valid_start_ns % 1000000000)::text, 9, '0')) stored,
  reserved_at epoch_ms not null,
  -- Emptied when the attempt is closed: they are of no use then.
  signed_bytes bytea,
  valid_until_ns bigint,
  signed_at epoch_ms,
  -- Counted before each sending, and after each answer that this sending came to nothing:
  -- while they are equal, nobody but us has the bytes.
  sends integer not null default 0,
  refusals integer not null default 0,
  sent_at epoch_ms,
  receipt_status text,
  receipt_sequence bigint,
  receipt_hash text,
  -- Rounds in which a quiet topic was found without the message (see src/publishing).
  absence_rounds smallint not null default 0,
  absence_at epoch_ms not null default 0,
  closed_at epoch_ms,
  outcome text check (outcome in ('published', 'never sent', 'refused', 'failed', 'foreign', 'absent')),
  evidence text,
  primary key (star_id, attempt),
  unique (payer, valid_start_ns),
  check (refusals between 0 and sends),
  check (sends = 0 or sent_at is not null),
  check ((closed_at is null) = (outcome is null)),
  check (closed_at is null or signed_bytes is null)
);
create unique index publish_attempt_one_open on publish_attempt (star_id) where closed_at is null;
create unique index publish_attempt_by_transaction on publish_attempt (transaction_id);
create index publish_attempt_open_until on publish_attempt (topic_id, valid_until_ns) where closed_at is null;

-- What was once written down stands. Signed bytes alone may go, with the closing.
create function keep_attempt_facts() returns trigger
language plpgsql as $$
begin
  if old.closed_at is not null
    or (old.star_id, old.attempt, old.topic_id, old.payer, old.valid_start_ns, old.reserved_at)
      is distinct from (new.star_id, new.attempt, new.topic_id, new.payer, new.valid_start_ns, new.reserved_at)
    or (old.signed_bytes is not null and new.closed_at is null and new.signed_bytes is distinct from old.signed_bytes)
    or (old.valid_until_ns is not null and new.valid_until_ns is distinct from old.valid_until_ns)
    or (old.sent_at is not null and new.sent_at is distinct from old.sent_at)
    or (old.receipt_status is not null and (old.receipt_status, old.receipt_sequence, old.receipt_hash)
      is distinct from (new.receipt_status, new.receipt_sequence, new.receipt_hash))
    or new.sends < old.sends or new.refusals < old.refusals
  then
    raise exception 'a fact of % would be changed', old.transaction_id using errcode = 'SB403';
  end if;
  return new;
end
$$;
create trigger publish_attempt_facts_stand before update on publish_attempt
  for each row execute function keep_attempt_facts();
create trigger publish_attempt_is_kept before delete on publish_attempt
  for each row execute function refuse_change();
create trigger publish_attempt_is_never_emptied before truncate on publish_attempt
  for each statement execute function refuse_change();
create function keep_published() returns trigger
language plpgsql as $$
begin
  raise exception 'star % is published', old.star_id using errcode = 'SB403';
end
$$;
create trigger outbox_published_stands before update on outbox
  for each row when (old.state = 'published') execute function keep_published();

-- Gives a star its next transaction id, `0.0.n@s.nnnnnnnnn`: starting at `not_before`
-- (nanoseconds, the caller's idea of the ledger's time), or right after the payer's newest
-- id near it. Nothing is remembered but the ids themselves, so a process whose clock runs
-- ahead takes nobody along. One reservation per payer at a time.
--
-- Nothing is returned when the star is not the holder's, not pending, or has an id already.
create function reserve_transaction(of_star uuid, holder text, by_payer text, on_topic text, not_before bigint)
returns table (attempt integer, valid_start_ns bigint, transaction_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  start_ns bigint;
begin
  perform from outbox where star_id = of_star and state = 'pending'
    and lease_owner = holder and lease_until > now_ms() for update;
  if not found then return; end if;
  perform pg_advisory_xact_lock(hashtext('reserve_transaction'), hashtext(by_payer));
  select coalesce(max(known.valid_start_ns) + 1, not_before) into start_ns
  from publish_attempt known
  where known.payer = by_payer
    and known.valid_start_ns between not_before and not_before + 999999999;
  return query
    insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at)
    select of_star, coalesce(max(earlier.attempt), 0) + 1, on_topic, by_payer, start_ns, now_ms()
    from publish_attempt earlier where earlier.star_id = of_star
    on conflict do nothing
    returning publish_attempt.attempt, publish_attempt.valid_start_ns, publish_attempt.transaction_id;
  if not found then return; end if;
  update outbox set state = 'reserved', topic_id = on_topic,
    transaction_id = (select open.transaction_id from publish_attempt open
      where open.star_id = of_star and open.closed_at is null)
  where star_id = of_star;
end
$$;

-- Compares messages read from a mirror node with what was sent; the only way to `published`.
-- `messages` is a JSON array (see src/publishing/confirm.ts). Verdicts:
--   published   our id, our bytes, and nothing the receipt contradicts
--   foreign     our id with other bytes: somebody else used it up, so ours never took
--               effect and never will; the star gets another id
--   contradicts the consensus nodes' receipt and the mirror node tell different stories
--   returned    our id, our bytes, but the attempt was given up before: a second message
create function confirm_messages(on_topic text, messages json)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with said as materialized (
    select * from json_to_recordset(messages) as mirrored (sequence_number bigint,
      consensus_timestamp text, transaction_id text, running_hash text, bytes text)
  ), judged as materialized (
    select attempt.star_id, attempt.attempt, said.*,
      case
        when convert_to(outbox.message, 'UTF8') <> decode(said.bytes, 'base64')
          or attempt.topic_id <> on_topic then
          case when attempt.closed_at is null then 'foreign' else 'known' end
        when attempt.closed_at is not null then
          case when attempt.outcome = 'published' then 'known' else 'returned' end
        when attempt.receipt_status is not null and (attempt.receipt_status <> 'SUCCESS'
          or attempt.receipt_sequence is distinct from said.sequence_number
          or attempt.receipt_hash <> said.running_hash) then 'contradicts'
        else 'published'
      end as verdict
    from said
    join publish_attempt attempt using (transaction_id)
    join outbox on outbox.star_id = attempt.star_id
  ), published as (
    update outbox set state = 'published', topic_id = on_topic, transaction_id = judged.transaction_id,
      sequence_number = judged.sequence_number, consensus_timestamp = judged.consensus_timestamp,
      running_hash = judged.running_hash, published_at = now_ms(),
      lease_owner = null, lease_until = 0, last_error = null
    from judged
    where outbox.star_id = judged.star_id and judged.verdict = 'published' and outbox.state = 'sent'
    returning outbox.star_id, judged.attempt, judged.verdict, judged.sequence_number,
      now_ms() - (outbox.message::json->>'timestamp')::bigint as lag_ms, null::text as detail
  ), given_up as (
    update outbox set state = 'pending', topic_id = null, transaction_id = null,
      lease_owner = null, lease_until = 0, next_try_at = 0
    from judged
    where outbox.star_id = judged.star_id and judged.verdict = 'foreign' and outbox.state <> 'published'
    returning outbox.star_id, judged.attempt, judged.verdict, judged.sequence_number,
      null::bigint as lag_ms, judged.transaction_id as detail
  ), settled as (
    select * from published union all select * from given_up
  ), closed as (
    update publish_attempt set closed_at = now_ms(), signed_bytes = null,
      outcome = settled.verdict, evidence = on_topic || ' #' || settled.sequence_number
    from settled
    where publish_attempt.star_id = settled.star_id and publish_attempt.attempt = settled.attempt
      and closed_at is null
  )
  select settled.star_id, settled.verdict, settled.sequence_number, settled.lag_ms, settled.detail from settled
  union all
  select judged.star_id, judged.verdict, judged.sequence_number, null, judged.transaction_id from judged
  where judged.verdict in ('contradicts', 'returned');
end
$$;

-- Reads a topic on by one page: compares its messages, then gives up every attempt whose
-- time had run out before the last of them. This is the proof that a message is absent:
-- every message up to there was compared, without a gap, and none carried its id.
-- Verdicts as above, and `absent`. Nothing happens when somebody else has read on meanwhile.
create function read_topic_on(on_topic text, after_sequence bigint, messages json, last_sequence bigint, last_ns bigint)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language plpgsql as $$
#variable_conflict use_column
begin
  update topic_reading set sequence_number = last_sequence, consensus_ns = last_ns
  where topic_id = on_topic and sequence_number = after_sequence;
  if not found then return; end if;
  return query select * from confirm_messages(on_topic, messages);
  return query
  with given_up as (
    update outbox set state = 'pending', topic_id = null, transaction_id = null,
      lease_owner = null, lease_until = 0, next_try_at = 0
    from publish_attempt attempt
    where attempt.topic_id = on_topic and attempt.closed_at is null
      and attempt.valid_until_ns < last_ns and attempt.sends > 0
      and attempt.receipt_status is distinct from 'SUCCESS'
      and outbox.star_id = attempt.star_id and outbox.state = 'sent'
    returning outbox.star_id, attempt.attempt, attempt.transaction_id
  )
  update publish_attempt set closed_at = now_ms(), signed_bytes = null, outcome = 'absent',
    evidence = on_topic || ' read without it up to #' || last_sequence
  from given_up
  where publish_attempt.star_id = given_up.star_id and publish_attempt.attempt = given_up.attempt
    and closed_at is null
  returning given_up.star_id, 'absent', null::bigint, null::bigint, given_up.transaction_id;
end
$$;

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert, update on publish_attempt to starboard_app;
    grant select, insert on topic_reading to starboard_app;
    grant update (sequence_number, consensus_ns) on topic_reading to starboard_app;
    grant update (lease_owner, lease_until, tries, next_try_at, last_error, submitted_at, published_at)
      on outbox to starboard_app;
  end if;
end
$$;
