import { Hono, type MiddlewareHandler } from "hono";
import { bounds } from "../../bounds.ts";
import type { VerifyKey } from "../../keys/verify-key.ts";
import { revisionOf } from "../../store/data-revision.ts";
import { runStatement } from "../../store/postgres.ts";
import { readyAnswers, type Shared } from "../fast-path/ready-answers.ts";
import { requireApiKey } from "../middleware/api-key.ts";
import { type Limited, rateLimit } from "../middleware/rate-limit.ts";
import { methodNotAllowed } from "../problem.ts";
import { describedTable } from "./directory.ts";
import { type Endpoint, type EndpointDeps, parsedQueries } from "./endpoint.ts";
import { dataEndpoints } from "./endpoints.ts";
import { parseSearch, searchOf } from "./parameters.ts";
import { type Representation, represent, send } from "./representation.ts";
import { responseCache } from "./response-cache.ts";

export interface PublicApiDeps extends EndpointDeps, Limited {
  readonly verifyKey: VerifyKey;
  /** Requests per client and 60 s (`API_RATE_LIMIT`). */
  readonly rateLimit: number;
  readonly publicUrl: string;
}

const DATA_CACHE = { cacheControl: "private, max-age=1" };
const OPEN_CACHE = { cacheControl: "public, max-age=60" };

/**
 * The public API, everything under `/v1`. Order of checks: rate limit, method, route, key,
 * parameters, record (contract, section 2).
 *
 * @returns the app, and what finds ready answers for the server's fast path
 */
export function publicApi(deps: PublicApiDeps) {
  const limit = rateLimit({ ...deps, name: "api", limit: deps.rateLimit });
  const app = new Hono().basePath("/v1");
  const table = describedTable(dataEndpoints(deps), deps.publicUrl);
  for (const row of table) if (!row.key) app.on("ALL", routesOf(row), anyOrigin);
  app.use("*", limit.middleware, getOnly);
  const shared = {
    queries: parsedQueries(),
    verifyKey: deps.verifyKey,
    responses: responseCache(deps.clock),
    limit,
    ...DATA_CACHE,
  };
  for (const row of table) {
    if (row.key) answerWithKey(app, row, shared);
    else answerOpenly(app, row);
  }
  return { app, find: readyAnswers(shared) };
}

/**
 * "Only GET is accepted": every other method, HEAD and OPTIONS included, is 405 on every path.
 * It comes after the rate limit, for which every request counts.
 */
const getOnly: MiddlewareHandler = async function getOnly(c, next) {
  return c.req.method === "GET" ? next() : methodNotAllowed(c, { allow: "GET" });
};

function answerWithKey(app: Hono, row: Endpoint, shared: Shared): void {
  const { queries, verifyKey, responses } = shared;
  const parse = queries.of(row);
  app.on("GET", routesOf(row), requireApiKey(verifyKey), async (c) => {
    const { question, answer } = parse(c.req.param(), searchOf(c.req.url));
    const asked = { question, revision: revisionOf(c.get("revision"), row.shows), read: answer };
    const shown =
      responses.find(asked) ??
      (await runStatement(responses.read(asked), bounds.statementDeadlineMs));
    return send(c, shown, DATA_CACHE);
  });
}

/** "Open to everyone, without a key", pages of others included: refusals of any kind too. */
const anyOrigin: MiddlewareHandler = async function anyOrigin(c, next) {
  c.header("Access-Control-Allow-Origin", "*");
  return next();
};

/** The directory and the OpenAPI document. */
function answerOpenly(app: Hono, row: Endpoint): void {
  let shown: Representation | undefined;
  app.on("GET", routesOf(row), async (c) => {
    const { answer } = row.bind({}, parseSearch(searchOf(c.req.url)));
    shown ??= represent((await answer(0)).body);
    return send(c, shown, OPEN_CACHE);
  });
}

/** `/events/{id}` as Hono spells it, which reads "/" as `/v1` and "" as `/v1/`. */
function routesOf({ path }: Endpoint): string[] {
  return path === "/" ? ["/", ""] : [path.replace(/\{(\w+)\}/g, ":$1")];
}
