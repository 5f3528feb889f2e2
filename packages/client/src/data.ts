import type { PagedPath, Parameters, Path, Record, Reply } from "./paths.ts";
import { type CallOptions, pathPart, readReply, urlOf } from "./request.ts";

export interface DataOptions {
  /** Where the service answers, without `/v1`: `https://starboard.example.org`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`, so that it stays out of URLs and logs. */
  readonly apiKey: string;
  /** Sends the requests; the platform's own `fetch` if absent. */
  readonly fetch?: typeof fetch;
}

/** Nothing to give where all parameters may be absent. */
type Given<P extends Path> =
  object extends Parameters<P>
    ? [parameters?: Parameters<P>, options?: CallOptions]
    : [parameters: Parameters<P>, options?: CallOptions];

/** The read-only data API under `/v1`. Each function throws StarboardError for a refusal. */
export interface Data {
  /** Reads one path: its body, as the OpenAPI document types it. */
  get<P extends Path>(path: P, ...given: Given<P>): Promise<Reply<P>>;
  /** Reads a list page by page, from `offset` on, until there is no more. */
  pages<P extends PagedPath>(path: P, ...given: Given<P>): AsyncGenerator<Reply<P>, void>;
  /** The same record by record. */
  each<P extends PagedPath>(path: P, ...given: Given<P>): AsyncGenerator<Record<P>, void>;
}

/**
 * Makes a client of the data API.
 *
 *     const starboard = data({ baseUrl: "https://…", apiKey: "starboard_live_…" });
 *     const { tokens } = await starboard.get("/tokens/top", { limit: 10 });
 *     for await (const event of starboard.each("/events", { status: "all" })) …
 */
export function data({ baseUrl, apiKey, fetch: send = fetch }: DataOptions): Data {
  async function get<P extends Path>(path: P, ...[parameters, options]: Given<P>) {
    const headers = { accept: "application/json", authorization: `Bearer ${apiKey}` };
    const { filled, left } = fill(path, { ...(parameters as object) });
    return readReply<Reply<P>>(send, urlOf(baseUrl, `/v1${filled}`, left), { headers, ...options });
  }

  async function* pages<P extends PagedPath>(path: P, ...[parameters, options]: Given<P>) {
    let offset = (parameters as { offset?: number } | undefined)?.offset ?? 0;
    for (let more = true; more; ) {
      const asked = { ...(parameters as object), offset } as Parameters<P>;
      // Whether parameters may be left out depends on the path, which is open here.
      const page = await get(path, ...([asked, options] as unknown as Given<P>));
      yield page;
      const count = recordsOf<P>(page).length;
      offset += count;
      more = page.hasMore && count > 0;
    }
  }

  async function* each<P extends PagedPath>(path: P, ...given: Given<P>) {
    for await (const page of pages(path, ...given)) yield* recordsOf<P>(page);
  }

  return { get, pages, each };
}

/** Fills `{name}` of the path; the other parameters that are given become the query. */
function fill(path: string, parameters: object): { filled: string; left: object } {
  const left = new Map<string, unknown>(Object.entries(parameters));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(left.get(name));
    left.delete(name);
    return pathPart(value);
  });
  return { filled, left: Object.fromEntries(left) };
}

/** A page has one list: its records. */
function recordsOf<P extends PagedPath>(page: Reply<P>): Record<P>[] {
  return Object.values(page).find(Array.isArray) ?? [];
}
