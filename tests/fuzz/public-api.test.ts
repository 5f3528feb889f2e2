// timeout: 600 s
/**
 * Goal: whatever bytes arrive, the public API answers with no fault of its own: never a 5xx,
 * every error in the contract's shape, nothing leaked. Method: seeded odd requests of eight
 * classes over raw sockets to a real server on a real database; every 200 is held against the
 * OpenAPI document.
 *
 *     npm run fuzz                                          20,000 requests
 *     node --import tsx tests/fuzz/public-api.test.ts --requests 1000 --seed 7
 */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { test } from "uvu";
import { importCatalog } from "../../src/catalogue/import-catalog.ts";
import { type HttpServer, serveHttp } from "../../src/http/serve.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { revokeKey } from "../../src/keys/revoke-key.ts";
import { type OpenApi, violations } from "../http/v1/contract.ts";
import { bodyOf, EVENT_SOURCES, type House, openHouse } from "../http/v1/house.ts";
import { CLASSES, type Given, type OddRequest, oddRequest } from "./requests.ts";

/** For every run of all tests; `npm run fuzz` asks for more. */
const REQUESTS = 3_200;
const CONNECTIONS = 24;
/** None is slow to answer; this only ends a test that would hang. */
const REPLY_WITHIN_MS = 20_000;

const { values } = parseArgs({
  options: { requests: { type: "string" }, seed: { type: "string" } },
  strict: false,
});
const requests = Number(values.requests ?? REQUESTS);
const seed = Number(values.seed ?? 1);

const logged: string[] = [];
let house: House;
let server: HttpServer;
let document: OpenApi;
let given: Given;
test.before(async () => {
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(line) });
  house = await openHouse({ log, trustedProxies: ["127.0.0.0/8", "::1"] });
  const events = [{ id: "e", title: "E", eventType: "OTHER", startsAt: "2026-11-20T08:00:00Z" }];
  const tokens = [{ id: "0.0.1", symbol: "T", name: "T" }];
  const projects = [{ id: "p", name: "P", category: "DEFI", country: "DE" }];
  await importCatalog(
    house.sql,
    { events, tokens, projects },
    { approve: true, eventSources: EVENT_SOURCES },
  );
  // JSON has no type; that it is a valid OpenAPI document is a test of its own.
  document = (await bodyOf(await house.get("/openapi.json"))) as unknown as OpenApi;
  const revoked = await issueKey(house.sql, "revoked");
  await revokeKey(house.sql, revoked.id);
  given = { key: house.key, revokedKey: revoked.key };
  server = await serveHttp(house.app, { host: "127.0.0.1", port: 0 });
});
test.after(async () => {
  await server.close(100);
  await house.close();
});

interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const CODES = [
  ...["MISSING_API_KEY", "INVALID_API_KEY", "REVOKED_API_KEY", "NOT_FOUND", "INVALID_PARAMETER"],
  ...["INVALID_REQUEST", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT"],
];

test(`${requests} odd requests of seed ${seed}: no 5xx, every error in shape, nothing leaked`, async () => {
  const prototype = Object.getOwnPropertyNames(Object.prototype).join();
  const seen = new Map<string, Map<number, number>>(CLASSES.map(([name]) => [name, new Map()]));
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests) {
      const index = next++;
      const request = oddRequest(seed, index, given);
      const statuses = seen.get(request.name) ?? new Map<number, number>();
      try {
        for (const { status } of await answered(request)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      } catch (error) {
        const what = `seed ${seed}, request ${index} (${request.name})`;
        const sent = JSON.stringify(request.bytes.slice(0, 500));
        throw new Error(`${what}: ${(error as Error).message}\n${sent}`, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  for (const [name, statuses] of seen) {
    const shown = [...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${times} × ${status}`);
    process.stdout.write(`${name}: ${shown.join(", ")}\n`);
    const answeredWell = name === "methods" ? 405 : 200;
    assert.ok((statuses.get(answeredWell) ?? 0) > requests / 400, `${name}: too few came through`);
  }
  assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), prototype);
  if (late > 0)
    process.stdout.write(`${late} were late on this machine, and answered when repeated\n`);
  assert.ok(late <= requests / 1_000, `${late} requests were late`);
  const faults = logged.filter((line) => JSON.parse(line).level > (late > 0 ? 40 : 30));
  assert.deepEqual(faults, [], "nothing was logged as a fault");
  for (const line of logged) {
    assert.ok(!line.includes(given.key) && !line.includes(given.revokedKey), "a key is in the log");
  }
  assert.equal((await house.get("/tokens/top")).status, 200, "it still works");
});

/** Requests that a busy machine could not answer in time: not for what they said, as a second try shows. */
let late = 0;

async function answered(request: OddRequest): Promise<readonly WireReply[]> {
  const isHead = request.bytes.startsWith("HEAD");
  let wire = await exchange(request);
  if (wire.startsWith("HTTP/1.1 503 ")) {
    late += 1;
    wire = await exchange(request);
  }
  const replies = parse(wire, isHead);
  const { least, most } = request.replies;
  assert.ok(
    replies.length >= least && replies.length <= most,
    `${replies.length} replies: ${wire.slice(0, 200)}`,
  );
  for (const reply of replies) judge(reply, request);
  return replies;
}

function judge(reply: WireReply, { bytes }: OddRequest): void {
  const { status, text, headers } = reply;
  assert.ok(status < 500, `${status} ${text}`);
  assert.doesNotMatch(text, /node_modules|\.ts:\d|select |postgres|ECONN|at Object/i);
  if (bytes.startsWith("HEAD") || status === 304) {
    assert.equal(text, "");
    return;
  }
  assert.equal(headers.get("content-type"), "application/json");
  const body = JSON.parse(text);
  if (status === 200) {
    judgeData(reply, bytes);
    return;
  }
  assert.equal(typeof body.error, "string");
  if (status === 405 || status === 429) {
    assert.deepEqual(Object.keys(body), ["error"]);
    if (status === 405) assert.equal(headers.get("allow"), "GET");
    return;
  }
  assert.ok(CODES.includes(body.code), text);
  const extra =
    body.code === "INVALID_PARAMETER"
      ? ["error", "code", "parameter", "allowed"]
      : ["error", "code"];
  assert.deepEqual(Object.keys(body), extra);
  if (status === 401) assert.equal(headers.get("www-authenticate"), "Bearer");
}

/** A 200 is data of an endpoint that the document has. */
function judgeData(reply: WireReply, bytes: string): void {
  const target = bytes.split(/ +/, 2)[1] ?? "";
  const { pathname } = new URL(target, "http://fuzz");
  const path = pathname.replace(/^\/v1/, "").replace(/^\/events\/[^/]+$/, "/events/{id}") || "/";
  assert.deepEqual(violations(document, path, reply), []);
}

function exchange({ bytes, replies }: OddRequest): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = "";
    socket.setEncoding("latin1").setTimeout(REPLY_WITHIN_MS, () => {
      socket.destroy(new Error(`no end of the reply: ${received.slice(0, 200)}`));
    });
    socket.on("data", (chunk) => {
      received += chunk;
    });
    // A server that hangs up on a flood has said what it had to say.
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
    );
    socket.on("close", () => resolve(received));
    // Who hangs up at once need get no reply; a request that is cut short would wait for one.
    if (replies.least === 0) socket.end(bytes, "latin1");
    else socket.write(bytes, "latin1");
  });
}

/** Replies one after the other, as `Content-Length` and chunks divide them. */
function parse(wire: string, isHead: boolean): WireReply[] {
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
    const { text, length } = isHead
      ? { text: "", length: 0 }
      : bodyIn(rest.slice(end + 4), headers);
    replies.push({ status, headers, text });
    rest = rest.slice(end + 4 + length);
  }
  return replies;
}

function bodyIn(rest: string, headers: Headers): { text: string; length: number } {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length") ?? 0);
    assert.ok(rest.length >= length, "the reply is cut short");
    const bytes = Buffer.from(rest.slice(0, length), "latin1");
    // What a client asked to get compressed says the same as what it did not.
    const isPlain = !headers.has("content-encoding");
    return { text: isPlain ? bytes.toString() : "", length };
  }
  let [text, at] = ["", 0];
  for (;;) {
    const line = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.slice(at, line), 16);
    if (size === 0) return { text: Buffer.from(text, "latin1").toString(), length: line + 4 };
    text += rest.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

test.run();
