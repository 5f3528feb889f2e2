/**
 * Every failure is one of two kinds, and the split is what callers act on:
 * a terminal error stays the same however often it is retried, a retryable one
 * may pass by itself. Refusals of a star are neither: they are values
 * (`actors/wallet-day.ts`). Status codes live in `http/problem.ts` alone.
 */

/** Codes a client may see on a terminal error (contract, sections 2 and 3). */
export type TerminalCode =
  | "CHALLENGE_EXPIRED"
  | "IDEMPOTENCY_KEY_REUSED"
  | "INVALID_PARAMETER"
  | "INVALID_REQUEST"
  | "INVALID_SESSION"
  | "INVALID_SIGNATURE"
  | "MISSING_SESSION"
  | "NOT_FOUND"
  | "PAYLOAD_TOO_LARGE"
  | "UNKNOWN_WALLET"
  | "UNSUPPORTED_KEY"
  | "UNSUPPORTED_MEDIA_TYPE";

/** Codes a client may see on a retryable error. */
export type RetryableCode = "HOLDINGS_UNAVAILABLE" | "JOURNAL_BEHIND" | "UNAVAILABLE";

/** Stays the same however often it is retried; `details` join the error body. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly code: TerminalCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: TerminalCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, { cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * May pass by itself: answered 503 with `Retry-After: retryAfterSeconds`. `shown`
 * is what the caller sees in place of the code's standing text; the message stays in the log.
 */
export class RetryableError extends Error {
  override readonly name = "RetryableError";
  readonly code: RetryableCode;
  readonly retryAfterSeconds: number;
  readonly shown: string | undefined;

  constructor(
    code: RetryableCode,
    message: string,
    retryAfterSeconds = 1,
    cause?: unknown,
    shown?: string,
  ) {
    super(message, { cause });
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.shown = shown;
  }
}

/** The refusal of a value that is none; null where it is no field but the whole. */
export function badField(field: string | null, message: string): TerminalError {
  return new TerminalError("INVALID_REQUEST", message, { field });
}

/** Turns anything a `catch` may hold into an `Error` with a message. */
export function coerceError(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  // A host with several addresses (`localhost`): Node leaves the message empty.
  if (error instanceof AggregateError) {
    error.message ||= error.errors.map((each) => coerceError(each).message).join("; ");
  }
  return error;
}
