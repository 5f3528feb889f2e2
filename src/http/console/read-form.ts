import { createHash } from "node:crypto";
import type { Context } from "hono";
import { TerminalError } from "../../errors.ts";
import { readChunks } from "../middleware/read-json.ts";
import { isSameText } from "../operator-access.ts";

/** Some thousand ids of records to approve at once. */
const FORM_BYTES_MAX = 128 * 1024;

const FORM = /^application\/x-www-form-urlencoded[ \t]*(;.*)?$/i;

/**
 * The fields of a posted form.
 *
 * @throws TerminalError `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST` (no form, half a form, a NUL)
 */
export async function readForm(c: Context): Promise<URLSearchParams> {
  if (!FORM.test(c.req.header("content-type") ?? "")) throw invalid("this is no form");
  const bytes = await readChunks(c, FORM_BYTES_MAX, "the form is too large");
  const form = new URLSearchParams(bytes.toString("utf8"));
  for (const value of form.values()) {
    // A NUL byte is no text to Postgres.
    if (value.includes("\u0000")) throw invalid("a field holds a NUL");
  }
  return form;
}

/**
 * Whether a form was sent by a page of the console. Browsers say so themselves: `Sec-Fetch-Site` on
 * https and on localhost, `Origin` everywhere else. A request with neither is none.
 */
export function isSameOrigin(c: Context, publicUrl: string): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === new URL(publicUrl).host || host === c.req.header("host");
}

/** What the forms of a session carry: it follows from the secret, and reveals nothing of it. */
export function formToken(secret: string): string {
  return createHash("sha256").update(`starboard form ${secret}`).digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, formToken(secret));
}

function invalid(message: string): TerminalError {
  return new TerminalError("INVALID_REQUEST", message);
}
