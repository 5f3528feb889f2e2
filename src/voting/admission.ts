import { type EventKind, type Target, targetOf } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { FollowedClock } from "../clock.ts";
import type { KeptReply } from "../journal/idempotency.ts";
import { type DayVersion, dayByDay, passInForce } from "../journal/load.ts";
import { entityId, entityNumber } from "../ledger/entity-id.ts";
import { approvedTarget, type TargetName } from "../reads/targets.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { sessionHash } from "./session.ts";

/** Who casts a star: the bearer of a session, or a wallet that is known already. */
export type Voter = { readonly token: string } | { readonly wallet: string };

/** Asks for all that the journal and the directory know about one star before it is cast. */
export interface AdmissionQuery {
  readonly voter: Voter;
  readonly target: TargetName;
  /** The Idempotency-Key, where there is one. */
  readonly key: string | null;
  /** The UTC day whose version is wanted. */
  readonly day: Day;
}

/** What was so after the request had arrived: every refusal may rest on it. */
export interface Admission {
  /** Null when the session is unknown, expired or revoked. */
  readonly wallet: string | null;
  /** Null when nothing approved has that name. */
  readonly target: Target | null;
  /** The reply that the key is bound to already. */
  readonly kept: KeptReply | null;
  /** The season of the wallet's pass in force; null without one. */
  readonly seasonId: string | null;
  /** When all of this was read, epoch ms by the database's clock. */
  readonly readAt: number;
  /** How far the wallet's day is in the journal. */
  readonly day: Day;
  readonly version: DayVersion;
}

interface AdmissionRow extends Pick<Admission, "seasonId" | "readAt">, Pick<DayVersion, "lastAt"> {
  readonly wallet: number | null;
  readonly requestHash: string | null;
  readonly reply: string | null;
  readonly found: boolean | null;
  readonly eventKind: EventKind | null;
  readonly ledgerId: string | null;
  readonly used: number | null;
}

/**
 * Everything that is looked up for a star, many stars in one select; answers in the order
 * asked. Never cached: a session that ended, a target that was rejected, a pass that was
 * granted counts from the next request on, in every process. The clock compares itself with the
 * database's time on the way, so that no voter meets a day that is over.
 *
 * Each look-up is a `lateral … limit 1`: of plain joins the planner may make a reading of a
 * whole table for a hundred rows of it.
 */
export function loadAdmissions(
  sql: Sql,
  clock: FollowedClock,
  queries: readonly AdmissionQuery[],
): Promise<readonly Admission[]> {
  return dayByDay(queries, async (day, ofDay) => {
    const askedAt = clock.now();
    const hashes = ofDay.map(({ voter }) => ("token" in voter ? sessionHash(voter.token) : null));
    const wallets = ofDay.map(({ voter }) =>
      "token" in voter ? null : entityNumber(voter.wallet),
    );
    const rows = await runStatement(sql<AdmissionRow[]>`
      select present.now as "readAt", voter.wallet, encode(kept.request_hash, 'hex') as "requestHash", kept.reply,
        target.found, target.event_kind as "eventKind", target.ledger_id as "ledgerId", ${passInForce(sql)} as "seasonId",
        latest.slot as used, latest.at as "lastAt"
      from (select now_ms() as now offset 0) as present
      cross join unnest(${hashes}::text[], ${wallets}::bigint[],
          ${ofDay.map(({ target }) => target.type)}::text[], ${ofDay.map(({ target }) => target.id)}::text[],
          ${ofDay.map(({ key }) => key)}::text[])
        with ordinality as asked (hash, given, type, id, key, n)
      left join lateral (
        select session.wallet from session
        where token_hash = decode(asked.hash, 'hex') and expires_at > present.now limit 1
      ) as bearer on true
      cross join lateral (
        select coalesce(bearer.wallet, asked.given) as wallet, present.now as instant
      ) as voter
      left join lateral (
        select slot, at from star where star.wallet = voter.wallet and star.day = ${day}
        order by slot desc limit 1
      ) as latest on true
      left join lateral (
        select request_hash, reply from idempotency_key
        where idempotency_key.wallet = voter.wallet and idempotency_key.key = asked.key limit 1
      ) as kept on true
      left join lateral (${approvedTarget(sql)}) as target on true
      order by n`);
    const [first] = rows;
    if (first !== undefined) await clock.compare(first.readAt, askedAt);
    return rows.map((row, index) => admissionOf(row, ofDay[index]));
  });
}

function admissionOf(row: AdmissionRow, query: AdmissionQuery | undefined): Admission {
  if (query === undefined) throw new RangeError("an admission without a query");
  const { wallet, requestHash, reply, found, eventKind, ledgerId, seasonId, readAt } = row;
  const { type, id } = query.target;
  return {
    wallet: wallet === null ? null : entityId(wallet),
    target: found ? targetOf({ type, id, eventKind, ledgerId }) : null,
    kept: requestHash === null || reply === null ? null : { requestHash, reply },
    seasonId,
    readAt,
    day: query.day,
    version: { used: row.used ?? 0, lastAt: row.lastAt },
  };
}
