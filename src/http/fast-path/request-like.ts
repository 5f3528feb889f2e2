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
  /** What `serveHttp` passes along; see `RequestEnv`. */
  readonly env: unknown;
  readonly req: {
    header(name: LookedAt): string | undefined;
    query(name: string): string | undefined;
  };
}
