import type { components } from "./openapi.ts";

/** Every code that a refusal of the public API carries. */
export type ErrorCode = components["schemas"]["Error" | "InvalidParameter"]["code"];

/** A reply that is not a success. */
export class StarboardError extends Error {
  override readonly name = "StarboardError";
  /** The HTTP status. */
  readonly status: number;
  /** Null for 405 and 429, and for a reply that is not the API's own, as a proxy's. */
  readonly code: ErrorCode | null;
  /** With `INVALID_PARAMETER`: its name, and what would be allowed. */
  readonly parameter: string | null;
  readonly allowed: string | readonly string[] | null;
  /** With 429 and 503: whole seconds to wait before the next request. */
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, body: Partial<components["schemas"]["InvalidParameter"]>) {
    super(body.error ?? `${response.status} ${response.statusText}`.trim());
    this.status = response.status;
    this.code = body.code ?? null;
    this.parameter = body.parameter ?? null;
    this.allowed = body.allowed ?? null;
    const wait = response.headers.get("retry-after");
    this.retryAfterSeconds = wait === null ? null : Number(wait);
  }
}

/** Reads a reply that is not a success. */
export async function refusalOf(response: Response): Promise<StarboardError> {
  const body: unknown = await response.json().catch(() => null);
  return new StarboardError(response, typeof body === "object" && body !== null ? body : {});
}
