import { type EventKind, type Target, type TargetType, targetOf } from "../../actors/content.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

export interface TargetName {
  readonly type: TargetType;
  readonly id: string;
}

interface TargetRow {
  readonly event_kind: EventKind | null;
  readonly ledger_id: string | null;
  readonly found: boolean | null;
}

/** The approved target that a row `asked (type, id)` names, or none; for a lateral join. */
export function approvedTarget(sql: Sql) {
  return sql`
    select case when is_forever_mint then 'FOREVER_MINT' else event_type end as event_kind,
      null::text as ledger_id, true as found
    from event where asked.type = 'event' and event.id = asked.id and approved_at is not null
    union all
    select null, null, true from token
    where asked.type = 'token' and token.id = asked.id and approved_at is not null
    union all
    select null, null, true from collection
    where asked.type = 'collection' and collection.id = asked.id and approved_at is not null
    union all
    select null, project.ledger_id, true from project
    where asked.type = 'project' and project.id = asked.id and approved_at is not null
    limit 1`;
}

/**
 * Looks approved targets up, many in one select; answers in the order asked, null where
 * nothing approved has that name.
 */
export async function findTargets(
  sql: Sql,
  names: readonly TargetName[],
): Promise<readonly (Target | null)[]> {
  const rows = await runStatement(
    sql<TargetRow[]>`
      select target.*
      from unnest(${names.map(({ type }) => type)}::text[], ${names.map(({ id }) => id)}::text[])
        with ordinality as asked (type, id, n)
      left join lateral (${approvedTarget(sql)}) as target on true
      order by n`,
  );
  return rows.map(({ event_kind, ledger_id, found }, index) => {
    const name = names[index];
    if (!found || name === undefined) return null;
    return targetOf({ ...name, eventKind: event_kind, ledgerId: ledger_id });
  });
}
