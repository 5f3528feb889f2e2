/**
 * Goal: the fast path of the data endpoints changes nothing but the time it takes. Method: two
 * servers over the same database, of which one has no fast path, are asked the same; replies,
 * lines of the log and metrics are held against each other. That the fast path was taken at all
 * is seen by the app, which then gets no such request.
 */
import * as assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { test } from "uvu";
import { readyAnswers } from "../../../src/http/fast-path/ready-answers.ts";
import { PlainRequest } from "../../../src/http/fast-path/request-like.ts";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { issueKey, revokeKey } from "../../../src/keys/api-keys.ts";
import { silentLogger } from "../../../src/log.ts";
import { closeRedis, openRedis, type Redis } from "../../../src/store/redis.ts";
import { type TestRedis, testRedis } from "../../support/redis.ts";
import { createServed, fakeClock, giveStars, type House, NOW, openHouse } from "./house.ts";

const LIMIT = 1_000;
type Line = Readonly<Record<string, unknown>>;

interface Side {
  readonly server: HttpServer;
  readonly lines: Line[];
  /** Requests that reached the app. */
  readonly heard: string[];
}

let home: House;
let redisServer: TestRedis;
let redis: Redis;
let sides: readonly [fast: Side, slow: Side];
let key = "";
let revoked = "";

test.before(async () => {
  home = await openHouse();
  redisServer = await testRedis();
  redis = openRedis(redisServer.url, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  ({ key } = home);
  const { sql } = home;
  await sql`insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || n, 'T' || n, 'Tökén ' || n, 0, 0 from generate_series(1, 40) n`;
  await sql`insert into event (id, title, event_type, starts_at, ends_at, created_at, approved_at)
    values ('soon', 'Soon', 'OTHER', ${NOW + 60_000}, ${NOW + 120_000}, 0, 0)`;
  const gone = await issueKey(sql, "gone");
  await revokeKey(sql, gone.id);
  revoked = gone.key;
  // Keys are looked up beside the count where Redis says there is room, else after it.
  sides = [await open(true, { redis }), await open(false, {})];
});
test.after(async () => {
  for (const { server } of sides) await server.close(1_000);
  await closeRedis(redis);
  await redisServer.close();
  await home.close();
});

async function open(
  isFast: boolean,
  given: { readonly limit?: number; readonly redis?: Redis },
): Promise<Side> {
  const lines: Line[] = [];
  const heard: string[] = [];
  const log = pino(
    { level: "info" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const { app, fastPath } = createServed({
    sql: home.sql,
    clock: home.clock,
    log,
    rateLimit: given.limit ?? LIMIT,
    redis: given.redis,
  });
  const { fetch } = app;
  app.fetch = (...given) => {
    heard.push(given[0].url);
    return fetch(...given);
  };
  const at = { host: "127.0.0.1", port: 0 };
  const server = await serveHttp(app, isFast ? { ...at, fastPath } : at);
  return { server, lines, heard };
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

interface Ask {
  readonly path: string;
  readonly method?: string;
  /** Names and values, alternating; the key by default. */
  readonly headers?: readonly string[];
}

function ask({ server }: Side, { path, method = "GET", headers = withKey() }: Ask): Promise<Reply> {
  const { hostname, port, host } = new URL(server.url);
  const hosts = headers.includes("Host") ? [] : ["Host", host];
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: [...hosts, ...headers] },
      (reply) =>
        text(reply.setEncoding("latin1")).then((body) => {
          const named = { ...reply.headers };
          for (const own of ["date", "x-request-id"]) delete named[own];
          resolve({ status: reply.statusCode, headers: named, body });
        }, reject),
    );
    sent.on("error", reject).end();
  });
}

const withKey = (): string[] => ["Authorization", `Bearer ${key}`];

/** Both sides' replies to a request that the app has answered before, so that its body is kept. */
async function both(asked: Ask): Promise<{ replies: readonly Reply[]; wasFast: boolean }> {
  const [fast, slow] = sides;
  await Promise.all(sides.map((side) => ask(side, { path: asked.path })));
  const ahead = fast.heard.length - slow.heard.length;
  const replies = [await ask(fast, asked), await ask(slow, asked)];
  return { replies, wasFast: fast.heard.length - slow.heard.length < ahead };
}

const FAST: Record<string, () => Ask> = {
  "a list": () => ({ path: "/v1/tokens/top" }),
  another: () => ({ path: "/v1/events" }),
  "a list with a query": () => ({ path: "/v1/tokens/top?limit=3" }),
  compressed: () => ({
    path: "/v1/tokens/top",
    headers: [...withKey(), "Accept-Encoding", "br, gzip;q=0.5"],
  }),
  "compressed, and too small for it": () => ({
    path: "/v1/tokens/top?limit=1",
    headers: [...withKey(), "Accept-Encoding", "gzip"],
  }),
  "not modified": () => ({
    path: "/v1/leaderboard",
    headers: [...withKey(), "If-None-Match", "*"],
  }),
  modified: () => ({
    path: "/v1/leaderboard",
    headers: [...withKey(), "if-none-match", '"other"'],
  }),
  "a scheme in other letters": () => ({
    path: "/v1/ecosystem",
    headers: ["authorization", `bEARER   ${key}  `],
  }),
  "a name given by a proxy": () => ({
    path: "/v1/ecosystem",
    headers: [...withKey(), "X-Request-Id", "given-1", "X-Forwarded-For", "192.0.2.9"],
  }),
};

const SLOW: Record<string, () => Ask> = {
  "no key": () => ({ path: "/v1/tokens/top", headers: [] }),
  "a malformed key": () => ({ path: "/v1/tokens/top", headers: ["Authorization", "Bearer x"] }),
  "a revoked key": () => ({
    path: "/v1/tokens/top",
    headers: ["Authorization", `Bearer ${revoked}`],
  }),
  "a key of another scheme": () => ({
    path: "/v1/events",
    headers: ["Authorization", "Basic eA=="],
  }),
  "two headers with keys": () => ({ path: "/v1/events", headers: [...withKey(), ...withKey()] }),
  "two names": () => ({
    path: "/v1/events",
    headers: [...withKey(), "X-Request-Id", "a", "X-Request-Id", "b"],
  }),
  "two tags in two headers": () => ({
    path: "/v1/tokens/top",
    headers: [...withKey(), "If-None-Match", '"a"', "If-None-Match", "*"],
  }),
  "the key in the query": () => ({ path: `/v1/events?api_key=${key}`, headers: [] }),
  "a bad parameter": () => ({ path: "/v1/tokens/top?limit=101" }),
  "an odd way to write a good one": () => ({ path: "/v1/tokens/top?%6Cimit=5" }),
  "a path with a slash too many": () => ({ path: "/v1/tokens/top/" }),
  "a path that is normalised": () => ({ path: "/v1/x/../tokens/top" }),
  "a record": () => ({ path: "/v1/events/soon" }),
  "a host that is none": () => ({ path: "/v1/events", headers: ["Host", "a b", ...withKey()] }),
  "a host in capitals": () => ({
    path: "/v1/events",
    headers: ["Host", "API.example.org", ...withKey()],
  }),
  HEAD: () => ({ path: "/v1/events", method: "HEAD" }),
  OPTIONS: () => ({ path: "/v1/events", method: "OPTIONS" }),
  POST: () => ({ path: "/v1/events", method: "POST" }),
  "the directory": () => ({ path: "/v1", headers: [] }),
};

for (const [isFast, cases] of [
  [true, FAST],
  [false, SLOW],
] as const) {
  for (const [name, asked] of Object.entries(cases)) {
    test(`${name}: the same reply, and ${isFast ? "the fast path" : "the app's"}`, async () => {
      const { replies, wasFast } = await both(asked());
      const [fast, slow] = replies;
      assert.deepEqual(fast, slow);
      assert.equal(wasFast, isFast);
      assert.match(String(fast?.headers.ratelimit ?? "none"), /^"ip";r=\d+;t=\d+$|^none$/);
    });
  }
}

test("the same lines and the same metrics", async () => {
  const facts = ({ method, path, status, keyId, msg, level }: Line) => [
    method,
    path,
    status,
    keyId,
    msg,
    level,
  ];
  const [fast, slow] = sides;
  assert.deepEqual(fast.lines.map(facts), slow.lines.map(facts));
  assert.ok(
    fast.lines.every(({ requestId, ms }) => typeof requestId === "string" && Number(ms) >= 0),
  );
  assert.ok(fast.lines.some(({ requestId, status }) => requestId === "given-1" && status === 200));
});

test("each request counts once, on either path", async () => {
  const side = await open(true, { limit: 5 });
  const remaining: unknown[] = [];
  const statuses: unknown[] = [];
  for (const headers of [
    withKey(),
    withKey(),
    [],
    ["Authorization", `Bearer ${revoked}`],
    withKey(),
    withKey(),
  ]) {
    const reply = await ask(side, { path: "/v1/tokens/top", headers });
    remaining.push(String(reply.headers.ratelimit).replace(/;t=.*/, ""));
    statuses.push(reply.status);
  }
  await side.server.close(1_000);
  assert.deepEqual(statuses, [200, 200, 401, 401, 200, 429]);
  assert.deepEqual(
    remaining,
    [4, 3, 2, 1, 0, 0].map((rest) => `"ip";r=${rest}`),
  );
});

test("a client that hangs up before it is counted still counts", async () => {
  const { app, fastPath } = createServed({ sql: home.sql, clock: home.clock, rateLimit: 5 });
  const socket = { remoteAddress: "192.0.2.5" as string | undefined };
  const path = "/v1/tokens/top";
  const remaining = async () => {
    const headers = { Authorization: `Bearer ${key}` };
    const reply = await app.request(path, { headers }, { incoming: { socket } });
    return /r=(\d+)/.exec(reply.headers.get("RateLimit") ?? "")?.[1];
  };
  assert.equal(await remaining(), "4");
  await new Promise<void>((resolve) => {
    const incoming = { method: "GET", url: path, socket, rawHeaders: ["Host", "x", ...withKey()] };
    const outgoing = { writeHead: () => outgoing, end: resolve };
    fastPath(incoming as never, outgoing as never, () => assert.fail());
    // Node forgets the address of a connection that is gone.
    socket.remoteAddress = undefined;
  });
  socket.remoteAddress = "192.0.2.5";
  assert.equal(await remaining(), "2");
});

test("a slow look-up of some keys does not delay the look-up of others", async () => {
  const looked: string[] = [];
  const find = readyAnswers({
    queries: { find: () => ({}) },
    verifyKey: (key: string) => {
      looked.push(key);
      return new Promise<never>(() => undefined);
    },
    limit: {
      client: (request: PlainRequest) => request.header("x-request-id"),
      hasRoom: (client: string) => client === "far",
      take: async () => ({ accepted: true }),
    },
  } as never);
  for (const name of ["far", "near"]) {
    const rawHeaders = ["Host", "x", "X-Request-Id", name, "Authorization", `Bearer ${name}`];
    const asked = PlainRequest.of({ method: "GET", url: "/", rawHeaders } as never);
    void find(asked as PlainRequest);
  }
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(looked, ["far", "near"]);
});

test("a star is in the next reply", async () => {
  const [fast] = sides;
  const path = "/v1/tokens/top?limit=1";
  for (let weight = 1; weight < 6; weight++) {
    await giveStars(home.sql, { type: "token", id: "0.0.7", at: home.clock.now(), weight: 1 });
    const { body } = await ask(fast, { path });
    assert.equal(JSON.parse(body).tokens[0].totalVotes, weight);
  }
});

test("a key that is revoked is refused at once", async () => {
  const [fast] = sides;
  const issued = await issueKey(home.sql, "soon gone");
  const asked = { path: "/v1/tokens/top", headers: ["Authorization", `Bearer ${issued.key}`] };
  assert.equal((await ask(fast, asked)).status, 200);
  await revokeKey(home.sql, issued.id);
  assert.equal((await ask(fast, asked)).status, 401);
});

test("many requests at once each get their own answer", async () => {
  const [fast] = sides;
  const statuses = await Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      const own = [
        withKey(),
        [],
        ["Authorization", `Bearer ${revoked}`],
        ["Authorization", "Bearer x"],
      ];
      return ask(fast, { path: "/v1/tokens/top", headers: own[n % 4] ?? [] });
    }),
  );
  assert.deepEqual(
    statuses.map(({ status, body }) => [status, JSON.parse(body).code]),
    Array.from(
      { length: 60 },
      (_, n) =>
        [
          [200, undefined],
          [401, "MISSING_API_KEY"],
          [401, "REVOKED_API_KEY"],
          [401, "INVALID_API_KEY"],
        ][n % 4],
    ),
  );
});

test("while the database is away no key is served, and a malformed key is still refused as malformed", async () => {
  const clock = fakeClock();
  const away = await openHouse();
  const { app, fastPath } = createServed({ sql: away.sql, clock });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0, fastPath });
  const side = { server, lines: [], heard: [] };
  const good = { path: "/v1/tokens/top", headers: ["Authorization", `Bearer ${away.key}`] };
  assert.equal((await ask(side, good)).status, 200);
  assert.equal((await ask(side, good)).status, 200);
  await away.close();
  const bad = { path: "/v1/tokens/top", headers: ["Authorization", "Bearer x"] };
  const replies = await Promise.all([good, bad, good].map((asked) => ask(side, asked)));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [503, 401, 503],
  );
  await server.close(1_000);
});

test.run();
