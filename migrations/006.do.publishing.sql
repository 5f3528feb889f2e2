-- From outbox to ledger, exactly once, and the outbox compared with the topics.
--
-- A row of `publish_attempt` is one transaction id of one star and what is known of it; a star
-- has at most one open. While it is open, only its own signed bytes may be sent. It is closed by
-- proof alone: its message was read back, or it can no longer reach the ledger.

-- How far each topic was read back, without a gap. A topic's reading starts before the first
-- transaction id is reserved on it, so no message of this service lies before.
create table topic_reading (
  topic_id text primary key check (topic_id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  sequence_number bigint not null check (sequence_number >= 0),
  -- The hash that the next message's hash follows from; null while no message was read.
  running_hash text
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
  -- Removed when the attempt is closed.
  signed_bytes bytea,
  valid_until_ns bigint,
  -- `sends` is counted before each sending, `refusals` after each answer that a node did not
  -- take it: while they are equal, no node has the bytes.
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
  outcome text check (outcome in ('published', 'never sent', 'refused', 'failed', 'foreign', 'absent', 'adopted')),
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

-- Facts stand once written; the signed bytes alone may go, when the attempt is closed.
create trigger publish_attempt_facts_stand before update on publish_attempt
  for each row when (old.closed_at is not null
    or (old.star_id, old.attempt, old.topic_id, old.payer, old.valid_start_ns, old.reserved_at)
      is distinct from (new.star_id, new.attempt, new.topic_id, new.payer, new.valid_start_ns, new.reserved_at)
    or (old.signed_bytes is not null and new.closed_at is null and new.signed_bytes is distinct from old.signed_bytes)
    or (old.valid_until_ns is not null and new.valid_until_ns is distinct from old.valid_until_ns)
    or (old.sent_at is not null and new.sent_at is distinct from old.sent_at)
    or (old.receipt_status is not null and (old.receipt_status, old.receipt_sequence, old.receipt_hash)
      is distinct from (new.receipt_status, new.receipt_sequence, new.receipt_hash))
    or new.sends < old.sends or new.refusals < old.refusals)
  execute function refuse_change('a fact of an attempt would be changed', 'transaction_id');
call keep_rows('publish_attempt', 'delete');
create trigger outbox_published_stands before update on outbox
  for each row when (old.state = 'published')
  execute function refuse_change('the star is published', 'star_id');

-- Gives stars their next transaction ids, `0.0.n@s.nnnnnnnnn`: valid from `not_before` (nanoseconds,
-- the caller's estimate of the ledger's time) or, where the payer has ids within the second
-- after it, from soon after the newest of them. So a process whose clock runs ahead does not
-- carry others along. One reservation per payer at a time; all stars given have one payer.
--
-- How soon, at most 66 microseconds, the first star's own id says. In an older copy of the journal the
-- newest id is an older one: right after it stand ids that lost stars have on the ledger.
--
-- `stars` is a JSON array (see src/publishing/shared-steps.ts). Returns no row for a star that is
-- not the holder's, not pending, or has an open id.
create function reserve_transactions(stars json, holder text)
returns table (star_id uuid, valid_start_ns bigint, transaction_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  mine uuid[];
  by_payer text;
  earliest_ns bigint;
  start_ns bigint;
begin
  select array_agg(locked.star_id) into mine from (
    select star_id from outbox
    where star_id in (select (star->>'star_id')::uuid from json_array_elements(stars) as star)
      and state = 'pending' and lease_owner = holder and lease_until > now_ms()
    order by star_id for update
  ) as locked;
  select max(payer), max(not_before) into by_payer, earliest_ns
  from json_to_recordset(stars) as given (star_id uuid, payer text, not_before bigint)
  where star_id = any (mine);
  if by_payer is null then return; end if;
  perform pg_advisory_xact_lock(hashtext('reserve_transaction'), hashtext(by_payer));
  select coalesce(max(known.valid_start_ns) + 1
    + ('x' || right(mine[1]::text, 4))::bit(16)::integer, earliest_ns) into start_ns
  from publish_attempt known
  where known.payer = by_payer
    and known.valid_start_ns between earliest_ns and earliest_ns + 999999999;
  return query
  with reserved as (
    insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at)
    select star_id, 1 + (select coalesce(max(earlier.attempt), 0) from publish_attempt earlier
        where earlier.star_id = given.star_id),
      topic_id, by_payer, start_ns - 1 + row_number() over (order by star_id), now_ms()
    from json_to_recordset(stars) as given (star_id uuid, topic_id text)
    where star_id = any (mine)
    on conflict do nothing
    returning star_id, topic_id, valid_start_ns, transaction_id
  ), kept as (
    update outbox set state = 'reserved', topic_id = reserved.topic_id,
      transaction_id = reserved.transaction_id
    from reserved where outbox.star_id = reserved.star_id
  )
  select star_id, valid_start_ns, transaction_id from reserved;
end
$$;

-- Compares messages read from a mirror node with what was sent; the only way to `published`.
-- `messages` is a JSON array (see src/publishing/confirm.ts). Verdicts:
--   published    our id and our bytes, and the receipt does not contradict
--   foreign      our id with other bytes: another sender used it, so ours never took effect
--                and never will; the star gets another id
--   contradicts  the consensus nodes' receipt and the mirror node disagree
--   returned     our id and our bytes, but the attempt was given up: a second message
create function confirm_messages(on_topic text, messages json)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language plpgsql set enable_seqscan = off as $$
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
        -- These two may be the receipt of one node's copy, before another's takes effect.
        when attempt.receipt_status not in ('INVALID_NODE_ACCOUNT', 'INVALID_PAYER_SIGNATURE')
          and (attempt.receipt_status <> 'SUCCESS'
            or attempt.receipt_sequence is distinct from said.sequence_number
            or attempt.receipt_hash <> said.running_hash) then 'contradicts'
        else 'published'
      end as verdict
    from said
    cross join lateral (
      select * from publish_attempt where transaction_id = said.transaction_id limit 1
    ) as attempt
    cross join lateral (select message from outbox where star_id = attempt.star_id limit 1) as outbox
  ), published as (
    update outbox set state = 'published', topic_id = on_topic, transaction_id = judged.transaction_id,
      sequence_number = judged.sequence_number, consensus_timestamp = judged.consensus_timestamp,
      running_hash = judged.running_hash, submitted_at = coalesce(submitted_at, now_ms()),
      published_at = now_ms(), lease_owner = null, lease_until = 0, last_error = null
    from judged
    -- Its sending may have been written down after this copy of the journal was made.
    where outbox.star_id = judged.star_id and judged.verdict = 'published'
      and outbox.state in ('reserved', 'signed', 'sent')
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

-- Whether a message is ours by who paid for it: the operator that the caller names, or one that
-- has sent stars of this journal. A journal that has sent nothing believes every payer where the
-- caller names none, because the topics take messages under our submit key alone.
create function is_our_payer(payer text, our_payer text) returns boolean
language sql stable as $$
  select payer = our_payer
    or exists (select from publish_attempt known where known.payer = is_our_payer.payer)
    or our_payer is null and not exists (select from publish_attempt)
$$;

-- Star ids are UUIDv7: those of one millisecond lie between two of these.
create function first_star_id(of_ms bigint) returns uuid
language sql immutable strict as $$
  select (lpad(to_hex(of_ms), 12, '0') || repeat('0', 20))::uuid
$$;

create function instant_of_star_id(star_id uuid) returns bigint
language sql immutable strict as $$
  select ('x' || left(replace(star_id::text, '-', ''), 12))::bit(48)::bigint
$$;

-- Publishes waiting stars whose messages are on the topic already, under an id that this journal
-- does not know: it is an older copy of the one that sent them. Wallet, target and instant make
-- the bytes unique. An id that was given up is known; its message is the star's as well, as long
-- as nothing was sent for it under another one. Called after `confirm_messages`.
create function adopt_sent_messages(on_topic text, messages json, our_payer text)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language sql as $$
  with said as materialized (
    select * from json_to_recordset(messages) as mirrored (sequence_number bigint,
      consensus_timestamp text, transaction_id text, running_hash text, payer text, bytes text,
      said_at bigint)
    where said_at between 0 and 253402300799998 and transaction_id is not null
  ), twin as materialized (
    select distinct on (box.star_id) box.star_id, said.*
    from said cross join lateral (
      select star_id, state from outbox
      where star_id >= first_star_id(said.said_at) and star_id < first_star_id(said.said_at + 1)
        and state <> 'published' and convert_to(message, 'UTF8') = decode(said.bytes, 'base64')
      offset 0
    ) as box
    where is_our_payer(said.payer, our_payer) and not exists (
      select from publish_attempt known where known.transaction_id = said.transaction_id
        and (known.closed_at is null or box.state = 'sent'))
    order by box.star_id, said.sequence_number
  ), adopted as (
    update outbox set state = 'published', topic_id = on_topic, transaction_id = twin.transaction_id,
      sequence_number = twin.sequence_number, consensus_timestamp = twin.consensus_timestamp,
      running_hash = twin.running_hash, submitted_at = coalesce(submitted_at, now_ms()),
      published_at = now_ms(), lease_owner = null, lease_until = 0, last_error = null
    from twin where outbox.star_id = twin.star_id and outbox.state <> 'published'
    returning outbox.star_id, outbox.sequence_number, outbox.transaction_id, twin.said_at
  ), closed as (
    update publish_attempt set closed_at = now_ms(), signed_bytes = null, outcome = 'adopted',
      evidence = on_topic || ' #' || adopted.sequence_number
    from adopted where publish_attempt.star_id = adopted.star_id and closed_at is null
  )
  select star_id, 'adopted', sequence_number, now_ms() - said_at, transaction_id from adopted
$$;

-- What is wrong between outbox and topics, once each (see src/publishing/reconciliation-findings.ts):
--   missing        a star that is long overdue, or a place of a topic that was read but has no
--                  star and no finding
--   duplicate      a second message of a star
--   lost           a message of ours without a star in the journal: the journal is behind its
--                  topics (docs/operating). Resolved by recovering it, or by accepting the loss
--   foreign        a message that this service did not send
--   malformed      a message that is no star
--   wrong bytes    the transaction, or the place, of a star with another text than its own
--   wrong topic    a star's message on another topic than its own
--   broken chain   a running hash that does not follow from the one before
--   contradiction  the receipt and the mirror node disagree
create table publishing_finding (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('missing', 'duplicate', 'lost', 'foreign', 'malformed',
    'wrong bytes', 'wrong topic', 'broken chain', 'contradiction')),
  topic_id text,
  sequence_number bigint,
  star_id uuid,
  detail text not null,
  noticed_at epoch_ms not null default now_ms(),
  -- When a missing star was published after all, or an operator resolved the finding.
  resolved_at epoch_ms,
  check ((topic_id is null) = (sequence_number is null)),
  check (topic_id is not null or star_id is not null)
);
create unique index publishing_finding_of_place
  on publishing_finding (topic_id, sequence_number, kind) where topic_id is not null;
create unique index publishing_finding_of_star
  on publishing_finding (star_id, kind) where topic_id is null;
create index publishing_finding_open on publishing_finding (id) where resolved_at is null;
create index publishing_finding_lost on publishing_finding (topic_id, sequence_number)
  where kind = 'lost' and resolved_at is null;
create index publishing_finding_accepted on publishing_finding (resolved_at)
  where kind = 'lost' and resolved_at is not null;

create trigger publishing_finding_stands before update on publishing_finding
  for each row when (old.resolved_at is not null or new.resolved_at is null
    or to_jsonb(old) - 'resolved_at' <> to_jsonb(new) - 'resolved_at')
  execute function refuse_change('a finding may only be resolved, once', 'id');
call keep_rows('publishing_finding', 'delete');

-- How far each topic was audited by `audit_topic`.
create table topic_audit (
  topic_id text primary key references topic_reading (topic_id),
  sequence_number bigint not null check (sequence_number >= 0)
);

-- What workers want an operator to see, each as long as its worker reports it.
create table publishing_alarm (
  worker uuid not null,
  reason text not null,
  -- The topic it is about, or empty.
  subject text not null,
  detail text not null,
  raised_at epoch_ms not null,
  seen_at epoch_ms not null,
  primary key (worker, reason, subject)
);

-- Records which messages are not the confirmation of a star. Called after `confirm_messages` with
-- the same messages. The caller adds `malformed`, `unchained` and `said_at`, the star's instant
-- that the text names (src/publishing/confirm.ts).
create function note_findings(on_topic text, messages json, our_payer text) returns void
language sql as $$
  with said as materialized (
    select *, decode(bytes, 'base64') as content
    from json_to_recordset(messages) as mirrored (sequence_number bigint, transaction_id text,
      payer text, bytes text, malformed boolean, unchained boolean, said_at bigint)
  ), known as materialized (
    select said.*, attempt.topic_id as sent_to, attempt.outcome, attempt.closed_at,
      coalesce(attempt.star_id, placed.star_id, twin.star_id) as star_id,
      attempt.star_id is not null as is_ours,
      placed.star_id is not null as is_placed,
      twin.star_id is not null as is_twin, twin.topic_id as twin_topic,
      coalesce(placed.transaction_id = said.transaction_id
        and convert_to(placed.message, 'UTF8') = content, false) as is_confirmed,
      coalesce(convert_to(box.message, 'UTF8') = content, false) as has_our_bytes
    from said
    left join lateral (
      select * from publish_attempt where transaction_id = said.transaction_id limit 1
    ) as attempt on true
    left join lateral (select message from outbox where star_id = attempt.star_id limit 1) as box on true
    left join lateral (
      select * from outbox where topic_id = on_topic and sequence_number = said.sequence_number
        and state = 'published' limit 1
    ) as placed on true
    left join lateral (
      select outbox.star_id, outbox.topic_id from outbox
      where attempt.star_id is null and said.said_at between 0 and 253402300799999
        and outbox.star_id >= first_star_id(said.said_at)
        and outbox.star_id < first_star_id(said.said_at + 1)
        and convert_to(outbox.message, 'UTF8') = content
      limit 1
    ) twin on true
  ), judged as (
    select known.*, case
      when is_confirmed then null
      when is_ours and sent_to <> on_topic then 'wrong topic'
      when is_ours and not has_our_bytes then 'wrong bytes'
      when is_ours and closed_at is null then 'contradiction'
      when is_ours then 'duplicate'
      when is_placed then 'wrong bytes'
      when malformed then 'malformed'
      -- A star that waits is on no topic yet.
      when is_twin and twin_topic <> on_topic then 'wrong topic'
      when is_twin and twin_topic is not null then 'duplicate'
      when is_our_payer(payer, our_payer) then 'lost'
      else 'foreign' end as kind
    from known
  )
  insert into publishing_finding (kind, topic_id, sequence_number, star_id, detail)
  select kind, on_topic, sequence_number, star_id,
    'transaction ' || coalesce(transaction_id, 'unknown') from judged where kind is not null
  union all
  select 'broken chain', on_topic, sequence_number, null, 'transaction ' || coalesce(transaction_id, 'unknown')
  from judged where unchained
  order by sequence_number
  on conflict do nothing
$$;

-- Reads a topic on by one page: confirms its messages, adopts those of waiting stars, records findings, then
-- gives up every attempt whose validity ended before the page's last message. That proves a message absent:
-- every message up to there was compared, without a gap, and none carried its id. Verdicts as in
-- `confirm_messages`, `adopted` and `absent`. Does nothing when another process has read on meanwhile.
--
-- It looks each message up by itself: of a plain join, planned on a short outbox, the planner may make
-- a reading of all of it, and reads a long one through then for each page.
create function read_topic_on(on_topic text, after_sequence bigint, messages json, last_sequence bigint,
  last_ns bigint, our_payer text)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  touched uuid[];
begin
  update topic_reading set sequence_number = last_sequence, running_hash = messages->-1->>'running_hash'
  where topic_id = on_topic and sequence_number = after_sequence;
  if not found then return; end if;
  touched := array(
    select star_id from json_to_recordset(messages) as said (transaction_id text)
    cross join lateral (
      select star_id from publish_attempt where transaction_id = said.transaction_id limit 1
    ) as attempt
    union all
    select star_id from json_to_recordset(messages) as said (said_at bigint, bytes text)
    cross join lateral (
      select star_id from outbox
      where said_at between 0 and 253402300799998 and state <> 'published'
        and star_id >= first_star_id(said_at) and star_id < first_star_id(said_at + 1)
        and convert_to(message, 'UTF8') = decode(bytes, 'base64')
      offset 0
    ) as box
    union all
    select star_id from publish_attempt
    where topic_id = on_topic and closed_at is null and valid_until_ns < last_ns);
  -- In the order of the stars, as the steps of publishing lock them: neither waits for the other in vain.
  perform from outbox where star_id = any (touched) order by star_id for update;
  return query select * from confirm_messages(on_topic, messages);
  return query select * from adopt_sent_messages(on_topic, messages, our_payer);
  perform note_findings(on_topic, messages, our_payer);
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

-- Audits a topic by one window, up to where it was read: every place must be a star's or a
-- finding. Returns how many places it went through.
create function audit_topic(on_topic text, places_max integer) returns bigint
language plpgsql as $$
declare
  from_sequence bigint;
  to_sequence bigint;
begin
  insert into topic_audit (topic_id, sequence_number)
  select topic_id, 0 from topic_reading where topic_id = on_topic
  on conflict do nothing;
  select audit.sequence_number, least(reading.sequence_number, audit.sequence_number + places_max)
  into from_sequence, to_sequence
  from topic_audit audit join topic_reading reading using (topic_id)
  where topic_id = on_topic for update of audit skip locked;
  if not found then return 0; end if;
  insert into publishing_finding (kind, topic_id, sequence_number, detail)
  select 'missing', on_topic, place, 'read past, and no star or finding has this place'
  from generate_series(from_sequence + 1, to_sequence) as place
  where not exists (select from outbox where topic_id = on_topic and sequence_number = place
      and state = 'published')
    and not exists (select from publishing_finding known where known.topic_id = on_topic
      and known.sequence_number = place)
  on conflict do nothing;
  update topic_audit set sequence_number = to_sequence
  where topic_id = on_topic;
  return to_sequence - from_sequence;
end
$$;

-- Records stars accepted before an instant and not published as findings, the oldest first, and
-- resolves those that are published by now. At most `stars_max` are open: each call looks at every
-- open one, and half a million of them would never be resolved within a statement's time.
create function note_missing_stars(accepted_before bigint, stars_max integer) returns void
language sql as $$
  insert into publishing_finding (kind, star_id, detail)
  select 'missing', star_id, 'accepted long ago and not published: ' || state
  from outbox where state <> 'published' and star_id < first_star_id(accepted_before)
    and not exists (select from publishing_finding known
      where known.star_id = outbox.star_id and known.kind = 'missing' and known.topic_id is null)
  order by star_id limit greatest(0, stars_max - (select count(*) from publishing_finding
    where kind = 'missing' and topic_id is null and resolved_at is null))
  on conflict do nothing;
  update publishing_finding set resolved_at = now_ms()
  from outbox
  where publishing_finding.kind = 'missing' and publishing_finding.topic_id is null
    and publishing_finding.resolved_at is null
    and outbox.star_id = publishing_finding.star_id and outbox.state = 'published'
$$;

-- Which database this is. Another server, a promoted standby and a point-in-time restore differ in
-- the first two parts, a restored dump in the last two: it makes the tables anew.
create function database_identity() returns text
language sql stable as $$
  select (select system_identifier from pg_control_system())::text
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database())
    || '/' || to_regclass('outbox')::oid
$$;

-- Ids that workers add every few seconds. A process remembers the newest it has seen; where that
-- one is missing, the rows of the journal are older than the process.
create table journal_epoch (
  id uuid primary key default gen_random_uuid(),
  -- In the order in which they were added: the clock may have been set back since.
  number bigint not null unique generated always as identity,
  at epoch_ms not null default now_ms()
);

-- The database in which the workers know the topics. It goes with every copy of the journal, so a
-- process that finds another identity works on a copy.
create table journal_home (
  singleton boolean primary key default true check (singleton),
  identity text not null,
  at epoch_ms not null default now_ms()
);

-- Whether the database is still the one whose topics a process has read.
create function is_known_database(identity text, epoch uuid) returns boolean
language sql stable as $$
  select identity = database_identity()
    and exists (select from journal_epoch where id = epoch)
$$;
