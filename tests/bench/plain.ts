import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, Hono } from "hono";
import type { EventKind } from "../../actors/content.ts";
import type { Holdings } from "../../actors/weight.ts";
import { TerminalError } from "../../src/errors.ts";
import { readJson } from "../../src/http/middleware/read-json.ts";
import { problem } from "../../src/http/problem.ts";
import { starBody } from "../../src/http/voting/bodies.ts";
import { entityId } from "../../src/ledger/entity-id.ts";
import type { CollectionKeys } from "../../src/publishing/message.ts";
import type { TargetName } from "../../src/reads/targets.ts";
import { runStatement, type Sql } from "../../src/store/postgres.ts";

/**
 * The rival: the honest straightforward service, without actors. A star is one look, one
 * reading of holdings, and one SQL transaction in which every rule is asked and everything is
 * written (`plain.sql`). Pooled, prepared, indexed, two round trips: as few as the contract's
 * order of checks allows, because the look must come before the holdings are read.
 */
export interface PlainParts {
  readonly sql: Sql;
  readonly readHoldings: (wallet: string) => Promise<Holdings>;
  readonly collectionKeys: CollectionKeys;
  /** Runs the transaction by way of something else; as it is when absent. */
  readonly cast?: (order: CastOrder) => Promise<Outcome>;
}

/** What a star's transaction is given: plain values, so that they can be kept. */
export interface CastOrder {
  readonly wallet: number;
  readonly target: TargetName;
  readonly kind: EventKind | null;
  readonly ledgerId: string | null;
  readonly holdings: Holdings;
  readonly key: string | null;
  /** Of the request, in hex. */
  readonly hash: string;
  readonly collectionKeys: CollectionKeys;
}

/** Puts the rival's functions into a migrated database that nothing else uses. */
export async function installPlain(sql: Sql): Promise<void> {
  await sql.unsafe(readFileSync(join(import.meta.dirname, "plain.sql"), "utf8"));
}

/** `POST /stars`, to be mounted under `/voting`: the same requests, the same replies. */
export function plainRoutes(parts: PlainParts): Hono {
  const routes = new Hono();
  routes.post("/stars", async (c) => {
    const token = bearerToken(c);
    const body = await readJson(c, starBody).then(
      ({ target }) => ({ target, error: undefined }),
      (error: unknown) => ({ target: undefined, error }),
    );
    const key = c.req.header("idempotency-key") ?? null;
    const look = await lookAhead(parts.sql, token, key, body.target);
    if (look.wallet === null) {
      throw new TerminalError("INVALID_SESSION", "this session is unknown, expired or revoked");
    }
    if (body.target === undefined) throw body.error;
    return castPlain(c, parts, { target: body.target, key, look, wallet: look.wallet });
  });
  return routes;
}

interface Look {
  readonly wallet: number | null;
  readonly kept_hash: string | null;
  readonly kept_reply: string | null;
  readonly kind: EventKind | null;
  readonly ledger_id: string | null;
  readonly is_known: boolean | null;
  readonly earlier: string | null;
  readonly used: number;
  readonly vote_limit: number;
  readonly resets_at: number;
}

async function lookAhead(
  sql: Sql,
  token: string,
  key: string | null,
  target: TargetName | undefined,
): Promise<Look> {
  const [look] = await runStatement(
    sql<Look[]>`select * from plain_look(${createHash("sha256").update(token).digest()},
      ${key}, ${target?.type ?? null}, ${target?.id ?? null})`,
  );
  if (look === undefined) throw new Error("plain_look answered nothing");
  return look;
}

interface PlainCast {
  readonly target: TargetName;
  readonly key: string | null;
  readonly look: Look;
  readonly wallet: number;
}

export interface Outcome {
  readonly outcome:
    | "stored"
    | "replayed"
    | "ALREADY_STARRED"
    | "ALLOWANCE_EXHAUSTED"
    | "KEY_REUSED";
  readonly body: string | null;
  readonly earlier: string | null;
  readonly used: number;
  readonly vote_limit: number;
  readonly resets_at: number;
}

async function castPlain(c: Context, parts: PlainParts, given: PlainCast): Promise<Response> {
  const { target, key, look, wallet } = given;
  const hash = createHash("sha256")
    .update(JSON.stringify([target.type, target.id]))
    .digest("hex");
  if (look.kept_reply !== null) {
    if (look.kept_hash !== hash) throw reused();
    return accepted(c, look.kept_reply, true);
  }
  if (look.is_known !== true) {
    throw new TerminalError("NOT_FOUND", `there is no ${target.type} with this id`);
  }
  if (look.earlier !== null) return refuse(c, "ALREADY_STARRED", look);
  if (look.used >= look.vote_limit) return refuse(c, "ALLOWANCE_EXHAUSTED", look);

  const cast = parts.cast ?? ((order) => castInOneTransaction(parts.sql, order));
  const row = await cast({
    ...{ wallet, target, key, hash },
    kind: look.kind,
    ledgerId: look.ledger_id,
    holdings: await parts.readHoldings(entityId(wallet)),
    collectionKeys: parts.collectionKeys,
  });
  if (row.outcome === "KEY_REUSED") throw reused();
  if (row.outcome === "stored" || row.outcome === "replayed") {
    return accepted(c, row.body ?? "", row.outcome === "replayed");
  }
  return refuse(c, row.outcome, row);
}

export async function castInOneTransaction(sql: Sql, order: CastOrder): Promise<Outcome> {
  const { wallet, target, kind, ledgerId, holdings, key, hash, collectionKeys } = order;
  const { collectionA, collectionB, readAt } = holdings;
  const [row] = await runStatement(
    sql<Outcome[]>`select * from plain_cast(${wallet}, ${target.type}, ${target.id},
      ${kind}, ${ledgerId}, ${[...collectionA]}::bigint[], ${[...collectionB]}::bigint[],
      ${readAt}, ${key}, ${key === null ? null : Buffer.from(hash, "hex")},
      ${collectionKeys.a}, ${collectionKeys.b})`,
  );
  if (row === undefined) throw new Error("plain_cast answered nothing");
  return row;
}

function accepted(c: Context, body: string, isReplay: boolean): Response {
  if (isReplay) c.header("Idempotent-Replayed", "true");
  return c.body(body, 201, { "Content-Type": "application/json" });
}

type Refused = Pick<Outcome, "earlier" | "used" | "vote_limit" | "resets_at">;

function refuse(
  c: Context,
  code: "ALREADY_STARRED" | "ALLOWANCE_EXHAUSTED",
  { earlier, used, vote_limit: limit, resets_at }: Refused,
): Response {
  const resetsAt = new Date(resets_at).toISOString();
  if (code === "ALREADY_STARRED") {
    return problem(c, code, { details: { starId: earlier, resetsAt } });
  }
  return problem(c, code, {
    details: { limit, used, resetsAt },
    retryAfterSeconds: Math.max(1, Math.ceil((resets_at - Date.now()) / 1_000)),
  });
}

function reused(): TerminalError {
  return new TerminalError(
    "IDEMPOTENCY_KEY_REUSED",
    "this Idempotency-Key was used for another request",
  );
}

function bearerToken(c: Context): string {
  const { token } =
    /^bearer +(?<token>[A-Za-z0-9_-]{43})$/i.exec(c.req.header("authorization") ?? "")?.groups ??
    {};
  if (token === undefined) throw new TerminalError("MISSING_SESSION", "a session is needed");
  return token;
}
