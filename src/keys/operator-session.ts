import { createHmac } from "node:crypto";
import { uuidv7 } from "uuidv7";
import type { Clock } from "../clock.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { hashOf, isSecret, makeSecret } from "./key-form.ts";
import { ENVIRONMENT, type Operator, type Role } from "./operators.ts";

export interface OperatorSession {
  readonly id: string;
  /** As it stands in the operator log: the operator's name, or `environment (Ada)`. */
  readonly operator: string;
  readonly role: Role;
  readonly openedAt: number;
}

const MINUTE_MS = 60_000;
/** A console left alone closes by itself … */
export const OPERATOR_IDLE_MS = 30 * MINUTE_MS;
/** … and a working day is the longest that one sign-in lasts. */
export const OPERATOR_SESSION_MS = 12 * 60 * MINUTE_MS;
/** Use is written down no more often: pages are many. */
const NOTED_EVERY_MS = MINUTE_MS;

/**
 * The console's sessions, in Postgres: they outlive a restart and hold in every process.
 *
 * @param deps.operatorToken keys the hashes of `environment`: with another token its sessions are
 *   over, and without one it has none
 */
export function operatorSessions(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly operatorToken: string | undefined;
}) {
  const { sql, clock, operatorToken } = deps;
  const keyed = (secret: string): Buffer | null =>
    operatorToken === undefined
      ? null
      : createHmac("sha256", operatorToken).update(secret).digest();
  return {
    /**
     * @param alias the name that the bearer of the shared token gave; others have a name
     * @returns the secret for the cookie: shown once, stored as a hash alone
     */
    async open(
      { id: operatorId, name, role }: Operator,
      alias = "",
    ): Promise<OperatorSession & { readonly secret: string }> {
      const secret = makeSecret();
      const operator = operatorId === null && alias !== "" ? `${name} (${alias})` : name;
      const session = { id: uuidv7(), operator, role, openedAt: clock.now() };
      const hash = operatorId === null ? keyed(secret) : hashOf(secret);
      await runStatement(sql`
        insert into operator_session
          (id, token_hash, operator, operator_id, opened_at, used_at, expires_at)
        values (${session.id}, ${hash}, ${operator}, ${operatorId}, ${session.openedAt},
          ${session.openedAt}, ${session.openedAt + OPERATOR_SESSION_MS})`);
      return { ...session, secret };
    },
    /**
     * The session of a secret; null when it is unknown, idle for too long, past its end, signed
     * out, of a revoked operator, or opened with another `OPERATOR_TOKEN`. Never cached.
     *
     * @param use whether this counts as use, so that the session stays
     */
    async find(secret: string, use: "use" | "look"): Promise<OperatorSession | null> {
      if (!isSecret(secret)) return null;
      const [now, hash] = [clock.now(), hashOf(secret)];
      const [row] = await runStatement(sql<(OperatorSession & { readonly usedAt: number })[]>`
        select session.id, session.operator, coalesce(operator.role, ${ENVIRONMENT.role}) as role,
          opened_at as "openedAt", used_at as "usedAt"
        from operator_session session
        left join operator on operator.id = operator_id and operator.revoked_at is null
        where session.token_hash in (${hash}, ${keyed(secret)})
          and (operator_id is null or operator.id is not null)
          and expires_at > ${now}::bigint and used_at > ${now - OPERATOR_IDLE_MS}::bigint`);
      if (row === undefined) return null;
      const { usedAt, ...session } = row;
      if (use === "use" && now - usedAt > NOTED_EVERY_MS) await noteUse(sql, session.id, now);
      return session;
    },
    /** Signs out, at once and in every process. */
    async close(secret: string): Promise<void> {
      await runStatement(sql`
        delete from operator_session where token_hash in (${hashOf(secret)}, ${keyed(secret)})`);
    },
  };
}

/** Notes it for the session, and for its operator where that has a name. */
async function noteUse(sql: Sql, id: string, now: number): Promise<void> {
  await runStatement(sql`
    with used as (
      update operator_session set used_at = ${now} where id = ${id} and used_at < ${now}
      returning operator_id
    )
    update operator set last_used_at = greatest(last_used_at, ${now}::bigint)
    from used where operator.id = used.operator_id`);
}
