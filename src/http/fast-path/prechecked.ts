import type { KeyVerdict } from "../../keys/verify-key.ts";
import type { CountedVerdict } from "../middleware/shared-window.ts";
import type { RequestLike } from "./request-like.ts";

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

/** What the fast path found out about this request; undefined when it did not look at it. */
export function precheckedOf(c: RequestLike): Prechecked | undefined {
  return (c.env as RequestEnv | undefined)?.prechecked;
}
