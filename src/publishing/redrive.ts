import { runStatement, type Sql } from "../store/postgres.ts";

/** What re-driving a star did. */
export type Redriven =
  /** It is due now; the next worker that looks takes it up where it stands. */
  | { readonly kind: "due"; readonly state: string; readonly lastError: string | null }
  /** A worker has it in hand until then, epoch ms; and when it is due after that, the worker says. */
  | { readonly kind: "in hand"; readonly leaseUntil: number }
  | { readonly kind: "published" }
  | { readonly kind: "unknown" };

/**
 * Takes up a star again that waits for its next try: its delay is over now. That is all it
 * does. Its transaction id, its bytes and its state stay, so what was sent is asked for and
 * never sent again under another id; a publisher that has it leased keeps it.
 *
 * @param wake wakes the workers
 */
export async function redriveStar(
  { sql, wake }: { readonly sql: Sql; readonly wake: () => void },
  starId: string,
): Promise<Redriven> {
  const [row] = await runStatement(sql<Row[]>`
    with due as (
      -- One that is due already is left alone: a lock on it would keep workers from it.
      update outbox set next_try_at = 0
      where star_id = ${starId} and state <> 'published' and next_try_at > now_ms()
      returning star_id
    )
    select state, lease_until as "leaseUntil", last_error as "lastError",
      lease_owner is not null and lease_until > now_ms() as "isInHand"
    from outbox where star_id = ${starId}`);
  if (row === undefined) return { kind: "unknown" };
  if (row.state === "published") return { kind: "published" };
  wake();
  const { state, lastError, leaseUntil } = row;
  return row.isInHand ? { kind: "in hand", leaseUntil } : { kind: "due", state, lastError };
}

interface Row {
  readonly state: string;
  readonly leaseUntil: number;
  readonly lastError: string | null;
  readonly isInHand: boolean;
}
