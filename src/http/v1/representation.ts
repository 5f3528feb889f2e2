import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { setReplyHeader } from "../reply-header.ts";

/** A body ready to be sent, as it is or compressed, each with its own strong validator. */
export interface Representation {
  readonly text: string;
  /** Opaque tag without quotes. */
  readonly tag: string;
  /** Compressed on first use. */
  gzipped(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Smaller bodies fit a packet either way. */
const GZIP_FROM_CHARACTERS = 1_024;
/** Ends the tag of a compressed body. */
export const GZIP_SUFFIX = "-gzip";

/** Renders a value as JSON. */
export function represent(value: unknown): Representation {
  return representText(JSON.stringify(value));
}

/** A text as it is. */
export function representText(text: string): Representation {
  const tag = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  let compressed: Promise<Uint8Array<ArrayBuffer>> | undefined;
  return {
    text,
    tag,
    gzipped() {
      compressed ??= compress(text);
      return compressed;
    },
  };
}

export interface SendOptions {
  readonly cacheControl: string;
  /** JSON unless told. */
  readonly type?: string;
}

/**
 * Sends a representation: 304 when the client has it (in either form), compressed when it
 * takes gzip. The compressed form's tag differs by a suffix, because a strong tag names bytes.
 */
export async function send(
  c: Context,
  shown: Representation,
  { cacheControl, type = "application/json" }: SendOptions,
): Promise<Response> {
  const isGzip = shown.text.length >= GZIP_FROM_CHARACTERS && takesGzip(c);
  setReplyHeader(c, "ETag", `"${shown.tag}${isGzip ? GZIP_SUFFIX : ""}"`);
  setReplyHeader(c, "Vary", "Accept-Encoding");
  setReplyHeader(c, "Cache-Control", cacheControl);
  if (clientHas(c, shown.tag)) return c.body(null, 304);
  if (!isGzip) return c.body(shown.text, 200, { "Content-Type": type });
  const packed = await shown.gzipped();
  setReplyHeader(c, "Content-Encoding", "gzip");
  return c.body(packed, 200, { "Content-Type": type });
}

/** Weak comparison, as RFC 9110 wants it for `If-None-Match`. */
export function clientHas(c: Context, tag: string): boolean {
  const header = c.req.header("if-none-match");
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const known: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return known.includes(`"${tag}"`) || known.includes(`"${tag}${GZIP_SUFFIX}"`);
}

/** Whether `Accept-Encoding` names gzip (or anything) with a weight above zero. */
export function takesGzip(c: Context): boolean {
  const weights = new Map<string, number>();
  for (const part of (c.req.header("accept-encoding") ?? "").split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0;
}

async function compress(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return Uint8Array.from(await promisify(gzip)(text));
}
