drop procedure if exists keep_rows;

-- The roles and every grant. The service works as `starboard_app`: it adds to the journal and its
-- counters by `cast_stars` and `release_claims` alone, changes or deletes no star, and has no DDL.
-- `starboard_reader` may read `attention` alone.
-- Where this login may not create roles (some managed servers), the append-only triggers stand
-- alone, and `serve` says so in its log. Once the roles are there, this file may run again.
do $$
declare
  role_name text;
  privileged regprocedure;
  has_app boolean;
begin
  foreach role_name in array array['starboard_app', 'starboard_reader'] loop
    begin
      execute format('create role %I nologin', role_name);
    exception when duplicate_object or unique_violation or insufficient_privilege then null;
    end;
    if exists (select from pg_roles where rolname = role_name) then
      execute format('grant usage on schema %I to %I', current_schema(), role_name);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'starboard_reader') then
    grant select on attention to starboard_reader;
  end if;
  has_app := exists (select from pg_roles where rolname = 'starboard_app');
  -- What runs with its owner's rights finds nothing in the caller's temporary schema, and is for the
  -- service alone.
  for privileged in
    select oid from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace
  loop
    execute format('alter function %s set search_path = %I, pg_temp', privileged, current_schema());
    execute format('revoke execute on function %s from public', privileged);
    if has_app then execute format('grant execute on function %s to starboard_app', privileged); end if;
  end loop;
  if not has_app then return; end if;

  begin
    execute format('grant starboard_app to %I', session_user);
  exception when insufficient_privilege or invalid_grant_operation then null;
  end;
  -- The migrator's own table: readiness compares it with this build.
  if to_regclass('schema_version') is not null then
    grant select on schema_version to starboard_app;
  end if;

  -- What the functions above write.
  grant select on star, serial_claim, outbox, mint_star, claim_release, event_total, item_day,
    item_hour to starboard_app;
  grant select, insert (id, name, prefix, hash, created_at), update (last_used_at)
    on api_key to starboard_app;
  grant select, insert (id, name, role, token_hash, created_at), update (role, last_used_at)
    on operator to starboard_app;

  -- What only grows, and the few columns of it that move.
  grant select, insert on xp_credit, export_day, topic_reading, publishing_finding, operator_log
    to starboard_app;
  grant update (state, topic_id, transaction_id, sequence_number, consensus_timestamp, running_hash,
    lease_owner, lease_until, tries, next_try_at, last_error, submitted_at, published_at)
    on outbox to starboard_app;
  grant update (sequence_number, running_hash) on topic_reading to starboard_app;
  grant update (resolved_at) on publishing_finding to starboard_app;

  -- What is updated and never removed.
  grant select, insert, update on publish_attempt, topic_audit, holdings_check_run,
    holdings_check_mint, export_check, export_setting, read_revision, journal_home, project_ledger_id to starboard_app;
  grant select, update on reward_hand_off to starboard_app;

  grant select, insert, update, delete on event, token, collection, project, season, premium_pass,
    challenge, session, idempotency_key, season_score, publishing_alarm, journal_epoch,
    operator_session, operator_link, service_process, service_minute to starboard_app;
  grant select on xp_ledger, attention to starboard_app;
  grant select on star_conflict, recovered_day to starboard_app;
  grant usage, select on sequence journal_seq, forever_mint_order to starboard_app;
  grant usage on sequence xp_credit_seq to starboard_app;
end
$$;
