import type { Context, MiddlewareHandler } from "hono";
import type { Metrics } from "../../metrics.ts";
import { precheckedOf } from "../fast-path/request-like.ts";
import { problem, tooManyRequests } from "../problem.ts";
import { setReplyHeader } from "../reply-header.ts";
import type { ClientAddress } from "./client-address.ts";
import { type CountedVerdict, type SharedWindowOptions, sharedWindow } from "./shared-window.ts";
import type { Verdict } from "./sliding-window.ts";

export interface Limited extends Omit<SharedWindowOptions, "name" | "limit" | "windowMs"> {
  readonly client: ClientAddress;
  readonly metrics?: Metrics;
}

interface RateLimitOptions extends Limited, Pick<SharedWindowOptions, "name" | "limit"> {
  /** A minute when absent. */
  readonly windowMs?: number;
  /** In the body of the 429; the public API's has none. */
  readonly code?: "RATE_LIMITED";
}

const WINDOW_MS = 60_000;

export type RateLimit = ReturnType<typeof rateLimit>;

/** Clocks of processes differ a little, and timers of clients fire early: waiting must help. */
const RETRY_SLACK_MS = 50;

/**
 * Limits requests per client: `limit` accepted ones in any `windowMs`, over all processes.
 * Every reply carries `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers),
 * a refusal also `Retry-After`.
 */
export function rateLimit(options: RateLimitOptions) {
  const { name, client, code, metrics } = options;
  const window = sharedWindow({ windowMs: WINDOW_MS, ...options });
  const windowSeconds = Math.ceil(window.windowMs / 1000);
  const policy = `"ip";q=${window.limit};w=${windowSeconds}`;

  const headers = ({ remaining, waitMs }: Verdict): readonly [string, string, string, string] => [
    "RateLimit-Policy",
    policy,
    "RateLimit",
    // Never longer than the window, though another process' clock may run a little ahead.
    `"ip";r=${remaining};t=${Math.min(windowSeconds, Math.ceil(waitMs / 1000))}`,
  ];
  const announce = (c: Context, verdict: Verdict): void => {
    const [policyName, policyValue, name, value] = headers(verdict);
    setReplyHeader(c, policyName, policyValue);
    setReplyHeader(c, name, value);
  };

  const refused = ({ countedBy, waitMs }: CountedVerdict): number => {
    metrics?.rateLimited.inc({ limit: name, counted_by: countedBy });
    const seconds = Math.ceil((waitMs + RETRY_SLACK_MS) / 1000);
    return Math.min(seconds, windowSeconds);
  };

  const middleware: MiddlewareHandler = async (c, next) => {
    const verdict = precheckedOf(c)?.counted ?? (await window.take(client(c)));
    announce(c, verdict);
    if (verdict.accepted) return next();
    const retryAfterSeconds = refused(verdict);
    return code === undefined
      ? tooManyRequests(c, retryAfterSeconds)
      : problem(c, code, { retryAfterSeconds });
  };
  return {
    /** Counts the request, or answers 429. Sets the rate headers on either. */
    middleware,
    /** Whom a request counts for. To be asked when it arrives: a socket that is gone has no address. */
    client,
    /** Counts a request of the client for the fast path: the middleware counts it no second time. */
    take: window.take,
    /** Whether the client was far from its limit when it was last counted: this one will pass. */
    hasRoom: window.hasRoom,
    /** Counts a refusal. @returns when to come again, whole seconds: waiting so long helps */
    refused,
    /** The rate headers, names and values alternate. */
    headers,
  };
}
