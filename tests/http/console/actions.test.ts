/**
 * Goal: an action of the console leaves two lines in the operator log, shows on the next page how
 * it ended, and runs only for the session whose page sent the form. Method: the console with
 * a table of one page whose action fails on demand.
 */
import * as assert from "node:assert/strict";
import type { Hono } from "hono";
import { pino } from "pino";
import { suite } from "uvu";
import { TerminalError } from "../../../src/errors.ts";
import { createApp } from "../../../src/http/app.ts";
import { consoleRoutes } from "../../../src/http/console/app.ts";
import { html } from "../../../src/http/console/markup.ts";
import type { Page } from "../../../src/http/console/page.ts";
import type { ClientAddress } from "../../../src/http/middleware/client-address.ts";
import { operatorAccess } from "../../../src/http/operator-access.ts";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { closeRedis, openRedis, type Redis } from "../../../src/store/redis.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { type TestRedis, testRedis } from "../../support/redis.ts";
import type { Reply } from "../../support/service.ts";
import { sendForm, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";

interface Context {
  database: TestDatabase;
  redisServer: TestRedis;
  redis: Redis;
  sql: Sql;
  app: Hono;
  server: HttpServer;
  operator: Visitor;
  runs: string[];
  /** Of the log. */
  lines: { msg: string; err: { message: string } }[];
}

const EVIL = "<script>alert(1)</script>";
const test = suite<Context>("/ops actions");
let isBehind = false;

function paintPage(runs: string[]): Page {
  return {
    path: "/paint",
    nav: ["Watch", "Paint"],
    show: ({ formToken }) =>
      Promise.resolve({
        title: "Paint",
        body: html`<form method="post" action="/ops/paint/over"><input type="hidden" name="token" value="${formToken}"></form>`,
      }),
    actions: [
      {
        path: "/paint/over",
        role: "operator",
        subject(form) {
          const subject = form.get("colour") ?? "";
          if (subject === "") throw new TerminalError("INVALID_REQUEST", "colour is missing");
          return subject;
        },
        run({ form, session }) {
          const colour = form.get("colour") ?? "";
          runs.push(colour);
          if (colour === "dry") throw new TerminalError("NOT_FOUND", "there is no paint left");
          if (colour === "spilt") throw new Error("a secret of the house");
          return Promise.resolve({
            notice: `Painted ${colour} by ${session.operator}.`,
            goTo: "/paint",
            details: { colour },
          });
        },
      },
    ],
  };
}

test.before(async (context) => {
  const [database, redisServer] = [await testDatabase({ migrated: true }), await testRedis()];
  const sql = openPostgres(database.url, { connections: 3 });
  const redis = openRedis(redisServer.url, silentLogger);
  const runs: string[] = [];
  const lines: Context["lines"] = [];
  const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text)) });
  const clock = { now: () => Date.now() };
  const client: ClientAddress = (c) => c.req.header("x-forwarded-for") ?? "";
  const access = operatorAccess({
    operatorToken: TOKEN,
    findOperator: () => Promise.resolve(null),
    clock,
    redis,
    client,
    log: silentLogger,
    metrics: createMetrics(),
  });
  const routes = consoleRoutes(
    {
      operatorToken: TOKEN,
      publicUrl: "http://127.0.0.1",
      network: "local",
      sql,
      clock,
      log,
      guestRateLimit: 1_000,
      isBehind: () => isBehind,
      access,
      client,
    },
    [paintPage(runs)],
  );
  const mounts = [{ path: "/ops", app: routes }];
  const app = createApp({ log: silentLogger, metrics: createMetrics(), mounts });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const operator = await signInOperator(server, "Ada");
  Object.assign(context, { database, redisServer, sql, redis, app, server, operator, runs, lines });
});
test.before.each((context) => {
  context.runs.length = 0;
});
test.after(async ({ server, sql, redis, redisServer, database }) => {
  await server.close(100);
  await closeRedis(redis);
  await sql.end({ timeout: 1 });
  await Promise.all([redisServer.close(), database.close()]);
});

const phases = (sql: Sql) => sql`
  select phase, operator, subject, notice, details from operator_log
  where action = 'paint.over' order by id desc limit 2`;

/** The form's token comes from a page of this very session. */
async function tokenOf(operator: Visitor): Promise<string> {
  const { text } = await operator.get("/ops/paint");
  return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
}

test("an act has a log line before and after, with its operator, and is shown once on the next page", async ({
  operator,
  sql,
  runs,
}) => {
  const token = await tokenOf(operator);
  const reply = await operator.post("/ops/paint/over", { token, colour: EVIL });
  assert.equal(reply.status, 303);
  assert.deepEqual(runs, [EVIL]);
  const [last, first] = await phases(sql);
  assert.deepEqual(
    [first?.phase, first?.operator, first?.subject],
    ["started", "environment (Ada)", EVIL],
  );
  assert.deepEqual([last?.phase, last?.details], ["done", { colour: EVIL }]);
  const next = await operator.get(reply.headers.get("location") ?? "");
  assert.match(
    next.text,
    /role="status">Painted &lt;script&gt;alert\(1\)&lt;\/script&gt; by environment \(Ada\)\./,
  );
});

test("while the journal lacks stars of its topics, every page says what to do", async ({
  operator,
}) => {
  const said = /role="alert">The topics hold stars that this journal lacks[\s\S]*accept-loss/;
  assert.doesNotMatch((await operator.get("/ops/paint")).text, said);
  isBehind = true;
  assert.match((await operator.get("/ops/paint")).text, said);
  isBehind = false;
});

test("a notice is shown to its own session only", async ({ operator, server }) => {
  const token = await tokenOf(operator);
  const reply = await operator.post("/ops/paint/over", { token, colour: "blue" });
  const stranger = await signInOperator(server, "Eve");
  const seen = await stranger.get(reply.headers.get("location") ?? "");
  assert.equal(seen.status, 200);
  assert.doesNotMatch(seen.text, /Painted/);
  assert.equal((await operator.get("/ops/paint?done=x")).status, 200);
});

test("a failure is shown and logged in words for people", async ({ operator, sql, lines }) => {
  const token = await tokenOf(operator);
  const dry = await operator.post("/ops/paint/over", { token, colour: "dry" });
  assert.equal(dry.status, 404);
  assert.match(dry.text, /There is no paint left\./);
  assert.deepEqual(
    (await phases(sql)).map(({ phase, notice }) => [phase, notice]),
    [
      ["failed", "There is no paint left."],
      ["started", ""],
    ],
  );
  const spilt = await operator.post("/ops/paint/over", { token, colour: "spilt" });
  assert.equal(spilt.status, 500);
  assert.doesNotMatch(spilt.text, /secret/);
  assert.deepEqual(
    lines.map(({ msg, err }) => [msg, err.message]),
    [["console request failed", "a secret of the house"]],
  );
  assert.equal((await phases(sql))[0]?.notice, "Something went wrong on our side.");
});

test("an invalid form is refused before anything is written down", async ({
  operator,
  sql,
  runs,
}) => {
  const [before] = await sql`select count(*) as lines from operator_log`;
  const token = await tokenOf(operator);
  assert.equal((await operator.post("/ops/paint/over", { token })).status, 400);
  const nul = await operator.post("/ops/paint/over", { token, colour: "\u0000" });
  assert.equal(nul.status, 400);
  const big = await operator.post("/ops/paint/over", { token, colour: "x".repeat(200_000) });
  assert.equal(big.status, 413);
  const [after] = await sql`select count(*) as lines from operator_log`;
  assert.deepEqual([after, runs], [before, []]);
});

test("no other form runs: no session, another's token, another site", async ({
  operator,
  server,
  runs,
}) => {
  const token = await tokenOf(operator);
  const stranger = await signInOperator(server, "Eve");
  const fields = { token, colour: "red" };
  const from = (site: string, referer: string) =>
    operator.post("/ops/paint/over", fields, { origin: site, referer: `${site}${referer}` });
  const backOf = ({ text }: Reply) => /href="([^"]*)">Go back</.exec(text)?.[1];
  assert.equal(backOf(await from("https://evil.example", "/ops/paint")), "/ops/paint");
  assert.equal(backOf(await from("https://evil.example", "//evil.example/ops")), undefined);
  const attempts = [
    await sendForm(server, "/ops/paint/over", fields),
    await stranger.post("/ops/paint/over", fields),
    await operator.post("/ops/paint/over", fields, { origin: "https://evil.example" }),
    await operator.post("/ops/paint/over", fields, { "sec-fetch-site": "cross-site" }),
  ];
  assert.deepEqual(
    attempts.map(({ status }) => status),
    [401, 403, 403, 403],
  );
  assert.equal((await operator.get("/ops/paint/over")).status, 404);
  assert.deepEqual(runs, []);
});

test("a form that arrives when its session is over does nothing, though it began before", async ({
  app,
  sql,
  server,
  runs,
}) => {
  const leaver = await signInOperator(server, "Eve");
  const token = await tokenOf(leaver);
  // Asked for once the server reads the form.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await sql`delete from operator_session where operator = 'environment (Eve)'`;
        controller.enqueue(Buffer.from(String(new URLSearchParams({ token, colour: "red" }))));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const { status } = await app.request("/ops/paint/over", {
    method: "POST",
    headers: {
      cookie: leaver.cookie,
      origin: "http://127.0.0.1",
      "content-type": "application/x-www-form-urlencoded",
    },
    body,
    duplex: "half",
  });
  assert.deepEqual([status, runs], [401, []]);
});

test.run();
