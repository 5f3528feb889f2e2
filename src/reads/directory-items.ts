import type { TargetType } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type ProjectRow, projectColumns } from "./ecosystem.ts";
import { RANKED, type RankedRows, today, windows } from "./markets.ts";
import { type Fragment, itemWindows } from "./star-windows.ts";
import type { TargetName } from "./targets.ts";

/** Single records of the directory, as its own pages show them. */

/** One record, and its counters at an instant. */
export interface ItemQuery {
  readonly id: string;
  readonly now: number;
}

/** A record of the directory as its own page shows it, by its type. */
interface ItemRows extends RankedRows {
  readonly project: ProjectRow;
}

const COLUMNS: Readonly<Record<keyof ItemRows, (sql: Sql) => Fragment>> = {
  token: RANKED.token.columns,
  collection: RANKED.collection.columns,
  project: (sql) => sql`${projectColumns(sql)}, ${today(sql)}, ${windows(sql)}`,
};

/** An approved token, NFT collection or project with its counters, or undefined. */
export async function readItem<T extends keyof ItemRows>(
  sql: Sql,
  type: T,
  { id, now }: ItemQuery,
): Promise<ItemRows[T] | undefined> {
  const table: keyof ItemRows = type;
  const [row] = await runStatement(
    sql<ItemRows[T][]>`
      select ${COLUMNS[type](sql)} from ${sql(table)}
      cross join lateral ${itemWindows(sql, { type, now, id: sql`${sql(table)}.id` })} as given
      where id = ${id} and approved_at is not null`,
    bounds.readDeadlineMs,
  );
  return row;
}

/** Approved projects with the most stars today; those without any by their age, newest first. */
export async function topProjects(
  sql: Sql,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<readonly Pick<ProjectRow, "id" | "name" | "category" | "country" | "totalVotes">[]> {
  return await runStatement(
    sql<Pick<ProjectRow, "id" | "name" | "category" | "country" | "totalVotes">[]>`
      select id, name, category, country, coalesce(weight, 0) as "totalVotes"
      from project left join item_day
        on target_type = 'project' and target_id = id and day = ${dayOf(now)}
      where approved_at is not null
      order by coalesce(weight, 0) desc, created_at desc, id collate "C" limit ${limit}`,
    bounds.readDeadlineMs,
  );
}

/** The countries of approved projects, two letters each, in their order. */
export async function projectCountries(sql: Sql): Promise<readonly string[]> {
  const rows = await runStatement(
    sql<{ country: string }[]>`
      select distinct country from project
      where approved_at is not null and country is not null order by country`,
    bounds.readDeadlineMs,
  );
  return rows.map(({ country }) => country);
}

export interface ItemName {
  readonly name: string;
  readonly isShown: boolean;
}

/** The names of items by `<type>/<id>`, approved or no longer: a star outlives its item's approval. */
export async function itemNames(
  sql: Sql,
  items: readonly TargetName[],
): Promise<ReadonlyMap<string, ItemName>> {
  const of = (wanted: TargetType): readonly string[] =>
    items.filter(({ type }) => type === wanted).map(({ id }) => id);
  const rows = await runStatement(
    sql<(ItemName & { key: string })[]>`
      select 'event/' || id as key, title as name, approved_at is not null as "isShown"
        from event where id = any(${of("event")}::text[])
      union all select 'token/' || id, name, approved_at is not null
        from token where id = any(${of("token")}::text[])
      union all select 'collection/' || id, name, approved_at is not null
        from collection where id = any(${of("collection")}::text[])
      union all select 'project/' || id, name, approved_at is not null
        from project where id = any(${of("project")}::text[])`,
    bounds.readDeadlineMs,
  );
  return new Map(rows.map((row) => [row.key, row]));
}
