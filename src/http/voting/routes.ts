import { type Context, Hono } from "hono";
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
import { challengeBody } from "./bodies.ts";
import type { ClientConfig } from "./client-config.ts";
import { checkFilters, type ReadItems } from "./items.ts";
import { votingDocument } from "./openapi.ts";
import { type Operation, type OperationName, operations } from "./operations.ts";
import { readVotingQuery } from "./read-query.ts";
import { requireSession, type SessionTokens, type SessionVariables } from "./session-token.ts";

/** The use cases behind the voting routes. */
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

/** The voting operations, to be mounted under `/voting` (contract, section 3). */
export function votingRoutes(deps: VotingDeps): Hono<Env> {
  const routes = new Hono<Env>();
  const session = requireSession(deps.tokens, deps.findSession);
  routes.use(answerWithin());
  const answers = { ...openAnswers(deps), ...signInAnswers(deps), ...starAnswers(deps) };
  for (const [name, answer] of Object.entries(answers)) {
    const row: Operation = operations[name as OperationName];
    const path = row.path.replace(/\{(\w+)\}/g, ":$1");
    // The session of a star is looked up together with everything else about it.
    if (row.session && name !== "castStar") routes.on(row.method, path, session, answer);
    else routes.on(row.method, path, answer);
  }
  return routes;
}

type Answers<Names extends OperationName> = Readonly<
  Record<Names, (c: Context<Env>) => Response | Promise<Response>>
>;

/** What anyone may read. */
function openAnswers(
  deps: VotingDeps,
): Answers<"readVotingOpenApi" | "readConfig" | "listItems" | "readStar"> {
  const config = represent(deps.config);
  const document = represent(votingDocument(deps.config.publicUrl));
  return {
    readVotingOpenApi(c) {
      readVotingQuery(c, operations.readVotingOpenApi.query);
      return send(c, document, OPEN_CACHE);
    },
    readConfig(c) {
      readVotingQuery(c, operations.readConfig.query);
      return send(c, config, OPEN_CACHE);
    },
    async listItems(c) {
      const query = checkFilters(readVotingQuery(c, operations.listItems.query));
      return send(c, await deps.readItems(query), OPEN_CACHE);
    },
    async readStar(c) {
      readVotingQuery(c, operations.readStar.query);
      const id = c.req.param("id")?.toLowerCase() ?? "";
      if (!UUID.test(id)) throw badField("id", "id is not the id of a star");
      const day = dayOfStarId(id);
      const receipt = day === null ? null : await deps.findReceipt(id, day);
      if (receipt === null) throw new TerminalError("NOT_FOUND", "there is no star with this id");
      return c.json(starJson(receipt), 200, { "Cache-Control": OPEN_CACHE.cacheControl });
    },
  };
}

function signInAnswers(
  deps: VotingDeps,
): Answers<"startSignIn" | "openSession" | "endSession" | "endSessions"> {
  const challenge = challengeBody(deps.network);
  /** Ends with the cookie, where the session stood in it. */
  const signedOut = (c: Context<Env>): Response => {
    if (c.get("session").isCookie) deps.tokens.cookie.clear(c);
    return c.body(null, 204);
  };
  return {
    async startSignIn(c) {
      readVotingQuery(c, operations.startSignIn.query);
      const { wallet } = await c.get("deadline").without(() => readJson(c, challenge));
      const { expiresAt, ...issued } = await deps.startSignIn({ wallet, origin: originOf(c) });
      return c.json({ ...issued, expiresAt: instant(expiresAt) }, 201);
    },
    async openSession(c) {
      const { query, body } = operations.openSession;
      readVotingQuery(c, query);
      const signed = await c.get("deadline").without(() => readJson(c, body));
      const { challengeId, scheme, signature, cookie } = signed;
      if (cookie) deps.tokens.requireOwnPage(c);
      const answerBy = c.get("deadline").answerBy();
      const origin = originOf(c);
      const opened = await deps.openSession({ challengeId, scheme, signature, origin, answerBy });
      const { token, wallet } = opened;
      const expiresAt = instant(opened.expiresAt);
      if (!cookie) return c.json({ token, wallet, expiresAt }, 201);
      deps.tokens.cookie.write(c, token);
      return c.json({ wallet, expiresAt }, 201);
    },
    async endSession(c) {
      readVotingQuery(c, operations.endSession.query);
      await deps.closeSession(c.get("session").token);
      return signedOut(c);
    },
    async endSessions(c) {
      readVotingQuery(c, operations.endSessions.query);
      await deps.revokeSessions(c.get("wallet"));
      return signedOut(c);
    },
  };
}

/** What a signed-in wallet does and sees. */
function starAnswers(
  deps: VotingDeps,
): Answers<"readAllowance" | "previewStar" | "castStar" | "listStars"> {
  return {
    async readAllowance(c) {
      readVotingQuery(c, operations.readAllowance.query);
      const { wallet, day, premium, ...allowance } = await deps.readAllowance(c.get("wallet"));
      return c.json({ wallet, day, premium, ...allowanceBody(allowance) });
    },
    async previewStar(c) {
      const target = readVotingQuery(c, operations.previewStar.query);
      const preview = await deps.previewStar(c.get("wallet"), target);
      return c.json({ ...preview, allowance: allowanceBody(preview.allowance) });
    },
    async castStar(c) {
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
    },
    async listStars(c) {
      const { day = dayOf(deps.clock.now()) } = readVotingQuery(c, operations.listStars.query);
      const receipts = await deps.receiptsOfDay(c.get("wallet"), day);
      return c.json({ day, stars: receipts.map(starJson) });
    },
  };
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

/** The reply to a star; an accepted one's text comes whole from the journal's halves. */
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
    retryAfterSeconds: Math.max(1, Math.ceil((result.resetsAt - now) / 1_000)),
  });
}

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (PRINTABLE.test(key)) return key;
  throw badField("Idempotency-Key", "Idempotency-Key must be 1 to 255 printable ASCII characters");
}
