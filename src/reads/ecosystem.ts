import { bounds } from "../bounds.ts";
import type { Category } from "../store/enumerations.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type StarCounts, today, windows } from "./markets.ts";
import { type NamedQuery, namedLike } from "./named-like.ts";
import { itemWindows } from "./star-windows.ts";

/** An approved project; `createdAt` in epoch milliseconds. */
export interface ProjectRow extends StarCounts {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly category: Category;
  readonly country: string | null;
  readonly description: string | null;
  readonly logoUrl: string | null;
  readonly websiteUrl: string | null;
  readonly createdAt: number;
}

export interface ProjectFilter extends NamedQuery {
  readonly category?: Category | undefined;
  /** Two letters, upper case. */
  readonly country?: string | undefined;
}

/**
 * A page of the approved projects that pass the filter, newest first, then by id.
 *
 * @returns the page and the number of projects that pass the filter, on all pages together
 */
export async function listProjects(
  sql: Sql,
  filter: ProjectFilter,
): Promise<{ readonly projects: readonly ProjectRow[]; readonly total: number }> {
  const rows = await runStatement(
    sql<({ total: number } & ProjectRow)[]>`
      select matching.total, page.*, ${today(sql)}, ${windows(sql)}
      from (select count(*) as total from project where ${passing(sql, filter)}) as matching
      left join lateral (
        select ${projectColumns(sql)} from project where ${passing(sql, filter)}
        order by created_at desc, id collate "C" limit ${filter.limit} offset ${filter.offset}
      ) as page on true
      left join lateral ${itemWindows(sql, { type: "project", now: filter.now, id: sql`page.id` })} as given on true
      order by page."createdAt" desc, page.id collate "C"`,
    bounds.readDeadlineMs,
  );
  const projects = rows.filter(({ id }) => id !== null).map(({ total: _, ...project }) => project);
  return { projects, total: rows[0]?.total ?? 0 };
}

/** What is shown of a project, but for its counters. */
export function projectColumns(sql: Sql) {
  return sql`id, slug, name, category, country, description, logo_url as "logoUrl",
    website_url as "websiteUrl", created_at as "createdAt"`;
}

function passing(sql: Sql, filter: ProjectFilter) {
  const category = filter.category ?? null;
  const country = filter.country ?? null;
  return sql`approved_at is not null
    and (${category}::text is null or category = ${category})
    and (${country}::text is null or country = ${country})
    and ${namedLike(sql, filter.q, sql`name`)}`;
}
