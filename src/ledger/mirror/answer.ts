import { errors } from "undici";
import type { z } from "zod";
import { coerceError } from "../../errors.ts";
import { MirrorError } from "./error.ts";
import type { RawAnswer } from "./exchange.ts";
import { problemSchema } from "./schemas.ts";

export interface Answer<T> {
  readonly body: T;
  /** The node says that it does not know the whole history (206). */
  readonly partial: boolean;
}

export interface Asked<T> {
  /** Path below `/api/v1`, and query. */
  readonly target: string;
  readonly schema: z.ZodType<T>;
  /** Whether a well-formed answer is about what was asked; one that is not is asked of the next node. */
  readonly isIt?: ((answer: T) => boolean) | undefined;
}

/**
 * What is made of an answer, null where there is no such thing. It throws MirrorError where the
 * next node is to be asked.
 */
export type Take<T, R> = (answer: Answer<T> | null) => R;

/**
 * Reads an answer, or says why it is none.
 *
 * @returns null when the mirror node itself, and not something before it, says
 *   that there is no such thing
 * @throws MirrorError
 */
export function judgeAnswer<T>(
  { target, schema, isIt }: Asked<T>,
  { status, text, retryAfter }: RawAnswer,
): Answer<T> | null {
  if (status >= 300 && status < 400) throw new MirrorError("redirect", `${target}: HTTP ${status}`);
  if (status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(retryAfter);
    throw new MirrorError("busy", `${target}: HTTP ${status}`, undefined, retryAfterMs);
  }
  if (status === 404 && isProblem(text)) return null;
  if (status !== 200 && status !== 206) {
    throw new MirrorError("status", `${target}: HTTP ${status}`);
  }
  const parsed = schema.safeParse(parseJson(target, text));
  if (parsed.success) {
    if (isIt?.(parsed.data) !== false) return { body: parsed.data, partial: status === 206 };
    throw new MirrorError("schema", `${target}: the answer is about something else`);
  }
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".") || "the answer";
  throw new MirrorError("schema", `${target}: ${where}: ${issue?.message}`, parsed.error);
}

/** An answer that must be there, as a list is even when it is empty. @throws MirrorError */
export function present<T>(found: Answer<T> | null, { target }: Asked<T>): Answer<T> {
  if (found === null) throw new MirrorError("status", `${target}: a list is not found`);
  return found;
}

/** What an answer says, where that is all there is to it. @throws MirrorError */
export function whole<T>({ body, partial }: Answer<T>, { target }: Asked<T>): T {
  if (partial) throw new MirrorError("status", `${target}: only a part of the answer`);
  return body;
}

/** What an attempt threw, as the one error of this client. */
export function asMirrorError(thrown: unknown, target: string): MirrorError {
  if (thrown instanceof MirrorError) return thrown;
  if (thrown instanceof errors.ResponseExceededMaxSizeError) {
    return new MirrorError("too-long", `${target}: more bytes than any answer has`, thrown);
  }
  return new MirrorError("network", `${target}: ${coerceError(thrown).message}`, thrown);
}

/** Whole seconds or a date (RFC 9110), in milliseconds from now; 0 when it says nothing. */
export function readRetryAfter(header = ""): number {
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Math.max(0, ms || 0);
}

function parseJson(target: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MirrorError("not-json", `${target}: not JSON`, error);
  }
}

function isProblem(text: string): boolean {
  try {
    return problemSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
