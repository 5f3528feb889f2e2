import { Hono } from "hono";
import type { Clock } from "../../clock.ts";
import { bounds } from "../../config.ts";
import type { VerifyKey } from "../../keys/verify-key.ts";
import type { Metrics } from "../../metrics.ts";
import { revisionOf } from "../../store/data-revision.ts";
import { inTime } from "../../store/postgres.ts";
import type { Redis } from "../../store/redis.ts";
import { offerDirectly } from "../direct.ts";
import { requireApiKey } from "../middleware/api-key.ts";
import type { ClientAddress } from "../middleware/client-address.ts";
import { getOnly } from "../middleware/get-only.ts";
import { rateLimit } from "../middleware/rate-limit.ts";
import { answerDirectly } from "./direct-answers.ts";
import { describedTable } from "./directory.ts";
import type { Endpoint } from "./endpoint.ts";
import { dataEndpoints, type EndpointDeps } from "./endpoints.ts";
import { type KeptBodies, keepBodies } from "./kept-bodies.ts";
import { type KnownQuestions, knowQuestions } from "./known-questions.ts";
import { type Representation, represent, send } from "./representation.ts";

export interface PublicApiDeps extends EndpointDeps {
  readonly clock: Clock;
  readonly verifyKey: VerifyKey;
  readonly redis?: Redis | undefined;
  readonly metrics: Metrics;
  readonly client: ClientAddress;
  /** Requests per client and 60 s (`API_RATE_LIMIT`). */
  readonly rateLimit: number;
  /** The URL by which clients know this service. */
  readonly publicUrl: string;
}

const WINDOW_MS = 60_000;
const DATA_CACHE = { cacheControl: "private, max-age=1" };
const OPEN_CACHE = { cacheControl: "public, max-age=60" };

/**
 * The public API, everything under `/v1`. Order of checks: method, rate limit, route, key,
 * parameters, record (contract, section 2).
 */
export function publicApi(deps: PublicApiDeps): Hono {
  const { client, clock, redis, metrics } = deps;
  const limit = rateLimit({
    name: "api",
    limit: deps.rateLimit,
    windowMs: WINDOW_MS,
    client,
    clock,
    redis,
    metrics,
  });
  const app = new Hono().basePath("/v1");
  app.use("*", getOnly(limit), limit.middleware);
  const bodies = keepBodies(clock);
  const questions = knowQuestions();
  const { verifyKey } = deps;
  for (const row of describedTable(dataEndpoints(deps), deps.publicUrl)) {
    if (row.key) answerWithKey(app, row, { verifyKey, bodies, questions });
    else answerOpenly(app, row);
  }
  offerDirectly(app, answerDirectly({ questions, limit, verifyKey, bodies, ...DATA_CACHE }));
  return app;
}

interface Answering {
  readonly questions: KnownQuestions;
  readonly verifyKey: VerifyKey;
  readonly bodies: KeptBodies;
}

function answerWithKey(
  app: Hono,
  row: Endpoint,
  { questions, verifyKey, bodies }: Answering,
): void {
  const bind = questions.of(row);
  app.get(routeOf(row), requireApiKey(verifyKey), async (c) => {
    const { question, answer } = bind(c.req.param(), searchOf(c.req.url));
    const revision = revisionOf(c.get("revision"), row.shows);
    const asked = { question, revision, read: answer };
    const shown =
      bodies.find(asked) ?? (await inTime(bodies.read(asked), bounds.statementDeadlineMs));
    return send(c, shown, DATA_CACHE);
  });
}

/** The directory and the OpenAPI document: "open to everyone, without a key", pages of others included. */
function answerOpenly(app: Hono, row: Endpoint): void {
  // Hono reads "/" as `/v1` and "" as `/v1/`.
  const paths = row.path === "/" ? ["/", ""] : [row.path];
  let shown: Representation | undefined;
  for (const path of paths) {
    app.get(path, async (c) => {
      c.header("Access-Control-Allow-Origin", "*");
      const { answer } = row.bind({}, new URLSearchParams(searchOf(c.req.url)));
      shown ??= represent((await answer(0)).body);
      return send(c, shown, OPEN_CACHE);
    });
  }
}

/** `/events/{id}` as Hono spells it. */
function routeOf(row: Endpoint): string {
  return row.path.replace(/\{(\w+)\}/g, ":$1");
}

function searchOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}
