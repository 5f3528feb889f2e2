-- The operators' console: who is signed in, what was done there, and how the processes are.
-- Nothing here is touched by a star on its way.

-- Who is signed in at /ops. `operator` is the name typed at sign-in: with the session's id it is
-- the "who" of the log. The hash is keyed with OPERATOR_TOKEN, so another token ends every session.
create table operator_session (
  id uuid primary key,
  token_hash bytea not null unique check (length(token_hash) = 32),
  operator text not null check (length(operator) between 1 and 60),
  opened_at epoch_ms not null,
  -- Moved on at most once a minute: idle sessions end.
  used_at epoch_ms not null,
  expires_at epoch_ms not null
);
create index operator_session_expiry on operator_session (expires_at);

-- What operators did. Two rows for each action: `begun` before anything happens, then `done`
-- or `failed`; a `begun` alone tells of a process that died in between.
create table operator_log (
  id bigint primary key generated always as identity,
  action_id uuid not null,
  phase text not null check (phase in ('begun', 'done', 'failed')),
  at epoch_ms not null default now_ms(),
  operator text not null,
  session_id uuid not null,
  -- The action's name, as `keys.revoke`, and what it was about.
  action text not null,
  subject text not null default '',
  -- One sentence for people.
  notice text not null default '',
  details jsonb not null default '{}',
  unique (action_id, phase)
);
create trigger operator_log_is_append_only before update or delete on operator_log
  for each row execute function refuse_change();
create trigger operator_log_is_never_emptied before truncate on operator_log
  for each statement execute function refuse_change();

-- The processes of this service, each by an id of its own from start to end.
create table service_process (
  id uuid primary key,
  role text not null check (role in ('web', 'worker')),
  version text not null,
  host text not null,
  pid integer not null,
  started_at epoch_ms not null,
  -- Told every ten seconds; a process not heard of for longer has died.
  seen_at epoch_ms not null,
  -- Set by a process that stopped in order.
  stopped_at epoch_ms,
  -- What the process sees: live actors, memory, Redis, mirror node.
  report jsonb not null default '{}'
);
create index service_process_seen on service_process (seen_at);

-- What happened in each minute, summed over all processes; `name` is one of a fixed list (see
-- src/upkeep/report-process.ts), so a day is some thousands of rows, and older ones are dropped.
create table service_minute (
  minute integer not null,
  name text not null check (length(name) <= 80),
  count bigint not null,
  -- Of what was measured: its sum and its highest.
  total double precision not null default 0,
  peak double precision not null default 0,
  primary key (minute, name)
);

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert, update, delete on operator_session, service_process, service_minute
      to starboard_app;
    grant select, insert on operator_log to starboard_app;
  end if;
end
$$;
