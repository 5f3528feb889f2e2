/**
 * Goal: an operator's token cannot be guessed at any door or process, and a client that
 * has the right one is never shut out by using it. Method: real web processes on one Redis for the
 * doors; for the order of a burst, the judge by itself.
 */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { pino } from "pino";
import { suite } from "uvu";
import { operatorAccess } from "../../src/http/operator-access.ts";
import { addOperator, listOperators, revokeOperator } from "../../src/keys/operators.ts";
import { createMetrics } from "../../src/metrics.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { type Service, send, startService } from "../support/service.ts";
import { sendForm } from "./console/browser-session.ts";

const TOKEN = "operator-token-of-these-tests";
const METRICS_TOKEN = "metrics-token-of-these-tests";
const PROXY = { TRUSTED_PROXIES: "127.0.0.0/8" };

const test = suite<{ service: Service }>("operators' tokens");
test.before(async (context) => {
  context.service = await startService({ OPERATOR_TOKEN: TOKEN, METRICS_TOKEN, ...PROXY });
});
test.after((context) => context.service.close());

type Try = (service: Service, address: string, token: string) => Promise<number>;

const bearer =
  (path: string): Try =>
  async (service, address, token) => {
    const headers = { "x-forwarded-for": address };
    return (await send(service, `GET ${path}`, { token, headers })).status;
  };
const doors: Record<"metrics" | "api" | "sign-in", Try> = {
  metrics: bearer("/metrics"),
  api: bearer("/ops/api/publishing"),
  "sign-in": async (service, address, operatorToken) => {
    const fields = { operator: "Ada", operatorToken };
    const headers = { "x-forwarded-for": address };
    return (await sendForm(service, "/ops/sign-in", fields, headers)).status;
  },
};

test("ten wrong tokens over all doors shut every door to that client, for right ones too, and to no other", async ({
  service,
}) => {
  const [mine, other] = ["192.0.2.1", "192.0.2.2"];
  const order = [doors.metrics, doors.api, doors["sign-in"]];
  const statuses = [];
  for (let n = 0; n < 10; n += 1) {
    statuses.push(await order[n % 3]?.(service, mine, `a wrong token number ${n}`));
  }
  assert.deepEqual(statuses, new Array(10).fill(401));
  for (const [door, token] of [
    [doors.metrics, METRICS_TOKEN],
    [doors.api, TOKEN],
    [doors["sign-in"], TOKEN],
    [doors.api, "another wrong token"],
  ] as const) {
    assert.equal(await door(service, mine, token), 429);
  }
  assert.equal(await doors.metrics(service, other, METRICS_TOKEN), 200);
  assert.equal(await doors.api(service, other, TOKEN), 200);
  const refused = await send(service, "GET /ops/api/publishing", {
    token: TOKEN,
    headers: { "x-forwarded-for": mine },
  });
  assert.equal(refused.body.code, "RATE_LIMITED");
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
});

test("right tokens do not count, and neither does a request without a token", async ({
  service,
}) => {
  const mine = "192.0.2.3";
  for (let n = 0; n < 15; n += 1) {
    assert.equal(await doors.api(service, mine, TOKEN), 200);
    assert.equal(await doors["sign-in"](service, mine, TOKEN), 303);
    const headers = { "x-forwarded-for": mine };
    assert.equal((await send(service, "GET /metrics", { headers })).status, 401);
  }
  assert.equal(await doors.metrics(service, mine, METRICS_TOKEN), 200);
});

test("a tab in place of the space after Bearer brings no token, as with keys and sessions", async ({
  service,
}) => {
  for (const [authorization, status] of [
    [`bearer  ${TOKEN}`, 200],
    [`Bearer\t${TOKEN}`, 401],
  ] as const) {
    const headers = { "x-forwarded-for": "192.0.2.5", authorization };
    assert.equal((await send(service, "GET /ops/api/publishing", { headers })).status, status);
  }
});

test("METRICS_TOKEN reads metrics and nothing else; with one, the operator's does not read them", async ({
  service,
}) => {
  const mine = "192.0.2.4";
  assert.equal(await doors.metrics(service, mine, METRICS_TOKEN), 200);
  assert.equal(await doors.metrics(service, mine, TOKEN), 401);
  assert.equal(await doors.api(service, mine, METRICS_TOKEN), 401);
  assert.equal(await doors["sign-in"](service, mine, METRICS_TOKEN), 401);
  const { text } = await send(service, "GET /metrics", { token: TOKEN });
  assert.match(text, /"METRICS_TOKEN is needed here: /);
});

test("refusals are counted by door and reason", async ({ service }) => {
  const mine = "192.0.2.5";
  const read = async (reason: string): Promise<number> => {
    const { text } = await send(service, "GET /metrics", { token: METRICS_TOKEN });
    const line = new RegExp(
      `^starboard_operator_refused_total\\{door="api",reason="${reason}"\\} (\\d+)$`,
      "m",
    );
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const [wrong, shut] = [await read("wrong"), await read("shut")];
  for (let n = 0; n < 12; n += 1) await doors.api(service, mine, `guess ${n}`);
  assert.deepEqual([await read("wrong"), await read("shut")], [wrong + 10, shut + 2]);
});

test("a named operator's token opens the API until it is revoked, and is counted as wrong then", async ({
  service,
}) => {
  const mine = "192.0.2.6";
  const { token } = await addOperator(service.sql, { name: "Ada", role: "viewer" });
  assert.equal(await doors.api(service, mine, token), 200);
  assert.equal(await doors.metrics(service, mine, token), 401, "METRICS_TOKEN is set");
  const [used] = await listOperators(service.sql);
  assert.ok(used?.lastUsedAt);
  await revokeOperator(service.sql, "Ada");
  const statuses = [];
  for (let n = 0; n < 10; n += 1) statuses.push(await doors.api(service, mine, token));
  // The metrics above were one of the ten.
  assert.deepEqual(statuses, [...new Array(9).fill(401), 429]);
  const { token: good } = await addOperator(service.sql, { name: "Ada", role: "admin" });
  assert.equal(await doors.api(service, mine, good), 429, "unread while the client is shut out");
  const own = await startService({ OPERATOR_TOKEN: TOKEN });
  const { token: viewer } = await addOperator(own.sql, { name: "Grace", role: "viewer" });
  assert.equal((await send(own, "GET /metrics", { token: viewer })).status, 200);
  await own.close();
});

test("of names that differ in capitals alone one is added, also at the same time", async ({
  service,
}) => {
  const held = await reserveConnection(service.sql);
  await held`begin`;
  await addOperator(held, { name: "Zoë", role: "viewer" });
  let hasEnded = false;
  const second = addOperator(service.sql, { name: "ZOË", role: "viewer" })
    .then(() => "added", String)
    .finally(() => {
      hasEnded = true;
    });
  const waits = async () =>
    hasEnded || (await service.sql`select from pg_locks where not granted`).length > 0;
  await until("the second one waits", waits);
  await held`commit`;
  held.release();
  assert.match(await second, /there is an operator ZOË already, maybe in other capitals/);
});

/** A judge without Redis, on a clock of its own, and what it said in the log. */
function alone() {
  const lines: { client?: string }[] = [];
  const clock = { at: Date.UTC(2026, 10, 20), now: () => clock.at };
  const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text)) });
  const access = operatorAccess({
    operatorToken: TOKEN,
    findOperator: () => Promise.resolve(null),
    client: (c) => c.req.header("x-forwarded-for") ?? "one",
    clock,
    log,
    metrics: createMetrics(),
  });
  const app = new Hono().get("/", access.guard("api"), (c) => c.text("in"));
  const knock = async (token: string, client = "one") => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": client };
    return (await app.request("/", { headers })).status;
  };
  return { knock, clock, lines };
}

test("a burst reveals no more than ten attempts one after the other", async () => {
  const { knock } = alone();
  const guesses = Array.from({ length: 200 }, (_, n) => (n === 120 ? TOKEN : `guess ${n}`));
  const statuses = await Promise.all(guesses.map((guess) => knock(guess)));
  assert.equal(statuses.filter((status) => status === 401).length, 10);
  assert.equal(statuses[120], 429, "the right one among them is not looked at");
});

test("after 60 s a client may try again; as long as it goes on the log has one line of it", async () => {
  const { knock, clock, lines } = alone();
  for (let second = 0; second < 180; second += 1) {
    clock.at += 1_000;
    await knock("a wrong token");
  }
  assert.deepEqual(
    lines.map(({ client }) => client),
    ["one"],
  );
  clock.at += 60_000;
  assert.equal(await knock(TOKEN), 200);
  for (let n = 0; n < 11; n += 1) await knock("a wrong token", "two");
  assert.deepEqual(
    lines.map(({ client }) => client),
    ["one", "two"],
  );
});

test.run();
