-- Who may come in: API keys (hash only), sign-in challenges, sessions. All in Postgres,
-- so that losing Redis signs nobody out.

create table api_key (
  id uuid primary key,
  name text not null check (length(name) between 1 and 300),
  prefix text not null,
  hash bytea not null unique check (length(hash) = 32),
  created_at epoch_ms not null,
  last_used_at epoch_ms,
  revoked_at epoch_ms
);

-- Consumed by `delete … returning`, once, before the signature is looked at.
create table challenge (
  id uuid primary key,
  wallet bigint not null check (wallet > 0),
  message text not null,
  expires_at epoch_ms not null
);
create index challenge_expiry on challenge (expires_at);

create table session (
  token_hash bytea primary key check (length(token_hash) = 32),
  wallet bigint not null check (wallet > 0),
  created_at epoch_ms not null,
  expires_at epoch_ms not null
);
create index session_expiry on session (expires_at);
