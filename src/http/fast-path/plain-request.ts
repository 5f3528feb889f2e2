import type { IncomingMessage } from "node:http";
import { LOOKED_AT, type LookedAt, type RequestLike } from "./request-like.ts";

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
