import { type EventKind, type Target, type TargetType, targetOf } from "../../actors/content.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** Names something that may be starred. */
export interface TargetName {
  readonly type: TargetType;
  readonly id: string;
}

interface TargetRow {
  readonly event_kind: EventKind | null;
  readonly ledger_id: string | null;
  readonly found: boolean;
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
      select
        case when is_forever_mint then 'FOREVER_MINT' else event_type end as event_kind,
        project.ledger_id,
        coalesce(event.id, token.id, collection.id, project.id) is not null as found
      from unnest(${names.map(({ type }) => type)}::text[], ${names.map(({ id }) => id)}::text[])
        with ordinality as asked (type, id, n)
      left join event on asked.type = 'event' and event.id = asked.id and event.approved_at is not null
      left join token on asked.type = 'token' and token.id = asked.id and token.approved_at is not null
      left join collection on asked.type = 'collection' and collection.id = asked.id
        and collection.approved_at is not null
      left join project on asked.type = 'project' and project.id = asked.id
        and project.approved_at is not null
      order by n`,
  );
  return rows.map(({ event_kind, ledger_id, found }, index) => {
    const name = names[index];
    if (!found || name === undefined) return null;
    return targetOf({ ...name, eventKind: event_kind, ledgerId: ledger_id });
  });
}
