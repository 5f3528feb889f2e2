import { createHmac, randomBytes } from "node:crypto";
import { uuidv7 } from "uuidv7";
import type { Clock } from "../clock.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** An operator who is signed in at the console. */
export interface OperatorSession {
  /** With the name it is the "who" of the operator log. */
  readonly id: string;
  /** As typed at sign-in. */
  readonly operator: string;
  /** Epoch milliseconds. */
  readonly openedAt: number;
}

export interface OperatorSessions {
  /** @returns the secret for the cookie: shown once, stored as a keyed hash alone */
  open(operator: string): Promise<OperatorSession & { readonly secret: string }>;
  /**
   * The session of a secret; null when it is unknown, idle for too long, past its end, signed
   * out, or opened with another operator token. Never cached.
   *
   * @param use whether this counts as use, so that the session stays
   */
  find(secret: string, use: "use" | "look"): Promise<OperatorSession | null>;
  /** Signs out, at once and in every process. */
  close(secret: string): Promise<void>;
}

const MINUTE_MS = 60_000;
/** A console left alone closes by itself … */
export const OPERATOR_IDLE_MS = 30 * MINUTE_MS;
/** … and a working day is the longest that one sign-in lasts. */
export const OPERATOR_SESSION_MS = 12 * 60 * MINUTE_MS;
/** Use is written down no more often: pages are many. */
const NOTED_EVERY_MS = MINUTE_MS;

/** 256 random bits in base64url: anything else was never issued, and costs no query. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * The console's sessions, in Postgres: they outlive a restart and hold in every process.
 *
 * @param deps.operatorToken keys the hashes: with another token all sessions are over
 */
export function operatorSessions(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly operatorToken: string;
}): OperatorSessions {
  const { sql, clock } = deps;
  const hash = (secret: string): Buffer =>
    createHmac("sha256", deps.operatorToken).update(secret).digest();
  return {
    async open(operator) {
      const secret = randomBytes(32).toString("base64url");
      const session = { id: uuidv7(), operator, openedAt: clock.now() };
      await runStatement(sql`
        insert into operator_session (id, token_hash, operator, opened_at, used_at, expires_at)
        values (${session.id}, ${hash(secret)}, ${operator}, ${session.openedAt},
          ${session.openedAt}, ${session.openedAt + OPERATOR_SESSION_MS})`);
      return { ...session, secret };
    },
    async find(secret, use) {
      if (!SECRET.test(secret)) return null;
      const now = clock.now();
      const [row] = await runStatement(sql<(OperatorSession & { readonly usedAt: number })[]>`
        select id, operator, opened_at as "openedAt", used_at as "usedAt" from operator_session
        where token_hash = ${hash(secret)} and expires_at > ${now}::bigint
          and used_at > ${now - OPERATOR_IDLE_MS}::bigint`);
      if (row === undefined) return null;
      const { usedAt, ...session } = row;
      if (use === "use" && now - usedAt > NOTED_EVERY_MS) {
        await runStatement(sql`
          update operator_session set used_at = ${now} where id = ${session.id} and used_at < ${now}`);
      }
      return session;
    },
    async close(secret) {
      await runStatement(sql`delete from operator_session where token_hash = ${hash(secret)}`);
    },
  };
}
