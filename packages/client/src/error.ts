import type { components } from "./openapi.ts";
import type { components as voting } from "./voting-openapi.ts";

/** Every code that a refusal of the public API carries. */
export type DataErrorCode = components["schemas"]["Error" | "InvalidParameter"]["code"];

/** Every code that a refusal of the voting API carries. */
export type VotingErrorCode = voting["schemas"]["Refusal"]["code"];

export type ErrorCode = DataErrorCode | VotingErrorCode;

/** What a refusal's body may say beside its code. */
type Body = Partial<
  Omit<components["schemas"]["InvalidParameter"], "code"> &
    Omit<voting["schemas"]["InvalidRequest"], "code"> &
    Omit<voting["schemas"]["AlreadyStarred"], "code"> &
    Omit<voting["schemas"]["AllowanceExhausted"], "code">
> & { readonly code?: ErrorCode };

/** A reply that is not a success. */
export class StarboardError extends Error {
  override readonly name = "StarboardError";
  /** The HTTP status. */
  readonly status: number;
  /** Null for 405 and 429 of the public API, and for a reply without one, as a proxy's. */
  readonly code: ErrorCode | null;
  /** With `INVALID_PARAMETER`: its name, and what would be allowed. */
  readonly parameter: string | null;
  readonly allowed: string | readonly string[] | null;
  /** With `INVALID_REQUEST`: what is bad. */
  readonly field: string | null;
  /** With `ALREADY_STARRED`: the star that was given. */
  readonly starId: string | null;
  /** With `ALLOWANCE_EXHAUSTED`: votes a day, and those that are given. */
  readonly limit: number | null;
  readonly used: number | null;
  /** With `ALREADY_STARRED` and `ALLOWANCE_EXHAUSTED`: when the refusal ends. */
  readonly resetsAt: string | null;
  /** With 429 and 503: whole seconds to wait before the next request; null for a proxy's date. */
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, body: Body) {
    const text = body.error ?? `${response.status} ${response.statusText}`.trim();
    // It may be for the redirect: `fetch` takes no key or token along to another origin.
    super(response.redirected ? `${text} (redirected to ${response.url})` : text);
    this.status = response.status;
    this.code = body.code ?? null;
    this.parameter = body.parameter ?? null;
    this.allowed = body.allowed ?? null;
    this.field = body.field ?? null;
    this.starId = body.starId ?? null;
    this.limit = body.limit ?? null;
    this.used = body.used ?? null;
    this.resetsAt = body.resetsAt ?? null;
    const wait = response.headers.get("retry-after") ?? "";
    // A timer fires at once for more.
    this.retryAfterSeconds = /^\d+$/.test(wait) ? Math.min(Number(wait), 2_147_483) : null;
  }
}

/** Reads a reply that is not a success. */
export async function refusalOf(response: Response): Promise<StarboardError> {
  const body: Record<string, unknown> = Object(await response.json().catch(() => null));
  // A proxy may answer in JSON too, with a number or an object where we have a text.
  for (const name of ["error", "code"]) if (typeof body[name] !== "string") delete body[name];
  return new StarboardError(response, body);
}
