/**
 * Goal: the console opens for the operator token and for nothing else, and its sessions hold as
 * long as they should, in every process. Method: real web processes, forms sent as a browser
 * sends them.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { CONSOLE_POLICY } from "../../../src/http/console/reply.ts";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { operatorSessions } from "../../../src/keys/operator-session.ts";
import { addOperator, changeRole, revokeOperator } from "../../../src/keys/operators.ts";
import { makeSignInLink } from "../../../src/keys/sign-in-link.ts";
import { newWallet, type Service, signIn, startService } from "../../support/service.ts";
import {
  CONSOLE,
  cookieOf,
  sendForm,
  sendPlain,
  signInOperator,
  TOKEN,
  visitor,
} from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

const test = suite<{ service: Service }>("/ops sign-in");
test.before(async (context) => {
  context.service = await startService(CONSOLE);
});
test.before.each(async ({ service }) => {
  await service.sql`delete from operator_session`;
});
test.after((context) => context.service.close());

test("a guest gets the sign-in instead of the page, as 401, and comes back to the page", async ({
  service,
}) => {
  const asked = await sendPlain(service, "/ops/log?before=9");
  assert.equal(asked.status, 401);
  assert.equal(asked.headers.get("www-authenticate"), "Bearer");
  assert.match(asked.text, /name="next" value="\/ops\/log\?before=9"/);
  assert.equal((await sendPlain(service, "/ops/")).headers.get("location"), "/ops");
  const linked = await sendPlain(service, "/ops/sign-in?next=/ops/log");
  assert.match(linked.text, /name="next" value="\/ops\/log"/);
  const next = "/ops/log?before=9";
  const opened = await sendForm(service, "/ops/sign-in", {
    operator: "Ada",
    operatorToken: TOKEN,
    next,
  });
  assert.equal(opened.status, 303);
  assert.equal(opened.headers.get("location"), next);
  assert.equal((await visitor(service, cookieOf(opened)).get(next)).status, 200);
});

test("the cookie is out of reach of scripts and of other sites, and only its keyed hash is stored", async ({
  service,
}) => {
  const opened = await sendForm(service, "/ops/sign-in", { operator: "Ada", operatorToken: TOKEN });
  const cookie = opened.headers.get("set-cookie") ?? "";
  assert.match(
    cookie,
    /^starboard-operator=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const secret = cookieOf(opened).split("=")[1] ?? "";
  const [row] = await service.sql`select row_to_json(s)::text as text from operator_session s`;
  assert.ok(!row?.text.includes(secret));
  assert.ok(!row?.text.includes(Buffer.from(secret, "base64url").toString("hex")));
});

test("on https the cookie is Secure and bound to this host", async () => {
  const service = await startService({
    OPERATOR_TOKEN: TOKEN,
    PUBLIC_URL: "https://stars.example.org",
  });
  const headers = { origin: "https://stars.example.org" };
  const fields = { operator: "Ada", operatorToken: TOKEN };
  const opened = await sendForm(service, "/ops/sign-in", fields, headers);
  assert.match(
    opened.headers.get("set-cookie") ?? "",
    /^__Host-starboard-operator=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  await service.close();
});

test("every page has the strict policy, forbids framing and storing", async ({ service }) => {
  const operator = await signInOperator(service);
  for (const reply of [await operator.get("/ops"), await sendPlain(service, "/ops/sign-in")]) {
    assert.equal(
      reply.headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    assert.equal(reply.headers.get("content-security-policy"), CONSOLE_POLICY);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("referrer-policy"), "same-origin");
    assert.equal(reply.headers.get("x-frame-options"), "DENY");
    assert.equal(reply.headers.get("cross-origin-opener-policy"), "same-origin");
    assert.doesNotMatch(
      reply.text,
      /<script(?! type="module" src="\/ops\/assets\/| type="application\/json")|style=|<style| on\w+=/,
    );
  }
});

test("wrong tokens, voters' sessions and API keys open nothing", async ({ service }) => {
  const voter = await signIn(service, await newWallet(service));
  const { key } = await issueKey(service.sql, "a consumer");
  for (const wrong of [voter, key, `${TOKEN}x`, ""]) {
    const fields = { operator: "Ada", operatorToken: wrong };
    const reply = await sendForm(service, "/ops/sign-in", fields);
    assert.equal(reply.status, 401, wrong);
    assert.equal(reply.headers.get("set-cookie"), null);
  }
  const typed = { operator: '"><b>', next: '/ops?"><b>' };
  const again = await sendForm(service, "/ops/sign-in", { ...typed, operatorToken: "wrong" });
  assert.match(again.text, /name="next" value="\/ops\?&quot;&gt;&lt;b&gt;"/);
  assert.match(again.text, /This is not an operator&#39;s token\./);
  assert.ok(!again.text.includes("<b>"));
  for (const operator of ["x".repeat(61), "A\u202eda"]) {
    const fields = { operator, operatorToken: TOKEN };
    const reply = await sendForm(service, "/ops/sign-in", fields);
    assert.equal(reply.status, 400);
    assert.match(reply.text, /A name has up to 60 characters, all of them printable\./);
  }
  const asked = [
    { authorization: `Bearer ${voter}` },
    { authorization: `Bearer ${key}` },
    { authorization: `Bearer ${TOKEN}` },
    { cookie: `starboard-operator=${voter}` },
    { cookie: `starboard-operator=${key}` },
    { cookie: `starboard-operator=${TOKEN}` },
  ];
  for (const headers of asked) {
    assert.equal((await sendPlain(service, "/ops", headers)).status, 401);
  }
});

test("a form from another site, or without this session's token, does nothing", async ({
  service,
}) => {
  const operator = await signInOperator(service);
  const stranger = { origin: "https://evil.example" };
  const attempts = [
    await operator.post("/ops/sign-out", {}, stranger),
    await operator.post("/ops/sign-out", {}, { "sec-fetch-site": "cross-site" }),
    await operator.post("/ops/sign-out", {}, { "sec-fetch-site": "same-site" }),
    await operator.post("/ops/sign-out", {}, { origin: "null" }),
    await operator.post("/ops/sign-out", { token: "another" }),
    await operator.post("/ops/sign-out", { token: "" }),
  ];
  assert.deepEqual(
    attempts.map(({ status }) => status),
    attempts.map(() => 403),
  );
  assert.equal((await operator.get("/ops")).status, 200);
  const fields = { operator: "Eve", operatorToken: TOKEN };
  const body = new URLSearchParams(fields);
  for (const planted of [
    await sendForm(service, "/ops/sign-in", fields, stranger),
    await sendPlain(service, "/ops/sign-in", {}, body),
  ]) {
    assert.equal(planted.status, 403);
    assert.equal(planted.headers.get("set-cookie"), null);
  }
});

test("signing out ends the session everywhere, and the log has both lines", async ({ service }) => {
  const operator = await signInOperator(service, "Grace <script>alert(1)</script>");
  const out = await operator.post("/ops/sign-out", {});
  assert.equal(out.status, 303);
  assert.match(out.headers.get("set-cookie") ?? "", /^starboard-operator=; Max-Age=0;/);
  assert.equal((await operator.get("/ops")).status, 401);
  const log = await (await signInOperator(service)).get("/ops/log");
  assert.match(log.text, /signed out/);
  assert.match(log.text, /environment \(Grace &lt;script&gt;alert\(1\)&lt;\/script&gt;\)/);
  await assert.rejects(service.sql`update operator_log set operator = 'Eve'`, /append-only/);
  await assert.rejects(service.sql`delete from operator_log`, /append-only/);
});

test("a session ends when it is idle, when its time is over, and when the token changes", async ({
  service,
}) => {
  const minute = 60_000;
  for (const [column, back, status] of [
    ["used_at", 29 * minute, 200],
    ["used_at", 31 * minute, 401],
    ["expires_at", 12 * 60 * minute + 1_000, 401],
  ] as const) {
    const operator = await signInOperator(service);
    const { sql } = service;
    await sql`update operator_session set ${sql(column)} = ${sql(column)} - ${back}::bigint`;
    assert.equal((await operator.get("/ops")).status, status, `${column} ${back}`);
    // Use is written down, and the session stays.
    const [kept] =
      await sql`select now_ms() - used_at < ${minute} as "isUsed" from operator_session`;
    assert.equal(kept?.isUsed, column === "expires_at" || status === 200);
    const { text } = await operator.post("/ops/keys/issue", { name: "" });
    assert.equal(/not signed in, so nothing was done/.test(text), status === 401);
    await sql`delete from operator_session`;
    // Who signs out then has nothing to do again.
    assert.doesNotMatch((await operator.post("/ops/sign-out", {})).text, /nothing was done/);
  }
});

test("sessions end with another operator token", async ({ service }) => {
  const { cookie } = await signInOperator(service);
  const secret = cookie.split("=")[1] ?? "";
  const { sql } = service;
  const clock = { now: () => Date.now() };
  const found = (operatorToken: string) =>
    operatorSessions({ sql, clock, operatorToken }).find(secret, "look");
  assert.equal((await found(TOKEN))?.operator, "environment (Ada)");
  assert.equal(await found(`${TOKEN}, another one`), null);
});

test("a named operator is in the log by name; a changed role and a revocation count at once", async ({
  service,
}) => {
  const { sql } = service;
  const { token } = await addOperator(sql, { name: "Lin", role: "viewer" });
  const lin = await signInOperator(service, "not this one", token);
  assert.match((await lin.get("/ops")).text, /<span class="name">Lin <span class="quiet">viewer</);
  const asked = { name: "Consumer" };
  assert.equal((await lin.post("/ops/keys/issue", asked)).status, 403);
  await changeRole(sql, { name: "Lin", role: "admin" });
  assert.equal((await lin.post("/ops/keys/issue", asked)).status, 200);
  const [line] = await logOf(sql, "keys.issue");
  assert.deepEqual([line?.phase, line?.operator], ["done", "Lin"]);
  const [opened] = await logOf(sql, "session.open");
  assert.deepEqual([opened?.phase, opened?.operator], ["done", "Lin"]);
  await sql`update operator set last_used_at = 0`;
  await sql`update operator_session set used_at = used_at - 120000`;
  assert.equal((await lin.get("/ops")).status, 200);
  const [used] = await sql`select last_used_at as at from operator`;
  assert.ok(used?.at > 0);
  const other = await signInOperator(service, "", token);
  assert.equal((await other.post("/ops/sign-out", {})).status, 303);
  assert.equal((await other.get("/ops")).status, 401);
  await revokeOperator(sql, "Lin");
  assert.equal((await lin.get("/ops")).status, 401);
  const fields = { operator: "", operatorToken: token };
  assert.equal((await sendForm(service, "/ops/sign-in", fields)).status, 401);
});

test("a sign-in link opens one session before it expires, and a wrong one counts as a wrong token", async ({
  service,
}) => {
  const { sql, url } = service;
  const follow = async (link: string, address = "10.9.9.1") =>
    sendPlain(service, link.slice(url.length), { "x-forwarded-for": address });
  const link = await makeSignInLink(sql, url);
  const headers = { "x-forwarded-for": "10.9.9.1", "sec-fetch-site": "cross-site" };
  const fromElsewhere = await sendPlain(service, link.slice(url.length), headers);
  assert.equal(fromElsewhere.status, 200, "the form; the link is not used up");
  await fetch(link, { method: "HEAD", redirect: "manual" });
  const tries = await Promise.all([1, 2, 3].map(() => follow(link)));
  const [opened, ...others] = tries.sort((one, other) => one.status - other.status);
  assert.deepEqual([opened?.status, opened?.headers.get("location")], [303, "/ops"]);
  assert.deepEqual(
    others.map(({ status }) => status),
    [401, 401],
  );
  assert.match(others[0]?.text ?? "", /This link has been used, or its time is over/);
  assert.ok(opened);
  const page = await visitor(service, cookieOf(opened)).get("/ops");
  assert.match(page.text, /<span class="name">environment <span class="quiet">admin</);
  const late = await makeSignInLink(sql, url);
  assert.ok(!JSON.stringify(await sql`select * from operator_link`).includes(late.slice(-43)));
  const [lasts] = await sql`select expires_at - now_ms() as ms from operator_link`;
  assert.ok(lasts?.ms > 14 * 60_000 && lasts?.ms <= 15 * 60_000, String(lasts?.ms));
  await sql`update operator_link set expires_at = now_ms() - 1`;
  assert.equal((await follow(late)).status, 401);
  for (let n = 0; n < 10; n += 1) await follow(late, "10.9.9.2");
  const good = await makeSignInLink(sql, url);
  assert.equal((await follow(good, "10.9.9.2")).status, 429);
  assert.equal((await follow(good)).status, 303, "what is refused unread is not used up");
});

test("eleven attempts within a minute: the last one gets Retry-After", async () => {
  const service = await startService({ OPERATOR_TOKEN: TOKEN });
  const statuses: number[] = [];
  for (let n = 1; n <= 11; n += 1) {
    const fields = { operator: "Ada", operatorToken: `guess ${n}` };
    const reply = await sendForm(service, "/ops/sign-in", fields);
    statuses.push(reply.status);
    if (n === 11) assert.ok(Number(reply.headers.get("retry-after")) >= 1);
  }
  assert.deepEqual(statuses, [...new Array(10).fill(401), 429]);
  await service.close();
});

test("`next` leads only to pages of this console", async ({ service }) => {
  for (const next of ["https://evil.example", "//evil.example", "/opsx", "/ops\\..", "/ops/\n"]) {
    const fields = { operator: "Ada", operatorToken: TOKEN, next };
    const reply = await sendForm(service, "/ops/sign-in", fields);
    assert.equal(reply.headers.get("location") ?? reply.status, "/ops", next);
  }
});

test("without an operator token everything is closed, except to named operators", async () => {
  const service = await startService();
  for (const path of ["/ops", "/ops/log", "/ops/sign-in"]) {
    const reply = await sendPlain(service, path);
    assert.equal(reply.status, 401);
    assert.match(reply.text, /The console is closed/);
  }
  const { sql, url } = service;
  const isClosed = async () => {
    const reply = await sendForm(service, "/ops/sign-in", { operatorToken: "a token" });
    assert.equal(reply.status, 401);
    return /The console is closed/.test(reply.text);
  };
  assert.ok(await isClosed());
  const link = await makeSignInLink(sql, url);
  assert.equal((await sendPlain(service, link.slice(url.length))).status, 401);
  const { token } = await addOperator(sql, { name: "Lin", role: "viewer" });
  assert.equal((await (await signInOperator(service, "", token)).get("/ops")).status, 200);
  assert.ok(!(await isClosed()));
  await revokeOperator(sql, "Lin");
  assert.ok(await isClosed());
  await service.close();
});

test("429 for a client that goes on asking without a session; operators are not counted", async () => {
  const service = await startService({ ...CONSOLE, VOTING_RATE_LIMIT: "20" });
  const { cookie } = await signInOperator(service);
  const from = (address: string, given: string) =>
    sendPlain(service, "/ops/log", { cookie: given, "x-forwarded-for": address });
  const all = (times: number, address: string, given: string) =>
    Promise.all(Array.from({ length: times }, () => from(address, given)));
  for (const times of [15, 15]) {
    for (const { status } of await all(times, "10.1.1.1", cookie)) assert.equal(status, 200);
  }
  const unknown = `starboard-operator=${"a".repeat(43)}`;
  const statuses = (await all(25, "10.1.1.2", unknown)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 20);
  const held = await from("10.1.1.2", unknown);
  assert.equal(held.status, 429);
  assert.match(held.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  assert.match(held.text, /Too many requests from your address/);
  assert.equal((await from("10.1.1.1", cookie)).status, 200);
  await service.close();
});

test("an operator is not held up by guests of the same address, until the session ends", async () => {
  const service = await startService({ ...CONSOLE, VOTING_RATE_LIMIT: "20" });
  const { cookie } = await signInOperator(service);
  const asked = (given: string) => sendPlain(service, "/ops/log", { cookie: given });
  const unknown = `starboard-operator=${"a".repeat(43)}`;
  const guests = await Promise.all(Array.from({ length: 40 }, () => asked(unknown)));
  assert.equal(guests.at(-1)?.status, 429);
  assert.equal((await asked(cookie)).status, 200);
  await service.sql`delete from operator_session`;
  assert.equal((await asked(cookie)).status, 401);
  assert.equal((await asked(cookie)).status, 429);
  await service.close();
});

test.run();
