import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** What goes over a raw socket. */
export interface WireRequest {
  /** In latin1. */
  readonly bytes: string;
  /** Replies that may come: a pipeline brings several, a broken frame perhaps none. */
  readonly replies: { readonly least: number; readonly most: number };
  /** Hang up as soon as a reply's head has arrived: its body is a stream without an end. */
  readonly untilHead?: boolean;
}

export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  /** Empty where it is compressed. */
  readonly text: string;
}

/** None is slow to answer; this only ends a run that would hang. */
const REPLY_WITHIN_MS = 20_000;

/** Sends a request on a connection of its own, and gives what came until that was closed. */
export function exchange(url: string, request: WireRequest): Promise<string> {
  const { bytes, replies, untilHead = false } = request;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = "";
    socket.setEncoding("latin1").setTimeout(REPLY_WITHIN_MS, () => {
      socket.destroy(new Error(`no end of the reply: ${received.slice(0, 200)}`));
    });
    socket.on("data", (chunk) => {
      received += chunk;
      if (untilHead && received.includes("\r\n\r\n")) socket.destroy();
    });
    // A server that hangs up on a flood has said what it had to say.
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
    );
    socket.on("close", () => resolve(received));
    // A client that hangs up at once need get no reply; a request that is cut short would wait.
    if (replies.least === 0) socket.end(bytes, "latin1");
    else socket.write(bytes, "latin1");
  });
}

/** Replies one after the other, as `Content-Length` and chunks divide them. */
export function repliesIn(wire: string, request: WireRequest): WireReply[] {
  const isHead = request.bytes.startsWith("HEAD ");
  const replies: WireReply[] = [];
  let rest = wire;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    assert.ok(end !== -1, `no whole reply: ${rest.slice(0, 200)}`);
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const isBare = isHead || status === 204 || status === 304;
    if (request.untilHead && status === 200) return [...replies, { status, headers, text: "" }];
    const { text, length } = isBare
      ? { text: "", length: 0 }
      : bodyIn(rest.slice(end + 4), headers);
    replies.push({ status, headers, text });
    rest = rest.slice(end + 4 + length);
  }
  return replies;
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

function bodyIn(rest: string, headers: Headers): { text: string; length: number } {
  const { bytes, length } = framed(rest, headers);
  const body = Buffer.from(bytes, "latin1");
  const decode = DECODERS[headers.get("content-encoding") ?? ""];
  return { text: String(decode === undefined || bytes === "" ? body : decode(body)), length };
}

function framed(rest: string, headers: Headers): { bytes: string; length: number } {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length") ?? 0);
    assert.ok(rest.length >= length, "the reply is cut short");
    return { bytes: rest.slice(0, length), length };
  }
  let [bytes, at] = ["", 0];
  for (;;) {
    const line = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.slice(at, line), 16);
    assert.ok(line !== -1 && !Number.isNaN(size), "the chunks break off");
    if (size === 0) return { bytes, length: line + 4 };
    bytes += rest.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}
