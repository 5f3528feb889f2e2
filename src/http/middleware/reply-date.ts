import type { MiddlewareHandler } from "hono";
import { setReplyHeader } from "../reply-header.ts";

const SECOND_MS = 1_000;

/**
 * The `Date` of a reply by the service's clock. Node's own would be this machine's, and an audit
 * that compares rankings with records goes by it. Its text is made once a second.
 *
 * @param now epoch milliseconds
 */
export function dateByClock(now: () => number): () => string {
  let second = Number.NaN;
  let text = "";
  return () => {
    const current = Math.floor(now() / SECOND_MS);
    if (current !== second) {
      second = current;
      text = new Date(current * SECOND_MS).toUTCString();
    }
    return text;
  };
}

/** Dates every reply. */
export function replyDate(date: () => string): MiddlewareHandler {
  return function replyDate(c, next) {
    setReplyHeader(c, "Date", date());
    return next();
  };
}
