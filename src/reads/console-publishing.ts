import { runStatement, type Sql } from "../store/postgres.ts";

/** A star that is not on the ledger yet, and where it stands. Instants are epoch milliseconds. */
export interface WaitingStar {
  readonly id: string;
  readonly topic: "event" | "asset";
  readonly state: string;
  readonly acceptedAt: number;
  readonly tries: number;
  readonly nextTryAt: number;
  /** What went wrong last; null when nothing did. */
  readonly lastError: string | null;
  /** Until when a worker has it in hand; null when none has. */
  readonly inHandUntil: number | null;
  /** Of the transaction id that is open. */
  readonly sends: number;
  readonly receiptStatus: string | null;
}

/**
 * Stars not yet published, oldest first.
 *
 * @param query.after only those accepted after this one
 */
export async function waitingStars(
  sql: Sql,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly WaitingStar[]> {
  return runStatement(sql<WaitingStar[]>`
    select outbox.star_id as id, outbox.topic, outbox.state,
      (outbox.message::json->>'timestamp')::bigint as "acceptedAt", outbox.tries,
      outbox.next_try_at as "nextTryAt", outbox.last_error as "lastError",
      case when outbox.lease_owner is not null and outbox.lease_until > now_ms()
        then outbox.lease_until end as "inHandUntil",
      coalesce(attempt.sends, 0) as sends, attempt.receipt_status as "receiptStatus"
    from outbox
    left join publish_attempt attempt
      on attempt.star_id = outbox.star_id and attempt.closed_at is null
    where outbox.state <> 'published' and ${after === null ? sql`true` : sql`outbox.star_id > ${after}`}
    order by outbox.star_id limit ${limit}`);
}
