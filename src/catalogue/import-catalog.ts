import postgres from "postgres";
import { TerminalError } from "../errors.ts";
import { codeOf, RAISED, runStatement, type Sql } from "../store/postgres.ts";
import { readCatalog } from "./read-catalog.ts";
import type { Catalog } from "./record-schemas.ts";
import { type RecordType, recordColumns } from "./record-type.ts";

export interface ImportOptions {
  /** The records become visible; else new ones wait for approval and old ones stay as they are. */
  readonly approve: boolean;
  /** Values of `EVENT_SOURCES`; empty when that is not set. */
  readonly eventSources: readonly string[];
}

/** How many records of each list were stored, and how many of them this import approved. */
export interface Imported {
  readonly imported: Readonly<Record<keyof Catalog, number>>;
  readonly approved: number;
}

/** What a look cannot see yet: a star that is being stored, another import. */
const MET: readonly string[] = [RAISED.conflict, "23505"];

/** 100,000 records were stored in 4 s; the pool given needs a statement_timeout as long. */
export const IMPORT_DEADLINE_MS = 120_000;

/**
 * Stores a catalogue: new records are added, known ones replaced by id, all or nothing. One
 * statement, because a transaction over several can be torn by a lost connection.
 *
 * @param given the parsed JSON of a catalogue file
 * @throws TerminalError `INVALID_REQUEST` naming every bad field; nothing was stored then
 */
export async function importCatalog(
  sql: Sql,
  given: unknown,
  { approve, eventSources }: ImportOptions,
): Promise<Imported> {
  const catalog = readCatalog(given, eventSources);
  const { events, tokens, collections, projects } = catalog;
  const imported = {
    events: events.length,
    tokens: tokens.length,
    collections: collections.length,
    projects: projects.length,
  };
  const total = Object.values(imported).reduce((sum, count) => sum + count, 0);
  await refuseTaken(sql, catalog);
  const attempt = () => runStatement(store(sql, catalog, approve), IMPORT_DEADLINE_MS);
  // Starred or taken since the first look: the second one names every such record.
  const changed = await attempt().catch(async (error) => {
    if (!MET.includes(codeOf(error))) throw error;
    await refuseTaken(sql, catalog);
    return attempt();
  });
  if (changed.length > 0) {
    const ids = changed.map(({ id }) => id).join(", ");
    throw new TerminalError(
      "INVALID_REQUEST",
      `already starred, so isForeverMint cannot change any more: ${ids}`,
    );
  }
  return { imported, approved: approve ? total : 0 };
}

/**
 * A wallet stars a ledger target once a day, so no two projects share one, approved or not; their
 * slugs differ too. A ledger id that messages of one project bear stays that project's: the topics
 * would give its stars to the other one. The schema says the same to imports and stars that meet.
 */
async function refuseTaken(sql: Sql, { projects }: Catalog): Promise<void> {
  const rows = await runStatement(
    sql<{ id: string; other: string; field: string }[]>`
      with given as (
        select * from json_to_recordset(${JSON.stringify(projects)}::text::json)
          as given (id text, slug text, "ledgerId" text)
      )
      select given.id, project.id as other,
        case when project.ledger_id = given."ledgerId" then 'ledgerId' else 'slug' end as field
      from given join project on project.slug = given.slug or project.ledger_id = given."ledgerId"
      where project.id not in (select id from given)
      union
      select given.id, last.project_id, 'ledgerId'
      from given join project_ledger_id as last on last.ledger_id = given."ledgerId"
      where last.project_id <> given.id and is_starred_as(last.project_id, last.ledger_id)
      order by id`,
    IMPORT_DEADLINE_MS,
  );
  if (rows.length === 0) return;
  const taken = rows.map(({ id, other, field }) => {
    const index = projects.findIndex((project) => project.id === id);
    return `projects[${index}] (id "${id}") ${field} is that of project ${other}`;
  });
  throw new TerminalError("INVALID_REQUEST", `the catalogue is not valid: ${taken.join("; ")}`);
}

/**
 * @returns the events that would have changed between forever mint and not although they
 *   were starred: their stars were counted by other rules. Then nothing is stored.
 */
function store(sql: Sql, catalog: Catalog, approve: boolean) {
  return sql<{ id: string }[]>`
    with changed as (
      select event.id
      from json_to_recordset(${JSON.stringify(catalog.events)}::text::json)
        as given (id text, "isForeverMint" boolean)
      join event on event.id = given.id join event_total on event_total.event_id = event.id
      where event.is_forever_mint <> given."isForeverMint"
    ),
    events as (${storeRecords(sql, "event", { records: catalog.events, approve })}),
    tokens as (${storeRecords(sql, "token", { records: catalog.tokens, approve })}),
    collections as (${storeRecords(sql, "collection", { records: catalog.collections, approve })}),
    projects as (${storeRecords(sql, "project", { records: catalog.projects, approve })})
    select id from changed order by id`;
}

/**
 * A known record keeps its date and, unless this import approves, its approval, as it stands when
 * the record is stored: an operator may have changed it since the import began. Rows are sorted by
 * key: two imports at once wait for each other, they do not deadlock.
 */
function storeRecords(
  sql: Sql,
  type: RecordType,
  { records, approve }: { readonly records: readonly object[]; readonly approve: boolean },
) {
  const given = recordColumns[type];
  const written = [...given, "created_at"];
  const list = (names: readonly string[]) =>
    names.map((name, index) => (index === 0 ? sql`${sql(name)}` : sql`, ${sql(name)}`));
  return sql`
    insert into ${sql(type)} as stored (id, ${list(written)}, approved_at)
    select given.id, ${list(given.map((column) => `given.${column}`))},
      coalesce(given.created_at, known.created_at, (select now_ms())),
      case when ${approve} then (select now_ms()) end
    from json_populate_recordset(null::${sql(type)}, ${inColumns(records)}::text::json) as given
    left join ${sql(type)} as known on known.id = given.id
    where not exists (select from changed) order by given.id
    on conflict (id) do update set (${list(written)}, approved_at)
      = (${list(written.map((column) => `excluded.${column}`))},
        coalesce(stored.approved_at, excluded.approved_at))`;
}

/** Records with their fields under the names of their columns: `imageUrl` is `image_url`. */
function inColumns(records: readonly object[]): string {
  return JSON.stringify(
    records.map((record) =>
      Object.fromEntries(
        Object.entries(record).map(([field, value]) => [postgres.fromCamel(field), value]),
      ),
    ),
  );
}
