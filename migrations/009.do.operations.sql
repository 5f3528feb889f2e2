-- The operators' console and the data revision.

-- Named operators. A token is stored as a hash alone. A name is free again once it is revoked, so a
-- lost token is replaced under the same name. `environment` is the bearer of OPERATOR_TOKEN.
create table operator (
  id uuid primary key,
  name text not null check (length(name) between 1 and 60 and lower(name) <> 'environment'),
  role text not null check (role in ('viewer', 'operator', 'admin')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at epoch_ms not null,
  last_used_at epoch_ms,
  revoked_at epoch_ms
);
-- In the operator log Ada and ada would be two, and a revocation of the one leave the other.
create unique index operator_name on operator (lower(name)) where revoked_at is null;

-- The service's role may revoke an operator, and not take that back.
create function revoke_operator(named text, out name text, out revoked_at bigint) returns setof record
language sql security definer as $$
  update operator set revoked_at = now_ms() where operator.name = named and operator.revoked_at is null
  returning operator.name, operator.revoked_at
$$;

-- Sessions at /ops. `operator` is the name in the operator log. A session of a named operator lasts
-- no longer than that operator; one of `environment` has no `operator_id`, and its hash is keyed with
-- OPERATOR_TOKEN, so that a new token ends it.
create table operator_session (
  id uuid primary key,
  token_hash bytea not null unique check (length(token_hash) = 32),
  operator text not null check (length(operator) between 1 and 80),
  operator_id uuid references operator,
  opened_at epoch_ms not null,
  -- Updated at most once a minute; idle sessions end.
  used_at epoch_ms not null,
  expires_at epoch_ms not null
);

-- Sign-in links that have not been used: each opens one session of `environment`.
create table operator_link (
  token_hash bytea primary key check (length(token_hash) = 32),
  expires_at epoch_ms not null
);

-- What operators did, at the console and by commands. Each act has two rows: `started` before anything
-- happens, then `done` or `failed`. A `started` alone means that the process died in between.
create table operator_log (
  id bigint primary key generated always as identity,
  action_id uuid not null,
  phase text not null check (phase in ('started', 'done', 'failed')),
  at epoch_ms not null default now_ms(),
  -- The operator's name, or the login that ran a command.
  operator text not null,
  -- The console's session; null for a command.
  session_id uuid,
  -- The client's address, or `command`.
  origin text not null default '',
  -- The action's name, as `keys.revoke`, and what it was about.
  action text not null,
  subject text not null default '',
  -- One sentence for people.
  notice text not null default '',
  -- Why, where the act asks for it.
  reason text,
  details jsonb not null default '{}',
  unique (action_id, phase)
);
call keep_rows('operator_log', 'update or delete');

-- The processes of this service, each by an id of its own from start to end.
create table service_process (
  id uuid primary key,
  role text not null check (role in ('web', 'worker')),
  version text not null,
  host text not null,
  pid integer not null,
  started_at epoch_ms not null,
  -- Updated every five seconds; a process silent for much longer has died.
  seen_at epoch_ms not null,
  -- Set by a process that stopped in order.
  stopped_at epoch_ms,
  -- What the process sees: live actors, memory, Redis, mirror node.
  report jsonb not null default '{}'
);

-- What happened in each minute, summed over all processes. `name` is one of a fixed list (see
-- src/upkeep/report-process.ts), and older rows are dropped, so the table stays small.
create table service_minute (
  minute integer not null,
  name text not null check (length(name) <= 80),
  count bigint not null,
  -- Of what was measured: its sum and its highest.
  total double precision not null default 0,
  peak double precision not null default 0,
  primary key (minute, name)
);

-- The data revision: counters that move with every commit that changes what the public API shows,
-- so that a rendered body may be reused while its revision stands (contract, section 2).
--
-- A sequence moves before the commit, so a reader could keep old data under the new number; a row
-- moves with its commit. One row per kind would make commits wait for each other. So a kind has
-- several rows, and a commit takes any free one, or adds one when all are taken. The revision of
-- a kind is the sum of its rows: it grows with each commit, and no two states share it.
create table read_revision (
  id bigint primary key generated always as identity,
  kind text not null,
  changes bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

insert into read_revision (kind)
select kind from unnest(array['event', 'token', 'collection', 'project', 'season']) as kind,
  generate_series(1, 4);

create function note_change(of_kind text) returns void
language plpgsql as $$
begin
  update read_revision set changes = changes + 1 where id = (
    select id from read_revision where kind = of_kind limit 1 for no key update skip locked);
  if not found then
    insert into read_revision (kind, changes) values (of_kind, 1);
  end if;
end
$$;

-- One JSON object: the changes of each kind, and under `server` which tables of which database count
-- them, and when the server started: a server that took over after a failure, and a dump that was
-- restored beside the database or into it, may lack the last commits and count them again.
create function data_revision() returns text
language sql stable as $$
  select json_object_agg(kind, changes)::text from (
    select kind, sum(changes)::text as changes from read_revision group by kind
    union all
    select 'server', concat_ws('.', extract(epoch from pg_postmaster_start_time()),
      (select oid from pg_database where datname = current_database()),
      to_regclass('read_revision')::oid)) as part
$$;

-- For tables of one kind, which is the trigger's argument, and for those whose rows name theirs. A
-- statement that changed no row counts for nothing, nor one of a function that notes its changes itself.
create function note_changed() returns trigger
language plpgsql as $$
begin
  if current_setting('starboard.notes_itself', true) = 'on' then return null; end if;
  if tg_nargs = 0 then
    perform note_change(target_type) from (select distinct target_type from changed) as kinds;
  elsif exists (select from changed) then
    perform note_change(tg_argv[0]);
  end if;
  return null;
end
$$;

-- For `truncate`, which names no rows.
create function note_emptied() returns trigger
language plpgsql as $$
begin
  perform note_change(kind) from (select distinct kind from read_revision) as kinds;
  return null;
end
$$;

do $$
declare
  watched record;
begin
  for watched in
    select name, coalesce(quote_literal(kind), '') as kind from (values
      ('event', 'event'), ('event_total', 'event'), ('token', 'token'), ('collection', 'collection'),
      ('project', 'project'), ('season', 'season'), ('season_score', 'season'),
      ('item_day', null), ('item_hour', null)) as list (name, kind)
  loop
    execute format('create trigger shown_when_added after insert on %I
      referencing new table as changed for each statement execute function note_changed(%s)', watched.name, watched.kind);
    execute format('create trigger shown_when_changed after update on %I
      referencing new table as changed for each statement execute function note_changed(%s)', watched.name, watched.kind);
    execute format('create trigger shown_when_removed after delete on %I
      referencing old table as changed for each statement execute function note_changed(%s)', watched.name, watched.kind);
    execute format('create trigger shown_when_emptied after truncate on %I
      for each statement execute function note_emptied()', watched.name);
  end loop;
end
$$;
