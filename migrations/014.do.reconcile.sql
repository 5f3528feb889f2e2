-- The outbox held against the topics (src/publishing/findings.ts). Nothing is read twice: the
-- reading that confirms stars also writes down, in the same statement, what it met that is no
-- star's confirmation; and a moving window over the books finds what no reading accounts for.

-- The hash that the next message's hash must follow from; null while the last message read was
-- read by an earlier release.
alter table topic_reading add column running_hash text;

-- What is wrong, once each. Kinds:
--   missing       an accepted star that is long overdue, or a place of the topic that was read
--                 past without being written down anywhere
--   duplicate     a second message of a star
--   foreign       a message that nobody here sent
--   malformed     a message that is no star of any kind
--   wrong bytes   the transaction, or the place, of a star with another text than its own
--   wrong topic   a star's message on another topic than its own
--   broken chain  a running hash that does not follow from the one before
--   contradiction the receipt and the mirror node tell different stories
create table publishing_finding (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('missing', 'duplicate', 'foreign', 'malformed', 'wrong bytes',
    'wrong topic', 'broken chain', 'contradiction')),
  topic_id text,
  sequence_number bigint,
  star_id uuid,
  detail text not null,
  noticed_at epoch_ms not null default now_ms(),
  -- A missing star was published after all, or an operator has looked at it.
  resolved_at epoch_ms,
  check ((topic_id is null) = (sequence_number is null)),
  check (topic_id is not null or star_id is not null)
);
create unique index publishing_finding_of_place
  on publishing_finding (topic_id, sequence_number, kind) where topic_id is not null;
create unique index publishing_finding_of_star
  on publishing_finding (star_id, kind) where topic_id is null;
create index publishing_finding_open on publishing_finding (id) where resolved_at is null;

create function keep_finding() returns trigger
language plpgsql as $$
begin
  if old.resolved_at is not null or new.resolved_at is null
    or (old.id, old.kind, old.topic_id, old.sequence_number, old.star_id, old.detail, old.noticed_at)
      is distinct from
      (new.id, new.kind, new.topic_id, new.sequence_number, new.star_id, new.detail, new.noticed_at)
  then
    raise exception 'finding % may only be resolved, once', old.id using errcode = 'SB403';
  end if;
  return new;
end
$$;
create trigger publishing_finding_stands before update on publishing_finding
  for each row execute function keep_finding();
create trigger publishing_finding_is_kept before delete on publishing_finding
  for each row execute function refuse_change();
create trigger publishing_finding_is_never_emptied before truncate on publishing_finding
  for each statement execute function refuse_change();

-- How far the books of each topic were gone through.
create table topic_audit (
  topic_id text primary key references topic_reading (topic_id),
  sequence_number bigint not null check (sequence_number >= 0),
  audited_at epoch_ms not null
);

-- What workers want an operator to look at, each for as long as its worker says so.
create table publishing_alarm (
  worker uuid not null,
  reason text not null,
  -- What it is about: a topic, or nothing in particular.
  subject text not null,
  detail text not null,
  raised_at epoch_ms not null,
  seen_at epoch_ms not null,
  primary key (worker, reason, subject)
);

-- Star ids are UUIDv7: those of one instant lie between two of these.
create function first_star_id(of_ms bigint) returns uuid
language sql immutable strict as $$
  select (lpad(to_hex(of_ms), 12, '0') || repeat('0', 20))::uuid
$$;

-- Writes down which of these messages are not the confirmation of a star. Called after
-- `confirm_messages`, with the same messages; `malformed`, `unchained` and `said_at` (the
-- star's instant that the text names) were found out before (src/publishing/inspect-message.ts).
create function note_findings(on_topic text, messages json) returns void
language sql as $$
  with said as materialized (
    select *, decode(bytes, 'base64') as content
    from json_to_recordset(messages) as mirrored (sequence_number bigint, transaction_id text,
      bytes text, malformed boolean, unchained boolean, said_at bigint)
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
    left join publish_attempt attempt on attempt.transaction_id = said.transaction_id
    left join outbox box on box.star_id = attempt.star_id
    left join outbox placed on placed.topic_id = on_topic
      and placed.sequence_number = said.sequence_number and placed.state = 'published'
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
      when is_twin and twin_topic is distinct from on_topic then 'wrong topic'
      when is_twin then 'duplicate'
      else 'foreign' end as kind
    from known
  )
  insert into publishing_finding (kind, topic_id, sequence_number, star_id, detail)
  select kind, on_topic, sequence_number, star_id,
    'transaction ' || coalesce(transaction_id, 'unknown') from judged where kind is not null
  union all
  select 'broken chain', on_topic, sequence_number, null, 'transaction ' || coalesce(transaction_id, 'unknown')
  from judged where unchained
  on conflict do nothing
$$;

-- As in 006, and writes down what it meets besides.
create or replace function read_topic_on(on_topic text, after_sequence bigint, messages json, last_sequence bigint, last_ns bigint)
returns table (star_id uuid, verdict text, sequence_number bigint, lag_ms bigint, detail text)
language plpgsql as $$
#variable_conflict use_column
begin
  update topic_reading set sequence_number = last_sequence, consensus_ns = last_ns,
    running_hash = messages->-1->>'running_hash'
  where topic_id = on_topic and sequence_number = after_sequence;
  if not found then return; end if;
  return query select * from confirm_messages(on_topic, messages);
  perform note_findings(on_topic, messages);
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

-- Goes through the books of a topic by one window, up to where the topic was read: every place
-- must be some star's, or written down as a finding. Returns how many places it went through.
create function audit_topic(on_topic text, places_max integer) returns bigint
language plpgsql as $$
declare
  from_sequence bigint;
  to_sequence bigint;
begin
  insert into topic_audit (topic_id, sequence_number, audited_at)
  select topic_id, 0, now_ms() from topic_reading where topic_id = on_topic
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
  update topic_audit set sequence_number = to_sequence, audited_at = now_ms()
  where topic_id = on_topic;
  return to_sequence - from_sequence;
end
$$;

-- Stars that were accepted before an instant and are not published are findings; those that
-- were and are published by now are findings no more.
create function note_missing_stars(accepted_before bigint, stars_max integer) returns void
language sql as $$
  insert into publishing_finding (kind, star_id, detail)
  select 'missing', star_id, 'accepted long ago and not published: ' || state
  from outbox where state <> 'published' and star_id < first_star_id(accepted_before)
    and not exists (select from publishing_finding known
      where known.star_id = outbox.star_id and known.kind = 'missing' and known.topic_id is null)
  order by star_id limit stars_max
  on conflict do nothing;
  update publishing_finding set resolved_at = now_ms()
  from outbox
  where publishing_finding.kind = 'missing' and publishing_finding.topic_id is null
    and publishing_finding.resolved_at is null
    and outbox.star_id = publishing_finding.star_id and outbox.state = 'published'
$$;

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant update (running_hash) on topic_reading to starboard_app;
    grant select, insert on publishing_finding to starboard_app;
    grant update (resolved_at) on publishing_finding to starboard_app;
    grant select, insert, update on topic_audit to starboard_app;
    grant select, insert, update, delete on publishing_alarm to starboard_app;
  end if;
end
$$;
