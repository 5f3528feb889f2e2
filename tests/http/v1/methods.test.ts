/** "Only GET is accepted": every method there is, on a real socket, on every kind of path. */
import * as assert from "node:assert/strict";
import { METHODS } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "uvu";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { unknownMethodRequest } from "../../../src/http/unknown-method.ts";
import { createHouse, from, type House, openHouse } from "./house.ts";

let house: House;
let server: HttpServer;
test.before(async () => {
  house = await openHouse();
  server = await serveHttp(house.app, { host: "127.0.0.1", port: 0 });
});
test.after(async () => {
  await server.close(1_000);
  await house.close();
});

/** Sends bytes as they are and reads until the server hangs up. */
async function raw(request: string, to: HttpServer = server): Promise<string> {
  const { hostname, port } = new URL(to.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  return await text(socket);
}

const ask = (line: string) => raw(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

test("405 with `Allow: GET` for every method that Node knows, and for words that it does not", async () => {
  // SOURCE and QUERY are known to some versions of the parser only, RECORD to it as RTSP's, PRI as HTTP/2's.
  const words = ["FOO", "get", "Get", "QUERY", "RECORD", "PRI", "GET_PARAMETER", "BREW", "X-Y_Z"];
  const methods = new Set([...METHODS, ...words]);
  methods.delete("GET");
  for (const method of methods) {
    for (const path of ["/v1", "/v1/", "/v1/events?x=1", "/v1/none/such", "/v1/openapi.json"]) {
      const reply = await ask(`${method} ${path}`);
      assert.match(reply, /^HTTP\/1\.1 405 /, `${method} ${path}: ${reply.slice(0, 200)}`);
      assert.match(reply, /\r\nallow: GET\r\n/i, method);
      if (method !== "HEAD") assert.match(reply, /\{"error":"[^"]+"\}$/, method);
    }
  }
});

test("405 for a word that Node does not know before a target in absolute form", async () => {
  for (const word of ["FOO", "RECORD", "PRI"])
    for (const target of ["http://x/v1/events", "HTTPS://[::1]:8/v1?x=1"])
      assert.match(
        await ask(`${word} ${target}`),
        /^HTTP\/1\.1 405 .*\r\nallow: GET\r\n/is,
        target,
      );
});

test("headers that ask to override the method change nothing", async () => {
  const reply = await raw(
    "GET /v1/tokens/top HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: DELETE\r\nConnection: close\r\n\r\n",
  );
  assert.match(reply, /^HTTP\/1\.1 401 /);
});

test("every request counts for the rate limit, of any method, and 429 comes before 405", async () => {
  const limited = createHouse({ sql: house.sql, clock: house.clock, rateLimit: 4 });
  const replies: unknown[] = [];
  for (const method of ["POST", "GET", "HEAD", "OPTIONS", "DELETE"]) {
    const reply = await limited.request("/v1/events", { method }, from("192.0.2.1"));
    replies.push([reply.status, /r=(\d+)/.exec(reply.headers.get("ratelimit") ?? "")?.[1]]);
  }
  const counts = [405, 401, 405, 405].map((status, index) => [status, String(3 - index)]);
  assert.deepEqual(replies, [...counts, [429, "0"]]);
});

test("words that Node does not know count as any method, and their replies say how the limit stands", async () => {
  const given = { sql: house.sql, clock: house.clock, trustedProxies: ["127.0.0.1"] };
  const app = createHouse({ ...given, rateLimit: 2 });
  const limited = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const client = "X-Forwarded-For: 192.0.2.7\r\n";
  const replies = [];
  for (const line of ["FOO /v1/events", "CONNECT /v1/events", "get /v1"]) {
    replies.push(await raw(`${line} HTTP/1.1\r\nHost: x\r\n${client}\r\n`, limited));
  }
  await limited.close(1_000);
  assert.deepEqual(
    replies.map((reply) => [/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1], /"ip";r=(\d+)/.exec(reply)?.[1]]),
    [
      ["405", "1"],
      ["405", "0"],
      ["429", "0"],
    ],
  );
  assert.match(replies[2] ?? "", /\r\nretry-after: [1-9]/i);
  const others = await app.request("/v1/events", {}, from("192.0.2.8"));
  assert.equal(others.status, 401);
});

test("a word that Node does not know is answered the same after other requests in one packet", async () => {
  const known = "GET /v1/none HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const word of ["FOO", "GETS", "get", "RECORD"]) {
    const reply = await raw(`${known}${known}${word} /v1/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    const statuses = [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["404", "404", "405"], word);
    assert.match(reply, /\r\nallow: GET\r\n.*\{"error":"[^"]+"\}$/is, word);
  }
});

test("a word that Node does not know is answered the same after a body with spaces in one packet", async () => {
  const body = '{"a": 1, "b": [2, 3]}';
  const post = `POST /v1/none HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const word of ["FOO", "get", "RECORD", "PRI"]) {
    const reply = await raw(`${post}${word} /v1/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    const statuses = [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["405", "405"], word);
  }
  // Here the version alone is wrong.
  assert.match(await raw(`${post}GET /v1/events HTTP:1.1\r\n\r\n`), /HTTP\/1\.1 400 /);
});

test("unannounced bytes after a GET are a bad request, not another method", async () => {
  const reply = await raw('GET /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n{"a":1}');
  assert.match(reply, /HTTP\/1\.1 400 .*"code":"INVALID_REQUEST"/s);
});

test("what looks like a method only with the end of a body, or of another packet, is a bad request", async () => {
  const post = (body: string) =>
    `POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const rest of [
    `${post("FOO /v1/events ")}{"a":1}\r\n\r\n`,
    `${post("FOO /v1/events ")}BAR /none HTTP/1.1\r\nHost: x\r\n\r\n`,
    `${post("abc")}GET /v1/events FTP/1.1\r\nHost: x\r\n\r\n`,
  ]) {
    const reply = await raw(rest);
    const statuses = [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["405", "400"], rest);
  }
  const error = { code: "HPE_INVALID_CONSTANT", message: "", name: "" };
  // `GET /v1/x` came before, in a packet of its own.
  const rawPacket = Buffer.from("y /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.equal(unknownMethodRequest({ ...error, rawPacket, bytesParsed: 2 }), undefined);
});

test.run();
