import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "../../addresses.ts";
import { bounds } from "../../bounds.ts";
import { badField, TerminalError } from "../../errors.ts";
import { invalidSession } from "../../voting/session.ts";
import { bearerToken, hostCookie } from "../host-cookie.ts";
import { setReplyHeader } from "../reply-header.ts";

/** A session token as a request brought it: it may be no session. */
export interface BroughtToken {
  readonly token: string;
  /** From the cookie of our own pages; else from the header. */
  readonly isCookie: boolean;
}

export interface SessionVariables {
  wallet: string;
  session: BroughtToken;
}

/** Where session tokens stand: in `Authorization: Bearer`, else in the cookie of our own pages. */
export type SessionTokens = ReturnType<typeof sessionTokens>;

/**
 * Reads session tokens (contract, section 8). A cookie goes along with every request of a browser to
 * us, so a change by cookie needs an `Origin` of ours, which no page of another site can claim.
 *
 * @param publicUrl where clients find us: on plain http the cookie is secure too, save on loopback
 * @param ownOrigins of our pages, as `config.ts` lists them; `VOTING_ORIGINS` are none of them
 */
export function sessionTokens(publicUrl: string, ownOrigins: readonly string[]) {
  const { protocol, hostname } = new URL(publicUrl);
  const cookie = hostCookie({
    name: "starboard",
    isSecure: protocol === "https:" || !isLoopback(hostname),
    lifetimeMs: bounds.sessionLifetimeMs,
  });

  const isOwnOrigin = (c: Context): boolean => ownOrigins.includes(c.req.header("origin") ?? "");
  /** @throws TerminalError as `tokenOf`, where the request comes from no page of ours */
  const requireOwnPage = (c: Context): void => {
    const isSameOrigin = (c.req.header("sec-fetch-site") ?? "same-origin") === "same-origin";
    if (isSameOrigin && isOwnOrigin(c)) return;
    throw badField("Origin", "Origin: a session by cookie is for the pages of this service alone");
  };
  const fromCookie = (c: Context): string => {
    const token = cookie.read(c);
    if (token === "") return "";
    if (c.req.method === "GET" || c.req.method === "HEAD") {
      // Browsers name no origin with a page that reads from its own.
      return c.req.header("origin") === undefined || isOwnOrigin(c) ? token : "";
    }
    requireOwnPage(c);
    return token;
  };
  /**
   * The token that a request brings; the header wins over the cookie.
   *
   * @throws TerminalError `MISSING_SESSION`; `INVALID_REQUEST` with the field `Origin` for a change
   *   by cookie that no page of ours asks for
   */
  const tokenOf = (c: Context): BroughtToken => {
    const bearer = bearerToken(c.req.header("authorization"));
    const token = bearer ?? fromCookie(c);
    if (token === "") {
      throw new TerminalError(
        "MISSING_SESSION",
        "a session is needed: Authorization: Bearer <token>",
      );
    }
    return { token, isCookie: bearer === undefined };
  };
  /** The same for pages that anyone may read: null without a token. */
  const find = (c: Context): string | null => {
    try {
      return tokenOf(c).token;
    } catch (error) {
      if (error instanceof TerminalError) return null;
      throw error;
    }
  };
  return { cookie, requireOwnPage, tokenOf, find };
}

/**
 * Lets a request through that carries a live session. Its reply is for that wallet: no cache keeps
 * it.
 *
 * @param findSession the wallet of a token, null when it is unknown, expired or revoked
 * @throws TerminalError as `SessionTokens.tokenOf`, and `INVALID_SESSION`
 */
export function requireSession(
  tokens: SessionTokens,
  findSession: (token: string) => Promise<string | null>,
): MiddlewareHandler<{ Variables: SessionVariables }> {
  return async function sessionGuard(c, next) {
    const session = tokens.tokenOf(c);
    const wallet = await findSession(session.token);
    if (wallet === null) throw invalidSession();
    c.set("wallet", wallet);
    c.set("session", session);
    setReplyHeader(c, "Cache-Control", "no-store");
    await next();
  };
}
