-- The directory: what can be starred. A record is visible only while `approved_at` stands.

-- Instants are milliseconds since the Unix epoch, UTC, everywhere: the unit of the
-- ledger message's `timestamp`, and one that no session time zone can bend.
create domain epoch_ms as bigint check (value >= 0);

-- The one clock (contract, section 1). Every process follows it.
create function now_ms() returns bigint
language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

-- 00:00:00.000 UTC belongs to the new day; days never depend on a time zone.
create function utc_day(at bigint) returns date
language sql immutable parallel safe as $$
  select date '1970-01-01' + (at / 86400000)::integer
$$;

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
  slug text not null,
  name text not null,
  category text not null check (category in (
    'DEFI', 'TOOLS', 'MARKETPLACE', 'DATA', 'COMMUNITY', 'WALLET',
    'BRIDGE', 'GAMING', 'NFT', 'EDUCATION', 'INFRASTRUCTURE', 'OTHER')),
  country text check (country ~ '^[A-Z]{2}$'),
  description text,
  logo_url text,
  website_url text,
  ledger_id text check (ledger_id ~ '^0\.0\.[1-9][0-9]{0,11}$'),
  created_at epoch_ms not null,
  approved_at epoch_ms
);
create index project_newest_first on project (created_at desc, id) where approved_at is not null;

-- Seasons never overlap: "current season" has one answer.
create table season (
  id uuid primary key,
  name text not null,
  starts_at epoch_ms not null,
  ends_at epoch_ms not null,
  check (starts_at < ends_at),
  exclude using gist (int8range(starts_at, ends_at) with &&)
);

-- A paid pass for one season; its extra votes stop when that season ends.
create table premium_pass (
  wallet bigint not null check (wallet > 0),
  season_id uuid not null references season (id),
  granted_at epoch_ms not null,
  primary key (wallet, season_id)
);
