import type { TargetType } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type ProjectRow, projectColumns } from "./ecosystem.ts";
import {
  type CollectionRow,
  collections,
  type TokenRow,
  today,
  tokens,
  windows,
} from "./markets.ts";
import { type Fragment, itemWindows, type StarredType } from "./star-windows.ts";
import type { TargetName } from "./targets.ts";

/** Single records of the directory, as its own pages show them. */

/** One record, and its counters at an instant. */
export interface ItemQuery {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An approved token with its counters, or undefined. */
export function readToken(sql: Sql, asked: ItemQuery): Promise<TokenRow | undefined> {
  return readItem<TokenRow>(sql, tokens(sql), asked);
}

/** An approved NFT collection with its counters, or undefined. */
export function readCollection(sql: Sql, asked: ItemQuery): Promise<CollectionRow | undefined> {
  return readItem<CollectionRow>(sql, collections(sql), asked);
}

/** An approved project with its counters, or undefined. */
export function readProject(sql: Sql, asked: ItemQuery): Promise<ProjectRow | undefined> {
  const columns = sql`${projectColumns(sql)}, ${today(sql)}, ${windows(sql)}`;
  return readItem<ProjectRow>(sql, { type: "project", columns }, asked);
}

async function readItem<R extends object>(
  sql: Sql,
  { type, columns }: { readonly type: StarredType; readonly columns: Fragment },
  { id, now }: ItemQuery,
): Promise<R | undefined> {
  const [row] = await runStatement(
    sql<R[]>`
      select ${columns} from ${sql(type)}
      cross join lateral ${itemWindows(sql, { type, now, id: sql`${sql(type)}.id` })} as given
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

/** The names of items by `<type>/<id>`, approved or no longer: a star outlives its item's approval. */
export async function itemNames(
  sql: Sql,
  items: readonly TargetName[],
): Promise<ReadonlyMap<string, string>> {
  const of = (wanted: TargetType): readonly string[] =>
    items.filter(({ type }) => type === wanted).map(({ id }) => id);
  const rows = await runStatement(
    sql<{ key: string; name: string }[]>`
      select 'event/' || id as key, title as name from event where id = any(${of("event")}::text[])
      union all select 'token/' || id, name from token where id = any(${of("token")}::text[])
      union all select 'collection/' || id, name from collection where id = any(${of("collection")}::text[])
      union all select 'project/' || id, name from project where id = any(${of("project")}::text[])`,
    bounds.readDeadlineMs,
  );
  return new Map(rows.map(({ key, name }) => [key, name]));
}
