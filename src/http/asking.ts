/** Headers that a rule of ours looks at. */
export type LookedAt =
  | "accept-encoding"
  | "authorization"
  | "host"
  | "if-none-match"
  | "x-forwarded-for"
  | "x-request-id";

/**
 * What the rules about requests look at: who asks, and with what. Hono's context is one, and so
 * is a `DirectRequest`, so that each rule is written once.
 */
export interface Asking {
  /** What `serveHttp` passes along: Node's request (`incoming`) and reply (`outgoing`). */
  readonly env: unknown;
  readonly req: {
    header(name: LookedAt): string | undefined;
    query(name: string): string | undefined;
  };
}
