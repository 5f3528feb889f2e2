/** Headers that a check of this service looks at. */
export type LookedAt =
  | "accept-encoding"
  | "authorization"
  | "host"
  | "if-none-match"
  | "x-forwarded-for"
  | "x-request-id";

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
