import type { KeyVerdict, VerifyKey } from "../../keys/verify-key.ts";
import { revisionOf } from "../../store/data-revision.ts";
import { givenKey } from "../middleware/api-key.ts";
import type { RateLimit } from "../middleware/rate-limit.ts";
import type { ParsedQueries, ParsedQuery } from "../v1/endpoint.ts";
import { readyFor } from "../v1/representation.ts";
import type { ResponseCache } from "../v1/response-cache.ts";
import type { FindAnswer, ReadyAnswer } from "./fast-path.ts";
import type { PlainRequest, Prechecked } from "./request-like.ts";

/** What the app's routes share with the fast path. */
export interface Shared {
  readonly queries: ParsedQueries;
  readonly limit: RateLimit;
  readonly verifyKey: VerifyKey;
  readonly responses: ResponseCache;
  readonly cacheControl: string;
}

/**
 * Answers what the data endpoints are asked nearly always: a query that was asked before, within the
 * limit, with a good key, whose body is kept and still true. The checks have the app's order, and
 * each is made as the app makes it: the limit counts over all processes, the key is read from the
 * database after the request arrived.
 */
export function readyAnswers({
  queries,
  limit,
  verifyKey,
  responses,
  cacheControl,
}: Shared): FindAnswer {
  return (request) => {
    const query = queries.find(request.target);
    return query && answer(query, request);
  };

  async function answer(
    query: ParsedQuery,
    request: PlainRequest,
  ): Promise<ReadyAnswer | Prechecked> {
    const client = limit.client(request);
    const key = givenKey(request);
    // Far from the limit, limit and key are asked at the same time. Near it the limit comes first, so
    // that a flood costs the database nothing.
    let keyCheck = key !== undefined && limit.hasRoom(client) ? verifyKey(key) : undefined;
    keyCheck?.catch(() => undefined);
    const counted = await limit.take(client);
    if (counted.accepted && key !== undefined) keyCheck ??= verifyKey(key);
    const verdict = counted.accepted ? await keyCheck?.catch(() => undefined) : undefined;
    const shown = verdict?.state === "valid" ? find(query, verdict) : undefined;
    if (verdict?.state !== "valid" || shown === undefined) {
      return { startedAt: request.startedAt, counted, keyCheck };
    }
    const { status, headers, bytes } = await readyFor(request, shown, cacheControl);
    const rate = limit.headers(counted);
    return {
      status,
      headers: [...rate, ...headers],
      bytes,
      path: query.path,
      keyId: verdict.keyId,
    };
  }

  function find({ question, answer: read, row }: ParsedQuery, { revision }: Valid) {
    return responses.find({ question, revision: revisionOf(revision, row.shows), read });
  }
}

type Valid = KeyVerdict & { readonly state: "valid" };
