-- The service works as `starboard_app`: it may add to the journal but never change or delete
-- a star, and has no DDL. Where this login may not create roles (some managed servers), the
-- append-only triggers stand alone; `serve` says so in its log.
do $$
begin
  begin
    create role starboard_app nologin;
  exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then null;
  end;
  if exists (select from pg_roles where rolname = 'starboard_app') then
    begin
      execute format('grant starboard_app to %I', session_user);
    exception when insufficient_privilege or invalid_grant_operation then null;
    end;
    execute format('grant usage on schema %I to starboard_app', current_schema());
    grant select, insert, update, delete on
      event, token, collection, project, season, premium_pass,
      api_key, challenge, session, idempotency_key,
      event_total, item_day, item_hour to starboard_app;
    -- The migrator's own table: readiness compares it with this build.
    if to_regclass('schema_version') is not null then
      grant select on schema_version to starboard_app;
    end if;
    grant select, insert on star, serial_claim, outbox to starboard_app;
    grant usage on sequence journal_seq to starboard_app;
    grant update (released_at) on serial_claim to starboard_app;
    grant update (state, topic_id, transaction_id, sequence_number, consensus_timestamp, running_hash)
      on outbox to starboard_app;
  end if;
end
$$;
