import type { KeyVerdict } from "../keys/verify-key.ts";
import type { Asking } from "./asking.ts";
import type { CountedVerdict } from "./middleware/shared-window.ts";

/** What was found out about a request before the app was asked: the app asks none of it again. */
export interface Begun {
  /** When it arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** How it stands with the rate limit, which has counted it. */
  readonly counted: CountedVerdict;
  /** What asking about its key came to; absent when nobody was asked. */
  readonly verify?: (() => Promise<KeyVerdict>) | undefined;
}

const requests = new WeakMap<object, Begun>();

/** Hands on what was found out about a request, by Node's own object for it. */
export function begin(incoming: object, begun: Begun): void {
  requests.set(incoming, begun);
}

/** What the short way found out about this request; undefined for one that comes straight. */
export function begunOf(c: Asking): Begun | undefined {
  const { incoming } = (c.env ?? {}) as { incoming?: object };
  return incoming && requests.get(incoming);
}
