import type { Context } from "hono";
import { TerminalError } from "../../errors.ts";

/** Some thousand ids of records to approve at once. */
const FORM_BYTES_MAX = 128 * 1024;

const FORM = /^application\/x-www-form-urlencoded[ \t]*(;.*)?$/i;

/**
 * The fields of a posted form.
 *
 * @throws TerminalError `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST` (no form, a field twice, a NUL)
 */
export async function readForm(c: Context): Promise<URLSearchParams> {
  if (!FORM.test(c.req.header("content-type") ?? "")) throw invalid("this is no form");
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    length += chunk.byteLength;
    if (length > FORM_BYTES_MAX) {
      c.header("Connection", "close");
      throw new TerminalError("PAYLOAD_TOO_LARGE", "the form is too large");
    }
    chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  for (const value of form.values()) {
    // A NUL byte is no text to Postgres.
    if (value.includes("\u0000")) throw invalid("a field holds a NUL");
  }
  return form;
}

function invalid(message: string): TerminalError {
  return new TerminalError("INVALID_REQUEST", message);
}
