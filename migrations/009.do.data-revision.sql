-- The data revision: counters that move with every commit that changes what the public API
-- shows, so that a rendered body may be reused while its revision stands (contract, section 2).
--
-- A sequence would not do: it moves before the commit, and whoever read in between would keep
-- the old data under the new number. A row moves with its commit. One row per kind would make
-- all commits queue for it, so there are several: a commit takes any that nobody holds, waits
-- for none (so it cannot deadlock either), and adds one when all are held. The revision of a
-- kind is the sum of its rows: it grows with each commit, and no two states share it.
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

-- One object: the changes of each kind, and when the server started, because one that took
-- over after a failure may lack the last commits and count them anew.
create function data_revision() returns text
language sql stable as $$
  select json_object_agg(kind, changes)::text from (
    select kind, sum(changes)::text as changes from read_revision group by kind
    union all
    select 'server', extract(epoch from pg_postmaster_start_time())::text) as part
$$;

-- For tables of one kind, which is the trigger's argument. A statement that changed nothing
-- changes nothing here.
create function note_changed_rows() returns trigger
language plpgsql as $$
begin
  if exists (select from changed) then perform note_change(tg_argv[0]); end if;
  return null;
end
$$;

-- For tables whose rows say what they are about.
create function note_changed_targets() returns trigger
language plpgsql as $$
begin
  perform note_change(target_type) from (select distinct target_type from changed) as kinds;
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
    select * from (values
      ('event', 'note_changed_rows(''event'')'),
      ('event_total', 'note_changed_rows(''event'')'),
      ('token', 'note_changed_rows(''token'')'),
      ('collection', 'note_changed_rows(''collection'')'),
      ('project', 'note_changed_rows(''project'')'),
      ('season', 'note_changed_rows(''season'')'),
      ('item_day', 'note_changed_targets()'),
      ('item_hour', 'note_changed_targets()')) as list (name, note)
  loop
    execute format('create trigger shown_when_added after insert on %I
      referencing new table as changed for each statement execute function %s', watched.name, watched.note);
    execute format('create trigger shown_when_changed after update on %I
      referencing new table as changed for each statement execute function %s', watched.name, watched.note);
    execute format('create trigger shown_when_removed after delete on %I
      referencing old table as changed for each statement execute function %s', watched.name, watched.note);
    execute format('create trigger shown_when_emptied after truncate on %I
      for each statement execute function note_emptied()', watched.name);
  end loop;
  if exists (select from pg_roles where rolname = 'starboard_app') then
    grant select, insert, update on read_revision to starboard_app;
  end if;
end
$$;
