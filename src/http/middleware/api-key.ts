import type { MiddlewareHandler } from "hono";
import type { VerifyKey } from "../../keys/verify-key.ts";
import type { DataRevision } from "../../store/data-revision.ts";
import { precheckedOf, type RequestLike } from "../fast-path/request-like.ts";
import { bearerToken } from "../host-cookie.ts";
import { problem } from "../problem.ts";

interface KeyVariables {
  keyId: string;
  revision: DataRevision;
}

/**
 * Lets a request pass only with an API key that was issued and not revoked. The three ways
 * to fail have three codes.
 *
 * @param verify answers for a key; its outage is the caller's 503, never a 200
 */
export function requireApiKey(verify: VerifyKey): MiddlewareHandler<{ Variables: KeyVariables }> {
  return async function requireApiKey(c, next) {
    const key = givenKey(c);
    if (key === undefined) return problem(c, "MISSING_API_KEY");
    const verdict = await (precheckedOf(c)?.keyCheck ?? verify(key));
    if (verdict.state === "unknown") return problem(c, "INVALID_API_KEY");
    if (verdict.state === "revoked") return problem(c, "REVOKED_API_KEY");
    c.set("keyId", verdict.keyId);
    c.set("revision", verdict.revision);
    return next();
  };
}

/**
 * The header wins over the query. A header of another scheme, and an empty key, count as
 * absent. Of a repeated `api_key` the first is looked at; the parameters' check refuses it.
 */
export function givenKey(c: RequestLike): string | undefined {
  return bearerToken(c.req.header("authorization")) ?? (c.req.query("api_key") || undefined);
}
