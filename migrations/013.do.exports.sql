-- The journal's export (src/journal/export-format.ts). A final day is not kept as bytes: they are
-- made from the journal each time, and this table says what they must be. The header stands here
-- whole, because settings may change.
create table export_day (
  day date primary key,
  header text not null,
  stars bigint not null check (stars >= 0),
  releases bigint not null check (releases >= 0),
  -- Of the whole export.
  bytes bigint not null check (bytes > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  previous text not null check (previous ~ '^[0-9a-f]{64}$'),
  chain text not null,
  finalized_at epoch_ms not null default now_ms(),
  check (chain = encode(sha256(convert_to(previous || sha256, 'UTF8')), 'hex'))
);

-- What the last look at a final day made of it; anything else than its hash is an alarm.
create table export_check (
  day date primary key references export_day (day),
  sha256 text not null,
  checked_at epoch_ms not null
);

create trigger export_day_is_append_only before update or delete on export_day
  for each row execute function refuse_change();
create trigger export_day_is_never_emptied before truncate on export_day
  for each statement execute function refuse_change();

-- One chain without a gap, whoever writes.
create function follow_last_export() returns trigger
language plpgsql as $$
begin
  -- Another worker was faster: the unique key decides.
  if exists (select from export_day where day = new.day) then return new; end if;
  if new.previous is distinct from coalesce(
    (select chain from export_day where day = new.day - 1),
    case when not exists (select from export_day) then repeat('0', 64) end)
  then
    raise exception 'the export of % does not follow the day before', new.day using errcode = 'SB403';
  end if;
  return new;
end
$$;
create trigger export_day_follows before insert on export_day
  for each row execute function follow_last_export();

-- A final day takes nothing more, even if the server's clock is set back over midnight:
-- SB408, "cannot be stored now", until the clock has passed the day again.
create function keep_final_days() returns trigger
language plpgsql as $$
begin
  if tg_table_name = 'claim_release' then
    perform from export_day where day in (select utc_day(released_at) from arrived);
  else
    perform from export_day where day in (select day from arrived);
  end if;
  if found then
    raise exception 'the export of this day is final' using errcode = 'SB408';
  end if;
  return null;
end
$$;
create trigger star_keeps_final_days after insert on star
  referencing new table as arrived
  for each statement execute function keep_final_days();
create trigger claim_release_keeps_final_days after insert on claim_release
  referencing new table as arrived
  for each statement execute function keep_final_days();

-- In which an export is read, page by page.
create index star_by_day_and_seq on star (day, seq);
create index claim_release_by_day on claim_release (utc_day(released_at), seq, collection, serial);
create index mint_star_by_star on mint_star (day, star_id);

do $$
begin
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert on export_day to starboard_app;
    grant select, insert, update on export_check to starboard_app;
  end if;
end
$$;
