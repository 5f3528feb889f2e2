import { type Context, Hono } from "hono";
import { withInstants } from "../../../actors/day.ts";
import { recordTypes } from "../../catalogue/record-type.ts";
import { badField, TerminalError } from "../../errors.ts";
import type { actorWithHistory } from "../../hosting/actor-body.ts";
import { ACTOR_TYPES, type ActorName, parseActorName } from "../../hosting/actor-name.ts";
import type { ActorQuery, ListedActor } from "../../hosting/list-actors.ts";
import { dayOfStarId } from "../../journal/star-id.ts";
import { type PublishingState, publishingBody } from "../../publishing/publishing-state.ts";
import { type AttentionQuery, type AttentionRow, WINDOWS } from "../../reads/attention.ts";
import type { Verdict } from "../../upkeep/service-verdict.ts";
import { refuseOtherMethods } from "../middleware/other-methods.ts";
import type { OperatorAccess } from "../operator-access.ts";
import { jsonInPieces } from "./json-in-pieces.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
/** Read by services, which take all of a directory at once. */
const ATTENTION_LIMIT_MAX = 1_000;

/** `/ops/api`, to be mounted there: what operators ask over HTTP (contract, end of section 7). */
export function opsApi(deps: {
  readonly access: OperatorAccess;
  readonly listActors: (query: ActorQuery) => Promise<readonly ListedActor[]>;
  readonly showActor: (name: ActorName) => ReturnType<typeof actorWithHistory>;
  readonly publishing: () => Promise<PublishingState>;
  readonly verdict: () => Promise<Verdict>;
  readonly attention: (query: AttentionQuery) => Promise<readonly AttentionRow[]>;
}): Hono {
  const app = new Hono();
  app.use(deps.access.guard("api"));
  app.get("/actors", async (c) => {
    const query = readQuery(c);
    const found = await deps.listActors({ ...query, limit: query.limit + 1 });
    const actors = found.slice(0, query.limit);
    const last = actors.at(-1);
    return c.json({
      actors: actors.map(withInstants),
      cursor: found.length > actors.length && last !== undefined ? cursorOf(last) : null,
    });
  });
  app.get("/actors/*", async (c) => {
    refuseOthers(c, []);
    const name = parseActorName(nameIn(c));
    if (name === undefined) throw new TerminalError("NOT_FOUND", "this names no actor");
    const json = await jsonInPieces(await deps.showActor(name));
    return c.body(json, 200, { "Content-Type": "application/json" });
  });
  app.get("/health", async (c) => {
    refuseOthers(c, []);
    return c.json(await deps.verdict());
  });
  app.get("/attention", async (c) => c.json({ attention: await deps.attention(readWanted(c)) }));
  app.get("/publishing", async (c) => {
    refuseOthers(c, []);
    return c.json(publishingBody(await deps.publishing()));
  });
  refuseOtherMethods(app);
  return app;
}

/** The id is a path of its own: `wallet-day/0.0.n/2026-11-20`. */
function nameIn(c: Context): string {
  const [, path = ""] = c.req.path.split("/ops/api/actors/");
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}

function readQuery(c: Context): ActorQuery {
  refuseOthers(c, ["type", "q", "limit", "cursor"]);
  const { type, q, limit = String(LIMIT_DEFAULT), cursor } = c.req.query();
  // A NUL byte is no text to Postgres.
  if (q?.includes("\u0000")) throw invalid("q");
  const found = { type: oneOf("type", type, ACTOR_TYPES), after: readCursor(cursor) };
  return { ...found, q, limit: readLimit(limit, LIMIT_MAX) };
}

function readWanted(c: Context): AttentionQuery {
  refuseOthers(c, ["window", "type", "limit"]);
  const { window, type, limit = String(LIMIT_MAX) } = c.req.query();
  return {
    window: oneOf("window", window, WINDOWS),
    type: oneOf("type", type, recordTypes),
    limit: readLimit(limit, ATTENTION_LIMIT_MAX),
  };
}

/** A parameter that is not known, or there twice, is a mistake, and refused. */
function refuseOthers(c: Context, known: readonly string[]): void {
  for (const [name, values] of Object.entries(c.req.queries())) {
    if (!known.includes(name) || values.length > 1) throw invalid(name);
  }
}

function oneOf<T extends string>(
  field: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  const found = known.find((each) => each === text);
  if (text !== undefined && found === undefined) throw invalid(field);
  return found;
}

function readLimit(text: string, max: number): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw invalid("limit");
}

function cursorOf({ lastStar, type }: ListedActor): string {
  return Buffer.from(`${lastStar} ${type}`).toString("base64url");
}

function readCursor(text: string | undefined): ActorQuery["after"] {
  if (text === undefined) return undefined;
  const [lastStar = "", ...rest] = Buffer.from(text, "base64url").toString().split(" ");
  const type = ACTOR_TYPES.find((known) => known === rest.join(" "));
  if (type === undefined || dayOfStarId(lastStar) === null) throw invalid("cursor");
  return { lastStar, type };
}

function invalid(field: string): TerminalError {
  return badField(field, `${field} is not valid`);
}
