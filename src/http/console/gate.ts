import type { Context } from "hono";
import { uuidv7 } from "uuidv7";
import type { Clock } from "../../clock.ts";
import {
  type OperatorSession,
  type OperatorSessions,
  operatorSessions,
} from "../../keys/operator-session.ts";
import { appendOperatorLog } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import type { OperatorAccess } from "../operator-access.ts";
import { readForm } from "./read-form.ts";
import { goTo } from "./reply.ts";
import { isSameOrigin } from "./same-origin.ts";
import { isFormToken, sessionCookie } from "./session-cookie.ts";
import { localPath, type SignInDeps, signIn, signInPage } from "./sign-in.ts";

export interface GateDeps {
  readonly operatorToken: string;
  readonly publicUrl: string;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly access: OperatorAccess;
}

/** A request of somebody signed in. */
export interface Signed {
  readonly session: OperatorSession;
  /** What the cookie holds; the form's token follows from it. */
  readonly secret: string;
}

/** Who comes in. Neither API keys nor voters' sessions are ever looked at. */
export interface Gate {
  /** @param use `look` where a page asks by itself: that keeps no session alive */
  find(c: Context, use?: "use" | "look"): Promise<Signed | null>;
  /** The sign-in, in place of what was asked for. */
  refuse(c: Context): Promise<Response>;
  /** The form, when a page of this very session sent it; null otherwise. */
  formOf(c: Context, signed: Signed): Promise<URLSearchParams | null>;
  signIn(c: Context): Promise<Response>;
  signOut(c: Context, signed: Signed): Promise<Response>;
}

export function createGate(deps: GateDeps): Gate {
  const { sql, publicUrl } = deps;
  const sessions: OperatorSessions = operatorSessions(deps);
  const cookie = sessionCookie(publicUrl);
  const note: SignInDeps["note"] = ({ id, operator }, action) =>
    appendOperatorLog(sql, {
      actionId: uuidv7(),
      phase: "done",
      operator,
      sessionId: id,
      action,
      subject: "",
      notice: "",
      details: {},
    });
  return {
    async find(c, use = "use") {
      const secret = cookie.read(c);
      const session = await sessions.find(secret, use);
      return session === null ? null : { session, secret };
    },
    refuse(c) {
      const { pathname, search } = new URL(c.req.url);
      const next = c.req.method === "GET" ? localPath(pathname + search) : "/ops";
      return signInPage(c, { status: 401, next });
    },
    async formOf(c, { secret }) {
      const form = await readForm(c);
      const isOurs = isSameOrigin(c, publicUrl) && isFormToken(form.get("token") ?? "", secret);
      return isOurs ? form : null;
    },
    signIn: (c) => signIn(c, { ...deps, sessions, cookie, note }),
    async signOut(c, { session, secret }) {
      await sessions.close(secret);
      await note(session, "session.close");
      cookie.clear(c);
      return goTo(c, "/ops/sign-in");
    },
  };
}
