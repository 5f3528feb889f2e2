import { refusalOf } from "./error.ts";

/** Sends a request; the platform's own `fetch`, or what stands in for it. */
export type Send = typeof fetch;

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * Sends a request and reads its JSON body; undefined for a reply without one.
 *
 * @throws StarboardError for a refusal
 */
export async function readReply<T>(send: Send, url: string, init: RequestInit): Promise<T> {
  const response = await send(url, init);
  // Redirected, a POST may have become a GET: what answers that has done nothing.
  const isAnother = response.redirected && init.method === "POST" && response.status !== 201;
  if (!response.ok || isAnother) throw await refusalOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** A URL below the service's, with the parameters that are given. */
export function urlOf(baseUrl: string, path: string, query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return `${baseUrl.replace(/\/+$/, "")}${path}${text === "" ? "" : `?${text}`}`;
}

/**
 * An id as a part of a path.
 *
 * @throws RangeError for `.` and `..`, which lead elsewhere however they are written
 */
export function pathPart(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw new RangeError(`${id} is no id`);
  return encodeURIComponent(id);
}
