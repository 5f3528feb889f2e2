import { uuidv7 } from "uuidv7";
import { badField, TerminalError } from "../errors.ts";
import { codeOf, runStatement, type Sql } from "../store/postgres.ts";
import { hashOf, isKey, makeKey, OPERATOR_PREFIX } from "./key-form.ts";

/** "Viewers look; operators publish again, check holdings, approve; admins do the rest." Each may do what those before it may. */
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** The bearer of `OPERATOR_TOKEN`, an admin (contract, section 7). */
export const ENVIRONMENT = { id: null, name: "environment", role: "admin" } as const;

/** Somebody whose token was right. */
export interface Operator {
  /** Null for `environment`, which no table holds. */
  readonly id: string | null;
  readonly name: string;
  readonly role: Role;
}

/** An operator as lists show it; instants are epoch milliseconds. */
export interface ListedOperator {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export function allows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,59}$/u;
const UNIQUE_VIOLATION = "23505";
/** Use is written down no more often. */
const NOTED_EVERY_MS = 60_000;

/**
 * Adds an operator.
 *
 * @returns with the token: this is the only time that anyone sees it
 * @throws TerminalError `INVALID_REQUEST` for a bad name or role, and for a name that is taken
 */
export async function addOperator(
  sql: Sql,
  given: { readonly name: string; readonly role: string },
): Promise<{ readonly name: string; readonly role: Role; token: string; createdAt: number }> {
  const name = given.name.trim();
  if (!NAME.test(name) || name.toLowerCase() === ENVIRONMENT.name) {
    const letters = "1 to 60 letters, digits, spaces and . _ @ -, not environment";
    throw badField("name", `a name has ${letters}`);
  }
  const role = readRole(given.role);
  const token = makeKey(OPERATOR_PREFIX);
  const [row] = await runStatement(sql<{ createdAt: number }[]>`
    insert into operator (id, name, role, token_hash, created_at)
    values (${uuidv7()}, ${name}, ${role}, ${hashOf(token)}, now_ms())
    returning created_at as "createdAt"`).catch((error) => {
    const isTaken = codeOf(error) === UNIQUE_VIOLATION;
    const taken = `there is an operator ${name} already, maybe in other capitals`;
    throw isTaken ? badField("name", taken) : error;
  });
  if (row === undefined) throw new Error("the operator was not stored");
  return { name, role, token, createdAt: row.createdAt };
}

/** All operators there ever were, oldest first. */
export async function listOperators(sql: Sql): Promise<readonly ListedOperator[]> {
  return await runStatement(sql<ListedOperator[]>`
    select name, role, created_at as "createdAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from operator order by created_at, id`);
}

/**
 * Gives an operator another role, at once and in every process.
 *
 * @throws TerminalError `INVALID_REQUEST` for a bad role, `NOT_FOUND`
 */
export async function changeRole(
  sql: Sql,
  given: { readonly name: string; readonly role: string },
): Promise<{ readonly name: string; readonly role: Role }> {
  const role = readRole(given.role);
  const [row] = await runStatement(sql<{ name: string }[]>`
    update operator set role = ${role} where name = ${given.name} and revoked_at is null
    returning name`);
  if (row === undefined) throw unknown(given.name);
  return { name: row.name, role };
}

/**
 * Revokes an operator: token and sessions end at once, in every process.
 *
 * @returns when, epoch milliseconds
 * @throws TerminalError `NOT_FOUND`
 */
export async function revokeOperator(
  sql: Sql,
  name: string,
): Promise<{ readonly name: string; readonly revokedAt: number }> {
  const [row] = await runStatement(sql<{ name: string; revokedAt: number }[]>`
    select name, revoked_at as "revokedAt" from revoke_operator(${name})`);
  if (row === undefined) throw unknown(name);
  return row;
}

export async function hasOperators(sql: Sql): Promise<boolean> {
  const [row] = await runStatement(sql<{ some: boolean }[]>`
    select exists (select from operator where revoked_at is null) as some`);
  return row?.some ?? false;
}

/** Whether a text may be a named operator's token: anything else costs no query. */
export function isOperatorToken(text: string): boolean {
  return isKey(text, OPERATOR_PREFIX);
}

/**
 * The operator of a token, read from the database each time: one that is revoked stops at once, and a changed
 * role counts at once. The use is written down.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach: no answer, never a guess
 */
export async function findOperator(sql: Sql, token: string): Promise<Operator | null> {
  if (!isOperatorToken(token)) return null;
  const [row] = await runStatement(sql<(Operator & { readonly isNoted: boolean })[]>`
    select id, name, role, coalesce(last_used_at > now_ms() - ${NOTED_EVERY_MS}, false) as "isNoted"
    from operator where token_hash = ${hashOf(token)} and revoked_at is null`);
  if (row === undefined) return null;
  const { isNoted, ...operator } = row;
  if (!isNoted) {
    await runStatement(sql`update operator set last_used_at = now_ms() where id = ${operator.id}`);
  }
  return operator;
}

function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw badField("role", `the role is one of ${ROLES.join(", ")}`);
  return role;
}

function unknown(name: string): TerminalError {
  if (name === ENVIRONMENT.name) {
    return new TerminalError(
      "NOT_FOUND",
      "environment is the bearer of OPERATOR_TOKEN: change that setting instead",
    );
  }
  return new TerminalError("NOT_FOUND", `there is no operator ${name.slice(0, 60)}`);
}
