import { isUtf8 } from "node:buffer";
import type { Context } from "hono";
import type { z } from "zod";
import { bounds } from "../../bounds.ts";
import { badField, TerminalError } from "../../errors.ts";
import { repeatedKey } from "../../repeated-key.ts";
import { standingReply } from "../problem.ts";

const TOO_LARGE = standingReply("PAYLOAD_TOO_LARGE").text;

/**
 * Reads the JSON body of a request, strictly, and checks it against a schema (a
 * `z.strictObject`, so that unknown fields are refused, and with them any depth but its own).
 *
 * Decided where the contract is silent: UTF-8 alone, no byte order mark, no name twice in
 * one object.
 *
 * @throws TerminalError `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, or `INVALID_REQUEST`
 *   with `field`: the dotted path of the first bad field, null when the body is no JSON
 */
export async function readJson<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  requirePlainJson(c);
  const text = decode(await readBody(c));
  const body = parse(text);
  const repeated = repeatedKey(text);
  if (repeated !== undefined) throw badField(repeated.key, "A field of the body occurs twice.");
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const field = [...issue.path, issue.keys[0]].join(".");
    throw badField(field, "The body has a field that is not expected.");
  }
  const field = issue?.path.join(".") ?? "";
  if (field === "") throw badField(null, "The body must be a JSON object.");
  throw badField(field, `${field}: ${issue?.message}`);
}

function requirePlainJson(c: Context): void {
  const type = c.req.header("content-type") ?? "";
  const encoding = c.req.header("content-encoding") ?? "identity";
  const isJson = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i.test(type);
  if (!isJson || encoding.toLowerCase() !== "identity") {
    const code = "UNSUPPORTED_MEDIA_TYPE";
    throw new TerminalError(code, standingReply(code).text);
  }
}

/**
 * A body that announces its length ends there: the parser sees to that, so it is read as a
 * whole, past the web streams, which cost more than all the rest of a request. A chunked one
 * announces nothing and is counted while it is read.
 */
async function readBody(c: Context): Promise<Buffer> {
  const announced = c.req.header("content-length");
  if (announced === undefined) return readChunks(c, bounds.requestBodyBytesMax, TOO_LARGE);
  if (Number(announced) > bounds.requestBodyBytesMax) throw tooLarge(c, TOO_LARGE);
  return Buffer.from(await c.req.arrayBuffer().catch(endedEarly));
}

/**
 * Reads a body of any kind while it is no larger than it may be.
 *
 * @param sentence for a client whose body is
 * @throws TerminalError `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST` where the client hung up
 */
export async function readChunks(c: Context, bytesMax: number, sentence: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of c.req.raw.body ?? []) {
      length += chunk.byteLength;
      if (length > bytesMax) throw tooLarge(c, sentence);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof TerminalError ? error : endedEarly();
  }
  return Buffer.concat(chunks);
}

/** The client hung up: no answer reaches it, and the service is not at fault. */
function endedEarly(): never {
  throw badField(null, "The body ended early.");
}

function tooLarge(c: Context, sentence: string): TerminalError {
  // The rest of the body is on its way: it would be taken for the next request on this connection.
  c.header("Connection", "close");
  return new TerminalError("PAYLOAD_TOO_LARGE", sentence);
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw badField(null, "The body is not UTF-8.");
  return bytes.toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badField(null, "The body is not JSON.");
  }
}
