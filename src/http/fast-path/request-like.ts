import type { KeyVerdict } from "../../keys/verify-key.ts";
import type { CountedVerdict } from "../middleware/shared-window.ts";

/** Headers that a check of this service looks at. */
export const LOOKED_AT = [
  "accept-encoding",
  "authorization",
  "host",
  "if-none-match",
  "x-forwarded-for",
  "x-request-id",
] as const;
export type LookedAt = (typeof LOOKED_AT)[number];

/**
 * What the rules about requests look at: who asks, and with what. Hono's context is one, and so
 * is a `PlainRequest`, so that each rule is written once.
 */
export interface RequestLike {
  /** What `serveHttp` passes along; see `envOf`. */
  readonly env: unknown;
  readonly req: {
    header(name: LookedAt): string | undefined;
    query(name: string): string | undefined;
  };
}

/** What the fast path found out about a request that it hands to the app; the app does not ask again. */
export interface Prechecked {
  /** When the request arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** How it stands with the rate limit, which has counted it. */
  readonly counted: CountedVerdict;
  /** The check of its key; absent when it was not started. */
  readonly keyCheck?: Promise<KeyVerdict> | undefined;
}

/** The environment of a request that came to this server; tests give parts of it. */
export interface RequestEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } };
  /** Present when the fast path looked at the request first. */
  readonly prechecked?: Prechecked | undefined;
}

/** What `serveHttp` passed along with a request; undefined in tests that pass nothing. */
export function envOf(c: RequestLike): RequestEnv | undefined {
  // Hono leaves its type to the app, and middleware serves any.
  return c.env as RequestEnv | undefined;
}

/** What the fast path found out about this request; undefined when it did not look at it. */
export function precheckedOf(c: RequestLike): Prechecked | undefined {
  return envOf(c)?.prechecked;
}
