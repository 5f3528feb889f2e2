/** The server under the app: what Node's parser refuses, slow senders, draining. */
import * as assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent, get, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { Hono } from "hono";
import { test } from "uvu";
import { z } from "zod";
import { createApp, refuseOtherMethods } from "../../src/http/app.ts";
import { readJson } from "../../src/http/middleware/read-json.ts";
import { type HttpServer, serveHttp } from "../../src/http/serve.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { until } from "../support/processes.ts";
import { SLACK_MS } from "../support/slack.ts";

const ANYWHERE = { host: "127.0.0.1", port: 0 };

/** Requests to /slow wait until the test lets them go. */
function build() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const part = new Hono()
    .get("/fast", (c) => c.text("fast"))
    .get("/slow", async (c) => {
      entered();
      await released;
      return c.text("slow");
    })
    .post("/json", async (c) => c.json(await readJson(c, z.strictObject({}))));
  const mounts = [{ path: "/", app: part }];
  const app = createApp({ log: silentLogger, metrics: createMetrics(), mounts });
  return { app, release, arrived };
}

let server: HttpServer;
test.before(async () => {
  server = await serveHttp(build().app, ANYWHERE);
});
test.after(() => server.close(1_000));

function open(to: HttpServer = server): Socket {
  const { hostname, port } = new URL(to.url);
  // The server may hang up while we are still writing.
  return connect(Number(port), hostname).on("error", () => undefined);
}

async function raw(bytes: string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  return await text(socket);
}

function assertProblem(reply: string, status: number, code: string): void {
  assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `), reply.slice(0, 300));
  assert.match(reply, /\r\ncontent-type: application\/json/i);
  assert.match(
    reply,
    /\r\ncontent-security-policy: default-src 'none'; frame-ancestors 'none'\r\n/i,
  );
  assert.match(reply, /\r\nx-content-type-options: nosniff\r\n/i);
  assert.match(reply, /\r\ncache-control: no-store\r\n/i);
  const body = JSON.parse(reply.slice(reply.indexOf("\r\n\r\n") + 4));
  assert.deepEqual(Object.keys(body), ["error", "code"]);
  assert.equal(body.code, code);
}

test("the URL names the port that was really bound", async () => {
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  assert.equal(await (await fetch(`${server.url}/fast`)).text(), "fast");
});

test("400 INVALID_REQUEST in JSON for what is no HTTP request", async () => {
  for (const bytes of [
    "nonsense\r\n\r\n",
    "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "GET /fast HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n",
    "GET /fast HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
    "FOO /fast HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "\u0000\u0001\u0002\r\n\r\n",
  ]) {
    assertProblem(await raw(bytes), 400, "INVALID_REQUEST");
  }
});

test("405 with `Allow` of the path under /voting for a method word that Node does not know", async () => {
  const voting = new Hono().get("/stars", (c) => c.text("stars"));
  voting.use(async (_, next) => {
    // What follows while the reply is made is no second error.
    socket.write("some body");
    await pause(100);
    await next();
  });
  refuseOtherMethods(voting);
  const mounts = [{ path: "/voting", app: voting }];
  const app = createApp({ log: silentLogger, metrics: createMetrics(), mounts });
  const own = await serveHttp(app, ANYWHERE);
  const socket = open(own);
  socket.write("FOO /voting/stars HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  const reply = await text(socket);
  await own.close(1_000);
  assertProblem(reply, 405, "METHOD_NOT_ALLOWED");
  assert.match(reply, /\r\nallow: GET, HEAD\r\n/i);
});

test("400 INVALID_REQUEST for no host, two hosts, and a host that is none", async () => {
  for (const hosts of [
    "",
    "Host: a\r\nHost: b\r\n",
    "Host: a\r\nhost: a\r\n",
    `Host: a\r\n${"x:y\r\n".repeat(2_000)}Host: b\r\n`,
    "Host: a b\r\n",
    "Host: a/b\r\n",
  ]) {
    const reply = await raw(`GET /fast HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
    assertProblem(reply, 400, "INVALID_REQUEST");
  }
});

test("400 INVALID_REQUEST for a target of more escapes than any address has", async () => {
  const ask = (target: string) =>
    raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  for (const one of ["%41", "%ff/", "%"]) {
    assert.match(await ask(`/fast?q=${one.repeat(1_024)}`), /^HTTP\/1\.1 200 /);
    assert.match(await ask(`/none/${one.repeat(1_024)}`), /^HTTP\/1\.1 404 /);
    assertProblem(await ask(`/fast?q=${one.repeat(1_025)}`), 400, "INVALID_REQUEST");
    assertProblem(await ask(`/none/${one.repeat(1_025)}`), 400, "INVALID_REQUEST");
  }
});

test("HTTP/1.0 needs no host, and has one at most", async () => {
  assert.match(await raw("GET /fast HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 200 .*\r\n\r\nfast$/s);
  const two = await raw("GET /fast HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n");
  assertProblem(two, 400, "INVALID_REQUEST");
});

test("431 HEADERS_TOO_LARGE for headers above 16 KiB", async () => {
  const reply = await raw(`GET /fast HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17_000)}\r\n\r\n`);
  assertProblem(reply, 431, "HEADERS_TOO_LARGE");
});

test("every header that fits counts, also one that a proxy adds at the end", async () => {
  const many = "x:y\r\n".repeat(2_000);
  const reply = await raw(
    `GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${many}X-Request-Id: last\r\n\r\n`,
  );
  assert.match(reply, /\r\nx-request-id: last\r\n/i);
});

test("a target in absolute form is served by its path", async () => {
  const reply = await raw(
    "GET http://elsewhere/fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );
  assert.match(reply, /^HTTP\/1\.1 200 /);
});

test("pipelined requests are answered in order", async () => {
  const one = "GET /fast HTTP/1.1\r\nHost: x\r\n\r\n";
  const last = "GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const reply = await raw(one + one + last);
  assert.deepEqual(
    [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ["200", "200", "404"],
  );
});

test("replies of a pipeline that wait for their turn end with the connection", async () => {
  const { app, release, arrived } = build();
  const left: string[] = [];
  let asked = 0;
  app.get("/stream/:name", (c) => {
    asked += 1;
    return c.body(
      new ReadableStream({
        pull: (to) => to.enqueue(Buffer.alloc(64 * 1024)),
        cancel: () => void left.push(c.req.param("name")),
      }),
    );
  });
  const own = await serveHttp(app, ANYWHERE);
  const socket = open(own);
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const name of ["one", "two"])
    socket.write(`GET /stream/${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await arrived;
  await until("both streams are asked for", async () => asked === 2);
  socket.destroy();
  await until("both streams are left", async () => left.length === 2);
  release();
  await own.close(1_000);
});

test("a connection on which very many replies wait is closed, and what came with them is not asked", async () => {
  const { app, arrived } = build();
  let asked = 0;
  app.get("/counted", (c) => {
    asked += 1;
    return c.text("counted");
  });
  const own = await serveHttp(app, ANYWHERE);
  const socket = open(own);
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  await arrived;
  socket.write("GET /counted HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000));
  socket.resume();
  await until("the server has hung up", async () => socket.closed);
  assert.equal(asked, 128);
  await own.close(1_000);
});

test("replies that had their turn wait no more, however many there were on one connection", async () => {
  const socket = open();
  let reply = "";
  socket.on("data", (piece) => {
    reply += piece;
  });
  for (const sent of [100, 200]) {
    socket.write("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100));
    await until("all are answered", async () => reply.split("fast").length === sent + 1);
  }
  socket.destroy();
});

test("what is refused on a connection comes after the replies to what was asked before it", async () => {
  for (const [refused, status] of [
    ["garbage", "400"],
    [
      "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nno length",
      "400",
    ],
    ["CONNECT /voting/x HTTP/1.1\r\nHost: x\r\n\r\n", "404"],
  ] as const) {
    const { app, release, arrived } = build();
    const own = await serveHttp(app, ANYWHERE);
    const socket = open(own);
    // In one packet: the parser is at the second before the first is answered.
    socket.write(`GET /slow HTTP/1.1\r\nHost: x\r\n\r\n${refused}`);
    await arrived;
    socket.write("more garbage");
    release();
    const reply = await text(socket);
    await own.close(1_000);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 200 .*\r\n\r\nslowHTTP/1\\.1 ${status} .*}$`, "s"));
  }
});

test("bytes that break a request's body off break its reply off where that is on its way", async () => {
  const part = new Hono().post("/stream", (c) =>
    c.body(new ReadableStream({ start: (to) => to.enqueue(Buffer.from("piece")) })),
  );
  const mounts = [{ path: "/", app: part }];
  const own = await serveHttp(
    createApp({ log: silentLogger, metrics: createMetrics(), mounts }),
    ANYWHERE,
  );
  const socket = open(own);
  socket.write("POST /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.once("data", () => socket.write("no length\r\n"));
  const reply = await text(socket);
  await own.close(1_000);
  assert.match(reply, /^HTTP\/1\.1 200 .*piece\r\n$/s);
});

test("413: an endless chunked body is cut off, after little of it was taken", async () => {
  const socket = open();
  const answer = text(socket);
  socket.write(
    "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  const chunk = `10000\r\n${"a".repeat(0x10000)}\r\n`;
  const pump = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", pump);
  pump();
  const started = performance.now();
  const reply = await answer.catch(() => "");
  assert.ok(performance.now() - started < SLACK_MS);
  if (reply !== "") assertProblem(reply, 413, "PAYLOAD_TOO_LARGE");
  assert.ok(socket.bytesWritten < 64 * 1024 * 1024, String(socket.bytesWritten));
});

test("413: a body that announces too much is refused before it is read", async () => {
  const reply = await raw(
    "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
  );
  assertProblem(reply, 413, "PAYLOAD_TOO_LARGE");
  // The body would be read as the next request.
  assert.match(reply, /\r\nconnection: close\r\n/i);
});

test("408 REQUEST_TIMEOUT: headers that dribble in are cut off after 5 s", async () => {
  const socket = open();
  const started = performance.now();
  socket.write("GET /fast HTTP/1.1\r\nHost: x\r\nX: ");
  const dribble = setInterval(() => socket.write("a"), 500);
  const reply = await text(socket);
  clearInterval(dribble);
  const seconds = (performance.now() - started) / 1_000;
  assert.ok(seconds > 4 && seconds < 5 + SLACK_MS / 1_000, `${seconds} s`);
  assertProblem(reply, 408, "REQUEST_TIMEOUT");
});

test("408 REQUEST_TIMEOUT: a body that dribbles in is cut off after 10 s", async () => {
  const socket = open();
  socket.write(
    "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n",
  );
  const dribble = setInterval(() => socket.write(" "), 500);
  const patience = setTimeout(() => socket.destroy(), 30_000);
  const reply = await text(socket);
  clearInterval(dribble);
  clearTimeout(patience);
  assertProblem(reply, 408, "REQUEST_TIMEOUT");
});

test("a client that takes nothing of its reply is cut off; one whose reply is still being made is not", async () => {
  const { app, release, arrived } = build();
  let isCut: Promise<string> | undefined;
  app.get("/large", (c) => {
    const { outgoing } = c.env as { outgoing: ServerResponse };
    isCut = new Promise((resolve) => outgoing.once("close", () => resolve("cut")));
    return c.body(new Uint8Array(64 * 1024 * 1024));
  });
  const own = await serveHttp(app, { ...ANYWHERE, unreadMs: 50 });
  const waiting = open(own);
  waiting.write("GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await arrived;
  const silent = open(own).pause();
  silent.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  while (isCut === undefined) await pause(10);
  assert.equal(await Promise.race([isCut, pause(SLACK_MS, "held")]), "cut");
  release();
  assert.match(await text(waiting), /slow$/);
  silent.destroy();
  await own.close(0);
});

test("a server holds so many connections and no more (A20 overload)", async () => {
  // Node reports which server a request came to; to open some 8,000 sockets would take seconds of CPU.
  let bound: number | undefined;
  const look = (message: unknown): void => {
    bound = (message as { readonly server: Server }).server.maxConnections;
  };
  subscribe("http.server.request.start", look);
  await fetch(`${server.url}/fast`);
  unsubscribe("http.server.request.start", look);
  assert.equal(bound, 8_192);
});

test("draining: what is in flight is answered, with Connection: close, and nothing new is taken", async () => {
  const { app, release, arrived } = build();
  const own = await serveHttp(app, ANYWHERE);
  const agent = new Agent({ keepAlive: true });
  const ask = (path: string) =>
    new Promise<{ body: string; connection: string | undefined }>((resolve, reject) => {
      get(`${own.url}${path}`, { agent }, (response) => {
        const { connection } = response.headers;
        text(response).then((body) => resolve({ body, connection }), reject);
      }).on("error", reject);
    });
  assert.equal((await ask("/fast")).body, "fast");
  const slow = ask("/slow");
  await arrived;
  const closing = own.close(60_000);
  await assert.rejects(fetch(`${own.url}/fast`));
  release();
  assert.equal((await slow).body, "slow");
  const started = performance.now();
  await closing;
  assert.ok(performance.now() - started < SLACK_MS, "idle connections do not hold it up");
  agent.destroy();
});

test("draining: a request on a connection that waits to be accepted is answered", async () => {
  const own = await serveHttp(build().app, ANYWHERE);
  const sockets = Array.from({ length: 20 }, () => open(own));
  const replies = sockets.map((socket) => text(socket).catch(String));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets) socket.write("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n");
  await own.acceptWaiting();
  await own.close(5_000);
  for (const reply of await Promise.all(replies)) {
    assert.match(reply, /^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*fast$/i);
  }
});

test("draining: a request that comes on an open connection is answered, and the connection closed", async () => {
  const { app, release, arrived } = build();
  const own = await serveHttp(app, ANYWHERE);
  const socket = open(own);
  const answer = text(socket);
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  await arrived;
  const closing = own.close(5_000);
  socket.write("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n");
  release();
  const reply = await answer;
  assert.match(reply, /slow/);
  await closing;
});

test("draining: what does not finish within the grace is cut", async () => {
  const { app, arrived } = build();
  const own = await serveHttp(app, ANYWHERE);
  const socket = open(own);
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  await arrived;
  const started = performance.now();
  await own.close(200);
  const waited = performance.now() - started;
  assert.ok(waited >= 190 && waited < 200 + SLACK_MS, `${waited} ms`);
});

test("a port that is taken is an error", async () => {
  const port = Number(new URL(server.url).port);
  await assert.rejects(serveHttp(build().app, { host: "127.0.0.1", port }), /EADDRINUSE/);
});

test("one address holds 256 sockets at most, and an address that is not counted any number", async () => {
  const bounded = await serveHttp(build().app, {
    ...ANYWHERE,
    socketAddress: (address) => (address === "127.0.0.1" ? "one" : undefined),
  });
  const connected = async (localAddress: string): Promise<Socket> => {
    const { hostname, port } = new URL(bounded.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress });
    await new Promise((resolve) => socket.on("error", resolve).once("connect", resolve));
    return socket;
  };
  const isClosed = (socket: Socket) =>
    new Promise((resolve) => {
      socket.once("close", () => resolve(true));
      socket.once("data", () => resolve(false));
      socket.write("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n");
    });
  const held = await Promise.all(Array.from({ length: 256 }, () => connected("127.0.0.1")));
  assert.equal(await isClosed(await connected("127.0.0.1")), true);
  const others = await Promise.all(Array.from({ length: 8 }, () => connected("127.0.0.2")));
  assert.deepEqual(await Promise.all(others.map(isClosed)), new Array(8).fill(false));
  const [first] = held;
  await new Promise((resolve) => first?.once("close", resolve).end());
  // The server notices the close a moment later.
  while ((await isClosed(await connected("127.0.0.1"))) === true);
  for (const socket of [...held, ...others]) socket.destroy();
  await bounded.close(0);
});

test("an unknown expectation is ignored, not answered without a body", async () => {
  const reply = await raw(
    "GET /fast HTTP/1.1\r\nHost: x\r\nExpect: banana\r\nConnection: close\r\n\r\n",
  );
  assert.match(reply, /^HTTP\/1\.1 200 [\s\S]*fast$/);
});

test("a client that resets its connection while an unknown method is answered ends nothing", async () => {
  const slow = new Hono().all("/v1/*", async (c) => {
    await pause(100);
    return c.text("", 405);
  });
  const slowServer = await serveHttp(slow, ANYWHERE);
  for (const word of ["CONNECT", "FOO"]) {
    const socket = open(slowServer);
    socket.write(`${word} /v1/x HTTP/1.1\r\nHost: a\r\n\r\n`);
    await pause(50);
    socket.resetAndDestroy();
    await pause(150);
  }
  assert.equal((await fetch(`${slowServer.url}/v1/x`)).status, 405);
  await slowServer.close(1_000);
});

test.run();
