import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type RetryableCode, RetryableError, type TerminalCode, TerminalError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { SECURITY_HEADERS } from "./middleware/every-reply.ts";
import { setReplyHeader } from "./reply-header.ts";

/**
 * Turns failures into replies: the only file that knows status codes. A body is
 * `{ "error", "code", … }`; what callers must not see (stacks, paths, SQL, the texts of foreign
 * errors) stays in the log.
 */

/** Codes that are not errors inside the service, only replies of it. */
type ReplyCode =
  | "ALLOWANCE_EXHAUSTED"
  | "ALREADY_STARRED"
  | "HEADERS_TOO_LARGE"
  | "INTERNAL"
  | "INVALID_API_KEY"
  | "INVALID_OPERATOR_TOKEN"
  | "MISSING_API_KEY"
  | "RANGE_NOT_SATISFIABLE"
  | "RATE_LIMITED"
  | "REQUEST_TIMEOUT"
  | "REVOKED_API_KEY";

export type ProblemCode = TerminalCode | RetryableCode | ReplyCode;

/** Status and standing text of each code. */
const problems: Readonly<Record<ProblemCode, readonly [ContentfulStatusCode, string]>> = {
  ALLOWANCE_EXHAUSTED: [429, "All votes of this UTC day are used."],
  ALREADY_STARRED: [409, "This wallet has already starred this item on this UTC day."],
  CHALLENGE_EXPIRED: [410, "This challenge is unknown, used or expired. Ask for a new one."],
  HEADERS_TOO_LARGE: [431, "The request's headers are too large."],
  HOLDINGS_UNAVAILABLE: [503, "The holdings cannot be read right now. Nothing was spent."],
  IDEMPOTENCY_KEY_REUSED: [422, "This Idempotency-Key was used with another body."],
  INTERNAL: [500, "Something went wrong on our side."],
  INVALID_API_KEY: [401, "This API key was not issued by this service."],
  INVALID_OPERATOR_TOKEN: [401, "The operator token is needed: Authorization: Bearer <token>."],
  INVALID_PARAMETER: [400, "A parameter is not valid."],
  INVALID_REQUEST: [400, "The request is not valid."],
  INVALID_SESSION: [401, "This session is unknown, expired or revoked."],
  INVALID_SIGNATURE: [401, "The signature does not prove this wallet."],
  JOURNAL_BEHIND: [503, "Stars are not accepted while lost ones are being recovered."],
  MISSING_API_KEY: [401, "An API key is needed: Authorization: Bearer <API_KEY>."],
  MISSING_SESSION: [401, "A session is needed: Authorization: Bearer <token>."],
  NOT_FOUND: [404, "Nothing is found here."],
  PAYLOAD_TOO_LARGE: [413, "The body is larger than 4 KiB."],
  RANGE_NOT_SATISFIABLE: [416, "The range lies outside of the export."],
  RATE_LIMITED: [429, "Too many requests. Wait as Retry-After says."],
  REQUEST_TIMEOUT: [408, "The request took too long to arrive."],
  REVOKED_API_KEY: [401, "This API key has been revoked."],
  UNAVAILABLE: [503, "The service cannot answer right now. Try again."],
  UNKNOWN_WALLET: [404, "The ledger knows no such account."],
  UNSUPPORTED_KEY: [422, "This account has no key that can sign in."],
  UNSUPPORTED_MEDIA_TYPE: [415, "The body must be uncompressed application/json."],
};

export const PROBLEM_CODES = Object.keys(problems) as readonly ProblemCode[];

/** What may differ from a code's standing reply. */
export interface ProblemOptions {
  readonly message?: string;
  /** Join the body beside `error` and `code`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
}

/** The reply for a code: body, status and the headers that belong to it. */
export function problem(c: Context, code: ProblemCode, options: ProblemOptions = {}): Response {
  const [status, text] = problems[code];
  if (status === 401) setReplyHeader(c, "WWW-Authenticate", "Bearer");
  return reply(c, status, { error: options.message ?? text, code, ...options.details }, options);
}

/** Status and standing text of a code, for descriptions of an API. */
export function standingReply(code: ProblemCode): { status: ContentfulStatusCode; text: string } {
  const [status, text] = problems[code];
  return { status, text };
}

/** 405. The public API's table of codes has none for it, so its bodies have no code. */
export function methodNotAllowed(
  c: Context,
  { allow, code }: { readonly allow: string; readonly code?: "METHOD_NOT_ALLOWED" },
): Response {
  setReplyHeader(c, "Allow", allow);
  return reply(c, 405, { error: `Only ${allow} is accepted here.`, code });
}

/** 429 of the public API, whose table of codes has none for it. */
export function tooManyRequests(c: Context, retryAfterSeconds: number): Response {
  return reply(c, 429, { error: problems.RATE_LIMITED[1] }, { retryAfterSeconds });
}

/**
 * The reply for anything thrown. A terminal error's own sentence is shown, because it was
 * written for the caller, and what a retryable one has for the caller; of all others only the
 * code's standing text.
 */
export function problemOf(error: unknown, c: Context, log: Logger): Response {
  if (error instanceof TerminalError) {
    return problem(c, error.code, { message: error.message, details: error.details });
  }
  if (error instanceof RetryableError) {
    log.warn({ err: error, requestId: c.get("requestId") }, "not available");
    const { retryAfterSeconds, shown } = error;
    return problem(c, error.code, { retryAfterSeconds, ...(shown && { message: shown }) });
  }
  log.error({ err: error, requestId: c.get("requestId") }, "request failed");
  return problem(c, "INTERNAL");
}

/** The status alone, for replies that are pages; anything that is not ours counts as `INTERNAL`. */
export function statusOf(error: unknown): ContentfulStatusCode {
  const isOurs = error instanceof TerminalError || error instanceof RetryableError;
  return problems[isOurs ? error.code : "INTERNAL"][0];
}

/** A reply outside of any app: the request never became one. */
export interface BareProblem {
  readonly status: ContentfulStatusCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * The reply to what the parser, or we before the app, refused.
 *
 * @param code a code, or "METHOD_NOT_ALLOWED" for a method word that Node does not know
 */
export function bareProblem(code: ProblemCode | "METHOD_NOT_ALLOWED"): BareProblem {
  const [status, body] =
    code === "METHOD_NOT_ALLOWED"
      ? ([405, { error: "Only GET is accepted here." }] as const)
      : ([problems[code][0], { error: problems[code][1], code }] as const);
  const text = JSON.stringify(body);
  return {
    status,
    text,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(text)),
      "Cache-Control": "no-store",
      Connection: "close",
      ...Object.fromEntries(SECURITY_HEADERS),
      ...(status === 405 && { Allow: "GET" }),
    },
  };
}

function reply(
  c: Context,
  status: ContentfulStatusCode,
  body: Readonly<Record<string, unknown>>,
  options: ProblemOptions = {},
): Response {
  const seconds = options.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (seconds !== undefined)
    setReplyHeader(c, "Retry-After", String(Math.max(1, Math.ceil(seconds))));
  setReplyHeader(c, "Cache-Control", "no-store");
  return c.json(body, status);
}
