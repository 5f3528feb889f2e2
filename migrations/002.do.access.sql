-- API keys (hash only), sign-in challenges and sessions. All in Postgres, so that losing Redis
-- signs no one out.

create table api_key (
  id uuid primary key,
  name text not null check (length(name) between 1 and 300),
  prefix text not null,
  hash bytea not null unique check (length(hash) = 32),
  created_at epoch_ms not null,
  last_used_at epoch_ms,
  revoked_at epoch_ms
);

-- The service's role may revoke a key, and not take that back. Revoking again changes nothing.
create function revoke_key(of_key uuid, out id uuid, out revoked_at bigint) returns setof record
language sql security definer as $$
  update api_key set revoked_at = coalesce(api_key.revoked_at, now_ms()) where api_key.id = of_key
  returning api_key.id, api_key.revoked_at
$$;

-- Consumed once, by `delete … returning`, before the signature is checked. `wallet` is an account
-- id or an EVM address as the signer gave it; `origin` is the browser origin that asked, else ours.
create table challenge (
  id uuid primary key,
  wallet text not null check (wallet ~ '^(0\.0\.[1-9][0-9]{0,11}|0x[0-9a-f]{40})$'),
  origin text not null,
  message text not null,
  expires_at epoch_ms not null
);
create index challenge_expiry on challenge (expires_at);

create table session (
  token_hash bytea primary key check (length(token_hash) = 32),
  wallet bigint not null check (wallet > 0),
  created_at epoch_ms not null,
  expires_at epoch_ms not null,
  -- SHA-256 of the account's key when the session was opened: with another key it ends.
  key_fingerprint bytea not null check (length(key_fingerprint) = 32)
);
create index session_by_wallet on session (wallet, created_at);
create index session_expiry on session (expires_at);
