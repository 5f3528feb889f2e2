import type { MiddlewareHandler } from "hono";
import { invalidSession } from "../../voting/session.ts";
import { setReplyHeader } from "../reply-header.ts";
import type { BroughtToken, SessionTokens } from "./session-token.ts";

/** What a voting request knows once its session is found. */
export interface SessionVariables {
  wallet: string;
  session: BroughtToken;
}

/**
 * Lets a request through that carries a live session. Its reply is for that wallet: no cache keeps
 * it.
 *
 * @param findSession the wallet of a token, null when it is unknown, expired or revoked
 * @throws TerminalError as `SessionTokens.tokenOf`
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
