import type { Context, MiddlewareHandler } from "hono";
import { uuidv7 } from "uuidv7";
import { recentlyUsed } from "../../hosting/recently-used.ts";
import {
  OPERATOR_SESSION_MS,
  type OperatorSession,
  operatorSessions,
} from "../../keys/operator-session.ts";
import { hasOperators } from "../../keys/operators.ts";
import { takeSignInLink } from "../../keys/sign-in-link.ts";
import { type Actor, appendOperatorLog } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import { hostCookie } from "../host-cookie.ts";
import { localWindow } from "../middleware/sliding-window.ts";
import type { ConsoleDeps } from "./page.ts";
import { closedPage, goTo, localPath } from "./reply.ts";
import { type SignInDeps, signIn, signInByLink, signInPage } from "./sign-in.ts";

/** A request of somebody signed in. */
export interface Signed {
  readonly session: OperatorSession;
  /** What the cookie holds; the form's token follows from it. */
  readonly secret: string;
  /** As the operator log names them. */
  readonly actor: Actor;
}

export interface GateVariables {
  readonly isSignedIn?: true;
}

export type Gate = ReturnType<typeof createGate>;

/** More sessions than operators ever have open. */
const FOUND_MAX = 1_000;
const GUEST_WINDOW_MS = 60_000;
/** Said to somebody who sends a form after the session's end. */
const NOT_DONE = "You are not signed in, so nothing was done. Sign in, and do it again.";

/** Checks who is signed in. API keys and voters' sessions open nothing here. */
export function createGate(deps: ConsoleDeps) {
  const { sql, publicUrl, operatorToken, client } = deps;
  const sessions = operatorSessions(deps);
  const cookie = hostCookie({
    name: "starboard-operator",
    isSecure: new URL(publicUrl).protocol === "https:",
    lifetimeMs: OPERATOR_SESSION_MS,
  });
  const found = recentlyUsed<true>(FOUND_MAX);
  const actorOf = (c: Context, { id, operator }: OperatorSession): Actor => ({
    operator,
    sessionId: id,
    origin: client(c),
  });
  const signingIn: SignInDeps = {
    ...deps,
    async admit(c, operator, alias) {
      const { secret, ...session } = await sessions.open(operator, alias);
      await note(sql, actorOf(c, session), "session.open");
      cookie.write(c, secret);
      found.set(secret, true);
    },
    useLink: async (secret) => operatorToken !== undefined && (await takeSignInLink(sql, secret)),
  };
  const isClosed = async () => operatorToken === undefined && !(await hasOperators(sql));
  return {
    /** @param use `look` where a page asks by itself: that keeps no session alive */
    async find(c: Context, use: "use" | "look" = "use"): Promise<Signed | null> {
      const secret = cookie.read(c);
      const session = await sessions.find(secret, use);
      if (session === null) {
        found.delete(secret);
        return null;
      }
      found.set(secret, true);
      c.set("isSignedIn", true);
      return { session, secret, actor: actorOf(c, session) };
    },
    /** Whether the request's session was there when this process looked last; costs nothing. */
    wasFound: (c: Context): boolean => found.get(cookie.read(c)) !== undefined,
    /** Answers with the sign-in page in place of the page asked for. */
    async refuse(c: Context): Promise<Response> {
      if (await isClosed()) return closedPage(c);
      if (c.req.method !== "GET") {
        // Who signs out has what they asked for.
        const said = c.req.path === "/ops/sign-out" ? {} : { flaw: NOT_DONE };
        return signInPage(c, { status: 401, next: "/ops", ...said });
      }
      const { pathname, search } = new URL(c.req.url);
      return signInPage(c, { status: 401, next: localPath(pathname + search) });
    },
    /** The sign-in form; a link with a secret, `?once=`, signs in. */
    async open(c: Context): Promise<Response> {
      const once = c.req.query("once");
      if (once !== undefined && isOpenedByHand(c)) return signInByLink(c, once, signingIn);
      if (await isClosed()) return closedPage(c);
      return signInPage(c, { status: 200, next: localPath(c.req.query("next") ?? null) });
    },
    signIn: async (c: Context): Promise<Response> =>
      (await isClosed()) ? closedPage(c) : signIn(c, signingIn),
    async signOut(c: Context, { actor, secret }: Signed): Promise<Response> {
      await sessions.close(secret);
      found.delete(secret);
      await note(sql, actor, "session.close");
      cookie.clear(c);
      return goTo(c, "/ops/sign-in");
    },
  };
}

function note(sql: Sql, actor: Actor, action: string): Promise<void> {
  return appendOperatorLog(sql, {
    ...actor,
    actionId: uuidv7(),
    phase: "done",
    action,
    subject: "",
    notice: "",
    reason: null,
    details: {},
  });
}

/**
 * A link is followed by a person: no other site's page may count wrong tries against its visitor,
 * and a look at the address alone does not use the link up.
 */
function isOpenedByHand(c: Context): boolean {
  const site = c.req.header("sec-fetch-site") ?? "none";
  return c.req.method === "GET" && (site === "none" || site === "same-origin");
}

/**
 * Bounds the requests of clients that are not signed in: to learn that costs a statement, of which
 * operators wait for the same few connections. Requests of operators do not count, and those of a
 * session that is known here pass even where others, as behind a proxy, use up the bound of their
 * address. The bound is per client and 60 s, in this process.
 */
export function guestLimit(
  deps: ConsoleDeps,
  gate: Gate,
): MiddlewareHandler<{ Variables: GateVariables }> {
  const window = localWindow({ limit: deps.guestRateLimit, windowMs: GUEST_WINDOW_MS });
  return async function guestLimit(c, next) {
    if (gate.wasFound(c)) return next();
    const client = deps.client(c);
    const { accepted, waitMs } = window.take(client, deps.clock.now());
    if (accepted) {
      await next();
      if (c.get("isSignedIn")) window.giveBack(client);
      return;
    }
    const seconds = Math.ceil(waitMs / 1_000);
    c.header("Retry-After", String(seconds));
    const flaw = `Too many requests from your address. Try again in ${seconds} s.`;
    return signInPage(c, { status: 429, next: "/ops", flaw });
  };
}
