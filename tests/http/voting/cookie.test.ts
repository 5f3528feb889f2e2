/**
 * Goal: our own pages vote by a cookie, and no other page does it for them. Method: a web process
 * on real parts, asked with the headers that browsers send from our pages and from others; the
 * cookie's form on https by the functions alone.
 */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { suite } from "uvu";
import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import { sessionTokens } from "../../../src/http/voting/session-token.ts";
import {
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";

const APP = "https://app.example";
const STAR = { target: { type: "token", id: "0.0.9001" } };

const test = suite<{ service: Service }>("session cookie");
test.before(async (context) => {
  context.service = await startService({ VOTING_ORIGINS: APP });
});
test.after((context) => context.service.close());

interface Opening {
  readonly origin?: string;
  readonly headers?: Record<string, string>;
}

/** Asks for a session by cookie, as a page of an origin does. */
async function open(
  service: Service,
  wallet: SigningWallet,
  { origin, headers = {} }: Opening,
): Promise<Reply> {
  const from: Record<string, string> = origin === undefined ? {} : { origin };
  const asked = { json: { wallet: wallet.id }, headers: from };
  const { body } = await send(service, "POST /voting/challenges", asked);
  const json = { challengeId: body.id, ...signChallenge(wallet, body.message), cookie: true };
  return send(service, "POST /voting/sessions", { json, headers: { ...from, ...headers } });
}

/** `name=value` of the cookie that a reply sets. */
function cookieOf(reply: Reply): string {
  return (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

async function signedIn(service: Service): Promise<{ cookie: string; wallet: SigningWallet }> {
  const wallet = await newWallet(service);
  const opened = await open(service, wallet, { origin: service.url });
  assert.equal(opened.status, 201, opened.text);
  return { cookie: cookieOf(opened), wallet };
}

/** How many stars the wallet of a cookie has left; -1 when it is signed out. */
async function remaining(service: Service, cookie: string): Promise<number> {
  const { status, body } = await send(service, "GET /voting/allowance", { headers: { cookie } });
  return status === 200 ? body.remaining : -1;
}

test("a session by cookie: no token in the reply, a plain name on loopback, 24 hours", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const opened = await open(service, wallet, { origin: service.url });
  assert.equal(opened.status, 201, opened.text);
  assert.deepEqual(Object.keys(opened.body), ["wallet", "expiresAt"]);
  const set = opened.headers.get("set-cookie") ?? "";
  assert.match(
    set,
    /^starboard=[A-Za-z0-9_-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.equal(opened.headers.get("access-control-allow-credentials"), null);
  const { status, body, headers } = await send(service, "GET /voting/allowance", {
    headers: { cookie: cookieOf(opened) },
  });
  assert.deepEqual([status, body.wallet], [200, wallet.id]);
  assert.equal(headers.get("cache-control"), "no-store");
});

test("on https, and on plain http that is not loopback, the cookie is Secure and of this host", async () => {
  for (const url of ["https://stars.example", "http://stars.example"]) {
    const tokens = sessionTokens(url, [url]);
    const app = new Hono().get("/", (c) => {
      tokens.cookie.write(c, "x");
      return c.body(null);
    });
    const reply = await app.request("/");
    const set = reply.headers.get("set-cookie") ?? "";
    assert.match(set, /^__Host-starboard=x; .*Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  }
});

test("every name of a loopback service is its own origin, and the text names the page's", async ({
  service,
}) => {
  const { port } = new URL(service.url);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const origin = `http://${host}`;
    const wallet = await newWallet(service);
    const json = { wallet: wallet.id };
    const asked = await send(service, "POST /voting/challenges", { json, headers: { origin } });
    const lines: string[] = asked.body.message.split("\n");
    assert.equal(lines[0], `${host} wants you to sign in with your Hedera account:`);
    assert.ok(lines.includes(`URI: ${origin}/`));
    const opened = await open(service, wallet, { origin });
    assert.equal(opened.status, 201, opened.text);
    const headers = { origin, cookie: cookieOf(opened) };
    const cast = await send(service, "POST /voting/stars", { json: STAR, headers });
    assert.equal(cast.status, 201, cast.text);
  }
});

test("no other origin opens a session by cookie, and the try spends no challenge", async ({
  service,
}) => {
  const { port } = new URL(service.url);
  for (const origin of [
    undefined,
    APP,
    "null",
    "https://evil.example",
    `http://localhost:${Number(port) + 1}`,
    `https://127.0.0.1:${port}`,
  ]) {
    const wallet = await newWallet(service);
    const refused = await open(service, wallet, origin === undefined ? {} : { origin });
    assert.deepEqual([refused.status, refused.body.field], [400, "Origin"], origin);
    assert.equal(refused.headers.get("set-cookie"), null);
  }
  const wallet = await newWallet(service);
  const crossSite = { origin: service.url, headers: { "sec-fetch-site": "cross-site" } };
  assert.equal((await open(service, wallet, crossSite)).status, 400);
  const { body } = await send(service, "POST /voting/challenges", { json: { wallet: wallet.id } });
  const json = { challengeId: body.id, ...signChallenge(wallet, body.message) };
  const refused = await send(service, "POST /voting/sessions", { json: { ...json, cookie: true } });
  assert.equal(refused.body.field, "Origin");
  assert.equal((await send(service, "POST /voting/sessions", { json })).status, 201);
});

test("a change by cookie is refused from every other page, and changes nothing", async ({
  service,
}) => {
  const { cookie } = await signedIn(service);
  const own = service.url;
  const foreign: Record<string, string>[] = [
    {},
    { origin: "null" },
    { origin: APP },
    { origin: "https://evil.example" },
    { origin: `${own}.evil.example` },
    { origin: own, "sec-fetch-site": "cross-site" },
    { origin: own, "sec-fetch-site": "same-site" },
    { origin: own, "sec-fetch-site": "none" },
    { "sec-fetch-site": "same-origin" },
    { referer: `${own}/` },
  ];
  for (const from of foreign) {
    const headers = { ...from, cookie };
    for (const line of [
      "POST /voting/stars",
      "DELETE /voting/sessions/current",
      "DELETE /voting/sessions",
    ]) {
      const json = line.startsWith("POST") ? { json: STAR } : {};
      const { status, body } = await send(service, line, { ...json, headers });
      assert.deepEqual(
        [status, body?.code, body?.field],
        [400, "INVALID_REQUEST", "Origin"],
        `${line} ${JSON.stringify(from)}`,
      );
    }
  }
  assert.equal(await remaining(service, cookie), 5);
  const head = await send(service, "HEAD /voting/allowance", { headers: { cookie } });
  assert.equal(head.status, 200, "a change is what changes something");
});

test("a form cannot cast a star: other media types and disguised methods are refused", async ({
  service,
}) => {
  const { cookie } = await signedIn(service);
  const own = { origin: service.url, "sec-fetch-site": "same-origin", cookie };
  for (const type of [
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]) {
    for (const origin of [service.url, "https://evil.example"]) {
      const headers = { ...own, origin, "content-type": type };
      const body = JSON.stringify(STAR);
      const { status } = await send(service, "POST /voting/stars", { headers, body });
      assert.equal(status, origin === service.url ? 415 : 400, type);
    }
  }
  const disguises = { "x-http-method-override": "DELETE", "x-http-method": "DELETE" };
  const disguised = await send(service, "POST /voting/sessions/current", {
    headers: { ...own, ...disguises },
  });
  assert.equal(disguised.status, 405);
  const asked = await send(service, "GET /voting/sessions/current?_method=DELETE", {
    headers: { ...own, ...disguises },
  });
  assert.equal(asked.status, 405);
  const read = await send(service, "GET /voting/stars", {
    headers: { ...own, "x-http-method-override": "POST" },
  });
  assert.deepEqual([read.status, read.body.stars], [200, []]);
  assert.equal(await remaining(service, cookie), 5);
});

test("another origin reads nothing by cookie, and no reply lets its page read one", async ({
  service,
}) => {
  const { cookie } = await signedIn(service);
  for (const origin of [APP, "https://evil.example", "null"]) {
    const reply = await send(service, "GET /voting/allowance", { headers: { origin, cookie } });
    assert.deepEqual([reply.status, reply.body.code], [401, "MISSING_SESSION"], origin);
    assert.equal(reply.headers.get("access-control-allow-credentials"), null);
  }
});

test("the header wins over the cookie, and then no Origin is asked for", async ({ service }) => {
  const { cookie } = await signedIn(service);
  const wallet = await newWallet(service);
  const token = await signIn(service, wallet);
  const { body } = await send(service, "GET /voting/allowance", { token, headers: { cookie } });
  assert.equal(body.wallet, wallet.id);
  const cast = await send(service, "POST /voting/stars", {
    token,
    json: STAR,
    headers: { cookie },
  });
  assert.deepEqual([cast.status, cast.body.star.wallet], [201, wallet.id]);
  const wrong = { authorization: `Bearer ${"t".repeat(43)}`, cookie };
  const refused = await send(service, "GET /voting/allowance", { headers: wrong });
  assert.equal(refused.body.code, "INVALID_SESSION", "no second try with the cookie");
  const other = { authorization: "Basic eDp5", cookie };
  assert.equal((await send(service, "GET /voting/allowance", { headers: other })).status, 200);
  const ended = await send(service, "DELETE /voting/sessions/current", {
    token,
    headers: { cookie },
  });
  assert.equal(ended.headers.get("set-cookie"), null, "the cookie's session stands");
  assert.equal(await remaining(service, cookie), 5);
});

test("signing out ends the session and clears its cookie, here and everywhere", async ({
  service,
}) => {
  for (const path of ["/voting/sessions/current", "/voting/sessions"]) {
    const { cookie } = await signedIn(service);
    const ended = await send(service, `DELETE ${path}`, {
      headers: { origin: service.url, cookie },
    });
    assert.equal(ended.status, 204, ended.text);
    assert.match(ended.headers.get("set-cookie") ?? "", /^starboard=; Max-Age=0; Path=\/; /);
    assert.equal(await remaining(service, cookie), -1);
  }
});

test("an invalid session cookie and a missing one get different codes", async ({ service }) => {
  for (const [cookie, code] of [
    ["other=1", "MISSING_SESSION"],
    ["starboard=", "MISSING_SESSION"],
    ["starboard=nonsense", "INVALID_SESSION"],
    [`starboard=${"t".repeat(43)}`, "INVALID_SESSION"],
    [`__Host-starboard=${"t".repeat(43)}`, "MISSING_SESSION"],
  ] as const) {
    const { body } = await send(service, "GET /voting/allowance", { headers: { cookie } });
    assert.equal(body.code, code, cookie);
  }
});

test("a cookie is read as it was set, wherever it stands among others", async ({ service }) => {
  const { cookie } = await signedIn(service);
  const [name = "", token = ""] = cookie.split("=");
  const first = token.charCodeAt(0).toString(16);
  for (const [given, left] of [
    [`a=b; ${cookie}; c=d`, 5],
    [`x${name}=y;${cookie}`, 5],
    [`$Version="1"; ${name}="${token}";$Path="/"`, 5],
    [`${name}=%${first}${token.slice(1)}`, -1],
    [`x${cookie}`, -1],
  ] as const) {
    assert.equal(await remaining(service, given), left, given);
  }
});

test("`cookie` is true or false, and false answers the token", async ({ service }) => {
  const wallet = await newWallet(service);
  const { body } = await send(service, "POST /voting/challenges", { json: { wallet: wallet.id } });
  const json = { challengeId: body.id, ...signChallenge(wallet, body.message) };
  const bad = await send(service, "POST /voting/sessions", { json: { ...json, cookie: "true" } });
  assert.deepEqual([bad.status, bad.body.field], [400, "cookie"]);
  const opened = await send(service, "POST /voting/sessions", { json: { ...json, cookie: false } });
  assert.deepEqual(Object.keys(opened.body), ["token", "wallet", "expiresAt"]);
  assert.equal(opened.headers.get("set-cookie"), null);
});

test.run();
