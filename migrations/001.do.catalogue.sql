-- What every file here uses, and the directory: what can be starred.
--
-- SQLSTATEs that these functions raise, as the callers know them:
--   SB400  the request makes no sense here: say so to the caller
--   SB403  a row that is written once would be changed or removed: a bug, or a person at work
--   SB408  too late: the caller's deadline has passed, or the day is closed; try again later
--   SB409  another commit came first; decide again. The detail lists what it concerns

-- Milliseconds since the Unix epoch, UTC: the unit of the ledger message's `timestamp`.
create domain epoch_ms as bigint check (value >= 0);

-- The one clock that every process follows.
create function now_ms() returns bigint
language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

-- 00:00:00.000 UTC belongs to the new day, in every time zone of the session.
create function utc_day(at bigint) returns date
language sql immutable parallel safe as $$
  select date '1970-01-01' + (at / 86400000)::integer
$$;

-- Refuses what a trigger is asked about, in the words it gives, with the value of a column that it names;
-- to administrators too.
create function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception using errcode = 'SB403',
    message = coalesce(tg_argv[0], format('%s is append-only: %s refused', tg_table_name, lower(tg_op))),
    detail = coalesce(to_jsonb(old) ->> tg_argv[1], '');
end
$$;

-- Makes a table append-only: `keeper` is asked before these changes of a row, and it is never emptied.
create procedure keep_rows(of_table text, changes text, keeper text default 'refuse_change')
language plpgsql as $$
begin
  execute format('create trigger %I before %s on %I for each row execute function %I()',
    of_table || '_is_append_only', changes, of_table, keeper);
  execute format('create trigger %I before truncate on %I for each statement execute function refuse_change()',
    of_table || '_is_never_emptied', of_table);
end
$$;

-- A record is visible only while `approved_at` is set.
create table event (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  title text not null,
  description text,
  event_type text not null check (event_type in ('MINT_EVENT', 'ECOSYSTEM_MEETUP', 'HACKATHON', 'OTHER')),
  is_forever_mint boolean not null default false,
  source text,
  starts_at epoch_ms not null,
  ends_at epoch_ms,
  host text,
  location text,
  image_url text,
  url text,
  links jsonb not null default '[]',
  prizes jsonb not null default '[]',
  created_at epoch_ms not null,
  approved_at epoch_ms,
  check (not is_forever_mint or event_type = 'MINT_EVENT'),
  check (is_forever_mint = (ends_at is null)),
  check (ends_at >= starts_at)
);
create index event_soonest_first on event (starts_at, id) where approved_at is not null;

create table token (
  id text primary key check (id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  number bigint not null generated always as (split_part(id, '.', 3)::bigint) stored,
  symbol text not null,
  name text not null,
  icon_url text,
  price double precision check (price >= 0),
  market_cap double precision check (market_cap >= 0),
  created_at epoch_ms not null,
  approved_at epoch_ms
);

create table collection (
  id text primary key check (id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  number bigint not null generated always as (split_part(id, '.', 3)::bigint) stored,
  name text not null,
  image_url text,
  owners bigint check (owners >= 0),
  supply bigint check (supply >= 0),
  created_at epoch_ms not null,
  approved_at epoch_ms
);

create table project (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  -- Deferred to the end of a statement: one import may exchange the slugs of two projects.
  slug text not null unique deferrable check (slug ~ '^[A-Za-z0-9_-]{1,64}$'),
  name text not null,
  category text not null check (category in (
    'DEFI', 'TOOLS', 'MARKETPLACE', 'DATA', 'COMMUNITY', 'WALLET',
    'BRIDGE', 'GAMING', 'NFT', 'EDUCATION', 'INFRASTRUCTURE', 'OTHER')),
  country text check (country ~ '^[A-Z]{2}$'),
  description text,
  logo_url text,
  website_url text,
  -- The ledger's name for it: a wallet stars it once a day, so it is one project's alone.
  ledger_id text unique deferrable check (ledger_id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  created_at epoch_ms not null,
  approved_at epoch_ms
);
create index project_newest_first on project (created_at desc, id) where approved_at is not null;

-- The project that had each ledger id last. While none of its stars' messages bears it, the ledger id
-- may go to another project; afterwards the topics would show those stars as that one's.
create table project_ledger_id (
  ledger_id text primary key,
  project_id text not null
);
-- The check runs at the commit, under the lock of `keep_starred_kind`.
create function keep_starred_ledger_id() returns trigger
language plpgsql as $$
declare
  last_project text := (select project_id from project_ledger_id where ledger_id = new.ledger_id);
begin
  if last_project = new.id then return null; end if;
  if last_project is not null then
    perform pg_advisory_xact_lock(hashtext('hold_seasons'));
    if is_starred_as(last_project, new.ledger_id) then
      raise exception 'project % is starred as % and keeps it', last_project, new.ledger_id
        using errcode = 'SB409';
    end if;
  end if;
  insert into project_ledger_id values (new.ledger_id, new.id)
  on conflict (ledger_id) do update set project_id = excluded.project_id;
  return null;
end
$$;
create constraint trigger starred_project_keeps_its_ledger_id after insert or update of ledger_id on project
  deferrable initially deferred for each row
  when (new.ledger_id is not null) execute function keep_starred_ledger_id();

-- "Forever mint" decides how stars are counted, so it cannot change once an event has stars. The
-- check runs at the commit. Its lock waits for stars that are being stored (`cast_stars` holds it
-- shared); later stars wait for the commit and then find the new rule.
create function keep_starred_kind() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('hold_seasons'));
  if exists (select from event_total where event_id = new.id) then
    raise exception 'event % is starred and cannot come under another rule', new.id
      using errcode = 'SB409';
  end if;
  return null;
end
$$;
create constraint trigger event_keeps_its_kind after update on event
  deferrable initially deferred for each row
  when (old.is_forever_mint <> new.is_forever_mint) execute function keep_starred_kind();
