import type { Context, MiddlewareHandler } from "hono";
import type { Metrics } from "../../metrics.ts";
import { problem, tooManyRequests } from "../problem.ts";
import { setReplyHeader } from "../reply-header.ts";
import type { ClientAddress } from "./client-address.ts";
import { type SharedWindowOptions, sharedWindow } from "./shared-window.ts";
import type { Verdict } from "./sliding-window.ts";

export interface RateLimitOptions extends SharedWindowOptions {
  readonly client: ClientAddress;
  /** In the body of the 429; the public API's has none. */
  readonly code?: "RATE_LIMITED";
  readonly metrics?: Metrics;
}

export interface RateLimit {
  /** Counts the request, or answers 429. Sets the rate headers on either. */
  readonly middleware: MiddlewareHandler;
  /** Sets the rate headers and counts nothing: for replies given before the limit is asked. */
  announce(c: Context): Promise<void>;
}

/** Clocks of processes differ a little, and timers of clients fire early: waiting must help. */
const RETRY_SLACK_MS = 50;

/**
 * Limits requests per client: `limit` accepted ones in any `windowMs`, over all processes.
 * Every reply carries `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers),
 * a refusal also `Retry-After`.
 */
export function rateLimit(options: RateLimitOptions): RateLimit {
  const { name, client, code, metrics } = options;
  const window = sharedWindow(options);
  const windowSeconds = Math.ceil(window.windowMs / 1000);
  const policy = `"ip";q=${window.limit};w=${windowSeconds}`;

  const announce = (c: Context, { remaining, waitMs }: Verdict): void => {
    setReplyHeader(c, "RateLimit-Policy", policy);
    setReplyHeader(c, "RateLimit", `"ip";r=${remaining};t=${Math.ceil(waitMs / 1000)}`);
  };

  return {
    async middleware(c, next) {
      const verdict = await window.take(client(c));
      announce(c, verdict);
      if (verdict.accepted) return next();
      metrics?.rateLimited.inc({ limit: name, counted_by: verdict.countedBy });
      const seconds = Math.ceil((verdict.waitMs + RETRY_SLACK_MS) / 1000);
      const retryAfterSeconds = Math.min(Math.max(1, seconds), windowSeconds);
      return code === undefined
        ? tooManyRequests(c, retryAfterSeconds)
        : problem(c, code, { retryAfterSeconds });
    },
    announce: async (c) => announce(c, await window.peek(client(c))),
  };
}
