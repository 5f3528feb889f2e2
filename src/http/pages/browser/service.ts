import { type StarTarget, voting } from "../../../../packages/client/src/index.ts";

/**
 * The voting API as these pages use it; the session is their cookie. A person waits, so
 * a `Retry-After` of more than a second is shown and not waited for.
 */
export const service = voting({
  baseUrl: "",
  cookie: true,
  retry: { attempts: 2, mostWaitMs: 1_000 },
});

/** The service answers within a few seconds, or its answer is lost. */
const ANSWER_WITHIN_MS = 20_000;

/** For a request that others wait behind: it ends, answered or not. */
export const deadline = (): { readonly signal: AbortSignal } => ({
  signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
});

/** @param key `<type>/<id>`, as the page's elements name an item */
export function targetOf(key: string): StarTarget {
  const [type = "", id = ""] = key.split("/");
  return { type: type as StarTarget["type"], id };
}
