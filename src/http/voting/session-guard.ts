import type { Context, MiddlewareHandler } from "hono";
import { TerminalError } from "../../errors.ts";
import { invalidSession } from "../../voting/session.ts";

/** What a voting request knows once its session is found. */
export interface SessionVariables {
  wallet: string;
  sessionToken: string;
}

/** 256 random bits in base64url: anything else was never issued, and costs no query. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const BEARER = /^bearer +(?<token>\S+)$/i;

/**
 * Lets a request through that carries a live session: `Authorization: Bearer <token>`.
 *
 * @param findSession the wallet of a token, null when it is unknown, expired or revoked
 * @throws TerminalError `MISSING_SESSION`, `INVALID_SESSION`
 */
export function requireSession(
  findSession: (token: string) => Promise<string | null>,
): MiddlewareHandler<{ Variables: SessionVariables }> {
  return async function sessionGuard(c, next) {
    const token = bearerToken(c);
    const wallet = await findSession(token);
    if (wallet === null) throw invalidSession();
    c.set("wallet", wallet);
    c.set("sessionToken", token);
    await next();
  };
}

/**
 * The token that a request brings; it may be no session, but has the form of one.
 *
 * @throws TerminalError `MISSING_SESSION`, `INVALID_SESSION`
 */
export function bearerToken(c: Context): string {
  const header = c.req.header("authorization")?.trim() ?? "";
  const { token } = BEARER.exec(header)?.groups ?? {};
  // Another scheme, and a bare "Bearer", name no session.
  if (token === undefined) {
    throw new TerminalError(
      "MISSING_SESSION",
      "a session is needed: Authorization: Bearer <token>",
    );
  }
  if (!TOKEN.test(token)) throw invalidSession();
  return token;
}
