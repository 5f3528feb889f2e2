import { errors } from "undici";
import type { z } from "zod";
import { coerceError } from "../errors.ts";
import { MirrorError } from "./mirror-error.ts";
import { problemSchema } from "./mirror-schemas.ts";

/** An answer that is what it should be. */
export interface Answer<T> {
  readonly body: T;
  /** The node says that it does not know the whole history (206). */
  readonly partial: boolean;
}

/** What came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Reads an answer, or says why it is none.
 *
 * @returns null when the mirror node itself, and not something before it, says
 *   that there is no such thing
 * @throws MirrorError
 */
export function judgeAnswer<T>(
  target: string,
  schema: z.ZodType<T>,
  { status, text }: RawAnswer,
): Answer<T> | null {
  if (status >= 300 && status < 400) throw new MirrorError("redirect", `${target}: HTTP ${status}`);
  if (status === 429 || status >= 500) throw new MirrorError("busy", `${target}: HTTP ${status}`);
  if (status === 404 && isProblem(text)) return null;
  if (status !== 200 && status !== 206) {
    throw new MirrorError("status", `${target}: HTTP ${status}`);
  }
  const parsed = schema.safeParse(parseJson(target, text));
  if (parsed.success) return { body: parsed.data, partial: status === 206 };
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".") || "the answer";
  throw new MirrorError("schema", `${target}: ${where}: ${issue?.message}`, parsed.error);
}

/** Whatever an attempt threw, as the one error of this client. */
export function asMirrorError(thrown: unknown, target: string): MirrorError {
  if (thrown instanceof MirrorError) return thrown;
  if (thrown instanceof errors.ResponseExceededMaxSizeError) {
    return new MirrorError("too-long", `${target}: more bytes than any answer has`, thrown);
  }
  return new MirrorError("network", `${target}: ${coerceError(thrown).message}`, thrown);
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
