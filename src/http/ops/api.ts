import { type Context, Hono } from "hono";
import { z } from "zod";
import { withInstants } from "../../../actors/day.ts";
import { recordTypes } from "../../catalogue/record-type.ts";
import { badField, TerminalError } from "../../errors.ts";
import { actorWithHistory } from "../../hosting/actor-body.ts";
import { ACTOR_TYPES, parseActorName } from "../../hosting/actor-name.ts";
import { type ActorQuery, type ListedActor, listActors } from "../../hosting/list-actors.ts";
import type { Resting } from "../../hosting/show-actor.ts";
import { dayOfStarId } from "../../journal/star-id.ts";
import { publishingBody, publishingState } from "../../publishing/publishing-state.ts";
import { readAttention, WINDOWS } from "../../reads/attention.ts";
import type { Sql } from "../../store/postgres.ts";
import { readVerdict } from "../../upkeep/service-verdict.ts";
import { yieldToEventLoop } from "../../yield-to-event-loop.ts";
import { refuseOtherMethods } from "../app.ts";
import type { OperatorAccess } from "../operator-access.ts";
import { choice, limit, none, parseSearch, restOfPath, searchOf } from "../v1/parameters.ts";

const actorsQuery = z.strictObject({
  type: choice(ACTOR_TYPES),
  // A NUL byte is no text to Postgres; a title is no longer.
  q: z
    .string()
    .regex(/^[^\0]{0,300}$/)
    .optional(),
  limit: limit(50),
  cursor: z.string().transform(readCursor).optional(),
});

/** Read by services, which take all of a directory at once. */
const ATTENTION_LIMIT_MAX = 1_000;

const attentionQuery = z.strictObject({
  window: choice(WINDOWS),
  type: choice(recordTypes),
  limit: limit(100, ATTENTION_LIMIT_MAX),
});

/** `/ops/api`, to be mounted there: what operators ask over HTTP (contract, end of section 7). */
export function opsApi(deps: {
  readonly access: OperatorAccess;
  readonly sql: Sql;
  /** One whose statements may take their time. */
  readonly patientSql: Sql;
  readonly resting: Resting;
}): Hono {
  const { sql } = deps;
  const app = new Hono();
  app.use(deps.access.guard("api"));
  app.get("/actors", async (c) => {
    const { cursor: after, ...query } = readQuery(c, actorsQuery);
    const found = await listActors(sql, { ...query, after, limit: query.limit + 1 });
    const actors = found.slice(0, query.limit);
    const last = actors.at(-1);
    return c.json({
      actors: actors.map(withInstants),
      cursor: found.length > actors.length && last !== undefined ? cursorOf(last) : null,
    });
  });
  app.get("/actors/*", async (c) => {
    readQuery(c, none);
    // The id is a path of its own: `wallet-day/0.0.n/2026-11-20`.
    const name = parseActorName(restOfPath(c, "/ops/api/actors/"));
    if (name === undefined) throw new TerminalError("NOT_FOUND", "this names no actor");
    const json = await jsonInPieces(await actorWithHistory(sql, deps.resting, name));
    return c.body(json, 200, { "Content-Type": "application/json" });
  });
  app.get("/health", async (c) => {
    readQuery(c, none);
    return c.json(await readVerdict(sql));
  });
  app.get("/attention", async (c) => {
    const query = readQuery(c, attentionQuery);
    return c.json({ attention: await readAttention(deps.patientSql, query) });
  });
  app.get("/publishing", async (c) => {
    readQuery(c, none);
    return c.json(publishingBody(await publishingState(sql)));
  });
  refuseOtherMethods(app);
  return app;
}

/** A parameter that is not known, or there twice, is a mistake, and refused. */
function readQuery<S extends z.ZodObject>(c: Context, shape: S): z.output<S> {
  const search = parseSearch(searchOf(c.req.url));
  for (const name of search.keys())
    if (!Object.hasOwn(shape.shape, name) || search.getAll(name).length > 1) throw invalid(name);
  const parsed = shape.safeParse(Object.fromEntries(search));
  if (parsed.success) return parsed.data;
  throw invalid(String(parsed.error.issues[0]?.path[0]));
}

function cursorOf({ lastStar, type }: ListedActor): string {
  return Buffer.from(`${lastStar} ${type}`).toString("base64url");
}

function readCursor(text: string): ActorQuery["after"] {
  const [lastStar = "", ...rest] = Buffer.from(text, "base64url").toString().split(" ");
  const type = ACTOR_TYPES.find((known) => known === rest.join(" "));
  if (type === undefined || dayOfStarId(lastStar) === null) throw invalid("cursor");
  return { lastStar, type };
}

function invalid(field: string): TerminalError {
  return badField(field, `${field} is not valid`);
}

/** Entries of one piece: some 5 ms. */
const PIECE = 10_000;

/**
 * The JSON of plain data in which objects may have very many entries, as `JSON.stringify` writes
 * it. That would keep the process from voters for as long as it takes, 80 ms for a mint of 100,000
 * wallets; this lets them in between.
 *
 * @param value objects, arrays, texts, numbers, booleans, null; an object of more than 10,000
 *   entries has small values
 */
export async function jsonInPieces(value: unknown): Promise<string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const entries = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(entries);
  const pieces: string[] = [];
  const isLarge = keys.length > PIECE;
  for (let from = 0; from < keys.length; from += PIECE) {
    if (isLarge) await yieldToEventLoop();
    for (const key of keys.slice(from, from + PIECE)) {
      const entry = entries[key];
      if (entry === undefined) continue;
      const json = isLarge ? JSON.stringify(entry) : await jsonInPieces(entry);
      pieces.push(`${JSON.stringify(key)}:${json}`);
    }
  }
  return `{${pieces.join()}}`;
}
