import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { loadOnce } from "../../load-once.ts";
import type { RequestLike } from "../fast-path/request-like.ts";
import { setReplyHeader, varyBy } from "../reply-header.ts";

/** A body ready to be sent, as it is or compressed, each with its own strong validator. */
export interface Representation {
  /** UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Opaque tag without quotes. */
  readonly tag: string;
  gzipped(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Smaller bodies fit a packet either way. */
const GZIP_FROM_BYTES = 1_024;
/** Ends the tag of a compressed body. */
export const GZIP_SUFFIX = "-gzip";

/** Renders a value as JSON. */
export function represent(value: unknown): Representation {
  return representText(JSON.stringify(value));
}

/** A text as it is. */
export function representText(text: string): Representation {
  // Memory of its own: a small Buffer is a part of a piece of 8 KiB, and keeping it keeps all of that.
  const bytes = new TextEncoder().encode(text);
  const tag = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const gzipped = loadOnce(async () => Uint8Array.from(await promisify(gzip)(bytes)));
  return { bytes, tag, gzipped };
}

export interface SendOptions {
  readonly cacheControl: string;
  /** JSON when absent. */
  readonly type?: string;
}

export interface ReadyReply {
  readonly status: 200 | 304;
  /** Names and values alternate; all but the body's type and length. */
  readonly headers: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/**
 * Makes a representation ready for one client: 304 when the client has it (in either form),
 * compressed when it takes gzip. The compressed form's tag differs by a suffix, because a strong
 * tag names bytes.
 */
export function readyFor(
  c: RequestLike,
  shown: Representation,
  cacheControl: string,
): ReadyReply | Promise<ReadyReply> {
  const isGzip = shown.bytes.length >= GZIP_FROM_BYTES && takesGzip(c);
  const tag = `"${shown.tag}${isGzip ? GZIP_SUFFIX : ""}"`;
  const headers = ["ETag", tag, "Vary", "Accept-Encoding", "Cache-Control", cacheControl];
  if (clientHas(c, shown.tag)) return { status: 304, headers, bytes: null };
  if (!isGzip) return { status: 200, headers, bytes: shown.bytes };
  headers.push("Content-Encoding", "gzip");
  return shown.gzipped().then((bytes) => ({ status: 200, headers, bytes }));
}

/** Sends a representation as `readyFor` has it. */
export async function send(
  c: Context,
  shown: Representation,
  { cacheControl, type = "application/json" }: SendOptions,
): Promise<Response> {
  const { status, headers, bytes } = await readyFor(c, shown, cacheControl);
  for (let index = 0; index < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (name === "Vary") varyBy(c, value);
    else setReplyHeader(c, name, value);
  }
  if (bytes === null) return c.body(null, status);
  return c.body(bytes, 200, { "Content-Type": type });
}

/** Weak comparison, as RFC 9110 wants it for `If-None-Match`. */
export function clientHas(c: RequestLike, tag: string): boolean {
  const header = c.req.header("if-none-match");
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const known: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return known.includes(`"${tag}"`) || known.includes(`"${tag}${GZIP_SUFFIX}"`);
}

/** Whether `Accept-Encoding` names gzip (or anything) with a weight above zero. */
export function takesGzip(c: RequestLike): boolean {
  const header = c.req.header("accept-encoding");
  if (header === undefined) return false;
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0;
}
