import { type Context, Hono } from "hono";
import type { z } from "zod";
import { type Day, dayOf, instant } from "../../../actors/day.ts";
import type { Clock } from "../../clock.ts";
import { badField, TerminalError } from "../../errors.ts";
import { dayOfStarId } from "../../journal/star-id.ts";
import type { LedgerNetwork } from "../../ledger/entity-id.ts";
import type { StarReceipt } from "../../reads/receipts.ts";
import type { TargetName } from "../../reads/targets.ts";
import { UUID } from "../../uuid.ts";
import type { CastResult, CastStar } from "../../voting/cast-star.ts";
import type { Challenge } from "../../voting/challenge.ts";
import type { SignedChallenge, SignInRequest } from "../../voting/open-session.ts";
import type { Preview } from "../../voting/preview-star.ts";
import type { CurrentAllowance } from "../../voting/read-allowance.ts";
import { invalidSession, type NewSession } from "../../voting/session.ts";
import { allowanceBody, starBody as starJson } from "../../voting/star-reply.ts";
import { readJson } from "../middleware/read-json.ts";
import { problem } from "../problem.ts";
import { represent, send } from "../v1/representation.ts";
import { answerWithin, type DeadlineVariables } from "./answer-within.ts";
import { challengeBody, readVotingQuery, sessionBody } from "./bodies.ts";
import type { ClientConfig } from "./client-config.ts";
import { checkFilters, type ReadItems } from "./items.ts";
import { votingDocument } from "./openapi.ts";
import { type Operation, operations } from "./operations.ts";
import { requireSession, type SessionTokens, type SessionVariables } from "./session-token.ts";

export interface VotingDeps {
  readonly clock: Clock;
  readonly network: LedgerNetwork;
  readonly tokens: SessionTokens;
  readonly config: ClientConfig;
  readonly readItems: ReadItems;
  readonly startSignIn: (asked: SignInRequest) => Promise<Challenge>;
  readonly openSession: (signed: SignedChallenge) => Promise<NewSession>;
  readonly findSession: (token: string) => Promise<string | null>;
  readonly closeSession: (token: string) => Promise<void>;
  readonly revokeSessions: (wallet: string) => Promise<unknown>;
  readonly readAllowance: (wallet: string) => Promise<CurrentAllowance>;
  readonly previewStar: (wallet: string, target: TargetName) => Promise<Preview>;
  readonly castStar: (cast: CastStar) => Promise<CastResult>;
  readonly findReceipt: (id: string, day: Day) => Promise<StarReceipt | null>;
  readonly receiptsOfDay: (wallet: string, day: Day) => Promise<readonly StarReceipt[]>;
}

type Env = { Variables: SessionVariables & DeadlineVariables };

/** Answers an operation, once its session is found and its query is read. */
type Route = <Query extends z.ZodObject>(
  operation: Omit<Operation, "query"> & { readonly query: Query },
  answer: (c: Context<Env>, query: z.output<Query>) => Response | Promise<Response>,
) => void;

/** The voting operations, to be mounted under `/voting` (contract, section 3). */
export function votingRoutes(deps: VotingDeps): Hono<Env> {
  const routes = new Hono<Env>();
  const session = requireSession(deps.tokens, deps.findSession);
  routes.use(answerWithin());
  const route: Route = ({ method, path, query, session: isNeeded }, answer) => {
    const pattern = path.replace(/\{(\w+)\}/g, ":$1");
    const answered = (c: Context<Env>) => answer(c, readVotingQuery(c, query));
    if (isNeeded) routes.on(method, pattern, session, answered);
    else routes.on(method, pattern, answered);
  };
  answerOpenly(route, deps);
  answerSignIn(route, deps);
  answerWallet(route, deps);
  // The session of a star is looked up together with everything else about it.
  routes.post(operations.castStar.path, (c) => answerStar(c, deps));
  return routes;
}

/** What anyone may read. */
function answerOpenly(route: Route, deps: VotingDeps): void {
  const config = represent(deps.config);
  const document = represent(votingDocument(deps.config.publicUrl));
  route(operations.readVotingOpenApi, (c) => send(c, document, OPEN_CACHE));
  route(operations.readConfig, (c) => send(c, config, OPEN_CACHE));
  route(operations.listItems, async (c, query) =>
    send(c, await deps.readItems(checkFilters(query)), OPEN_CACHE),
  );
  route(operations.readStar, async (c) => {
    const id = c.req.param("id")?.toLowerCase() ?? "";
    if (!UUID.test(id)) throw badField("id", "id is not the id of a star");
    const day = dayOfStarId(id);
    const receipt = day === null ? null : await deps.findReceipt(id, day);
    if (receipt === null) throw new TerminalError("NOT_FOUND", "there is no star with this id");
    return c.json(starJson(receipt), 200, { "Cache-Control": OPEN_CACHE.cacheControl });
  });
}

function answerSignIn(route: Route, deps: VotingDeps): void {
  const challenge = challengeBody(deps.network);
  /** Ends with the cookie, where the session stood in it. */
  const signedOut = (c: Context<Env>): Response => {
    if (c.get("session").isCookie) deps.tokens.cookie.clear(c);
    return c.body(null, 204);
  };
  route(operations.startSignIn, async (c) => {
    const { wallet } = await c.get("deadline").without(() => readJson(c, challenge));
    const { expiresAt, ...issued } = await deps.startSignIn({ wallet, origin: originOf(c) });
    return c.json({ ...issued, expiresAt: instant(expiresAt) }, 201);
  });
  route(operations.openSession, async (c) => {
    const { deadline } = c.var;
    const { cookie, ...signed } = await deadline.without(() => readJson(c, sessionBody));
    if (cookie) deps.tokens.requireOwnPage(c);
    const origin = originOf(c);
    const answerBy = deadline.answerBy();
    const { token, wallet, ...opened } = await deps.openSession({ origin, answerBy, ...signed });
    const expiresAt = instant(opened.expiresAt);
    if (!cookie) return c.json({ token, wallet, expiresAt }, 201);
    deps.tokens.cookie.write(c, token);
    return c.json({ wallet, expiresAt }, 201);
  });
  route(operations.endSession, async (c) => {
    await deps.closeSession(c.get("session").token);
    return signedOut(c);
  });
  route(operations.endSessions, async (c) => {
    await deps.revokeSessions(c.get("wallet"));
    return signedOut(c);
  });
}

/** What a signed-in wallet sees. */
function answerWallet(route: Route, deps: VotingDeps): void {
  route(operations.readAllowance, async (c) => {
    const { wallet, day, premium, ...allowance } = await deps.readAllowance(c.get("wallet"));
    return c.json({ wallet, day, premium, ...allowanceBody(allowance) });
  });
  route(operations.previewStar, async (c, target) => {
    const preview = await deps.previewStar(c.get("wallet"), target);
    return c.json({ ...preview, allowance: allowanceBody(preview.allowance) });
  });
  route(operations.listStars, async (c, { day = dayOf(deps.clock.now()) }) => {
    const receipts = await deps.receiptsOfDay(c.get("wallet"), day);
    return c.json({ day, stars: receipts.map(starJson) });
  });
}

async function answerStar(c: Context<Env>, deps: VotingDeps): Promise<Response> {
  const { token } = deps.tokens.tokenOf(c);
  let wish: Wish;
  try {
    wish = await readWish(c);
  } catch (error) {
    // A bad request of someone who is not signed in is first of all that.
    if ((await deps.findSession(token)) === null) throw invalidSession();
    throw error;
  }
  const { target, idempotencyKey } = wish;
  const answerBy = c.get("deadline").answerBy();
  const result = await deps.castStar({ voter: { token }, target, idempotencyKey, answerBy });
  return castReply(c, result, deps.clock.now());
}

/** Asked again each time, which costs a 304 while nothing has changed. */
const OPEN_CACHE = { cacheControl: "no-cache" };

/** A scheme, a host of at most 253 characters and a port are shorter. */
const ORIGIN_CHARACTERS_MAX = 300;

/**
 * Browsers name the page's origin with every request that is no GET. It is stored with a challenge.
 *
 * @throws TerminalError `INVALID_REQUEST` where it is too long for an origin
 */
function originOf(c: Context): string | null {
  const origin = c.req.header("origin") ?? null;
  if (origin === null || origin.length <= ORIGIN_CHARACTERS_MAX) return origin;
  throw badField("Origin", `Origin is longer than ${ORIGIN_CHARACTERS_MAX} characters`);
}

type Wish = Pick<CastStar, "target" | "idempotencyKey">;

/** What a client wants to star, and its key. @throws TerminalError naming what is wrong */
async function readWish(c: Context<Env>): Promise<Wish> {
  const { query, body } = operations.castStar;
  readVotingQuery(c, query);
  const { target } = await c.get("deadline").without(() => readJson(c, body));
  return { target, idempotencyKey: readIdempotencyKey(c) };
}

/** The reply to a star. An accepted one's body is text already: a repeated request gets the same bytes. */
function castReply(c: Context, result: CastResult, now: number): Response {
  if (result.kind !== "refused") {
    if (result.kind === "replayed") c.header("Idempotent-Replayed", "true");
    return c.body(result.body, 201, { "Content-Type": "application/json" });
  }
  const { decision } = result;
  const resetsAt = instant(result.resetsAt);
  if (decision.code === "ALREADY_STARRED") {
    return problem(c, decision.code, { details: { starId: decision.starId, resetsAt } });
  }
  return problem(c, decision.code, {
    details: { limit: decision.limit, used: decision.used, resetsAt },
    retryAfterSeconds: (result.resetsAt - now) / 1_000,
  });
}

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (PRINTABLE.test(key)) return key;
  throw badField("Idempotency-Key", "Idempotency-Key must be 1 to 255 printable ASCII characters");
}
