import type { IncomingMessage } from "node:http";
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

/** A host of which the adapter makes a URL as it stands; it looks closer at any other. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

type Headers = Partial<Record<LookedAt, string>>;

/**
 * A request as Node's parser read it, without the `Request`, `Headers` and `URL` that an app is
 * given: making those costs more than all that a kept answer needs.
 */
export class PlainRequest implements RequestLike {
  readonly env: { readonly incoming: IncomingMessage };
  /** Path and query, as the client wrote them. */
  readonly target: string;
  readonly startedAt = performance.now();
  readonly #headers: Headers;

  private constructor(incoming: IncomingMessage, headers: Headers) {
    this.env = { incoming };
    this.target = incoming.url ?? "";
    this.#headers = headers;
  }

  /**
   * @returns undefined for what is in any way unusual (another method, an odd host, a header
   *   that counts and comes twice): the app knows what becomes of it
   */
  static of(incoming: IncomingMessage): PlainRequest | undefined {
    if (incoming.method !== "GET") return undefined;
    const headers: Headers = {};
    const { rawHeaders } = incoming;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = lookedAt(rawHeaders[index] ?? "");
      if (name === undefined) continue;
      if (headers[name] !== undefined) return undefined;
      headers[name] = rawHeaders[index + 1] ?? "";
    }
    return PLAIN_HOST.test(headers.host ?? "") ? new PlainRequest(incoming, headers) : undefined;
  }

  get req(): RequestLike["req"] {
    return this;
  }

  header(name: LookedAt): string | undefined {
    return this.#headers[name];
  }

  /** Only targets whose query is known to hold no key take the fast path. */
  query(_name: string): undefined {
    return undefined;
  }
}

/** The name when a rule looks at it; by its length first, as most are none of these. */
function lookedAt(written: string): LookedAt | undefined {
  const { length } = written;
  if (length !== 4 && length < 12) return undefined;
  if (length > 15) return undefined;
  const name = written.toLowerCase();
  return LOOKED_AT.find((known) => known === name);
}
