import * as assert from "node:assert/strict";
import { test } from "uvu";
import { issueKey, revokeKey } from "../../../src/keys/api-keys.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { bodyOf, createHouse, from, type House } from "./house.ts";

/** A well-formed key, checksum and all, that was never issued. */
const FOREIGN_KEY = "starboard_live_000000000000000000000000000000";

/** Registers the refusals that every data endpoint has in common, each named by its status and code. */
export function testRefusals(path: string, house: () => House): void {
  const full = `/v1${path}`;

  test(`400 INVALID_PARAMETER: ${path} refuses a parameter that it does not have`, async () => {
    for (const name of ["foo", "Limit", "?limit", "__proto__", "constructor", "toString"]) {
      const response = await house().get(`${path}?${name}=1`);
      const body = await bodyOf(response);
      assert.equal(response.status, 400, name);
      assert.equal(body.code, "INVALID_PARAMETER");
      assert.equal(body.parameter, name);
      assert.ok(Array.isArray(body.allowed));
    }
  });

  test(`400 INVALID_PARAMETER: ${path} refuses a key given twice`, async () => {
    const { key } = house();
    const response = await house().get(`${path}?api_key=${key}&api_key=${key}`);
    assert.equal(response.status, 400);
    assert.equal((await bodyOf(response)).parameter, "api_key");
  });

  test(`401 MISSING_API_KEY: ${path} without a key`, async () => {
    for (const headers of [
      {},
      { Authorization: "Basic YTpi" },
      { Authorization: "Bearer" },
      { Authorization: "BearerX Y" },
    ]) {
      const response = await house().app.request(`${full}?api_key=`, { headers });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), "Bearer");
      assert.equal((await bodyOf(response)).code, "MISSING_API_KEY");
    }
  });

  test(`401 INVALID_API_KEY: ${path} with a key that was not issued`, async () => {
    for (const key of ["nonsense", FOREIGN_KEY, `${house().key}x`, "\u00e9"]) {
      const response = await house().app.request(`${full}?api_key=${encodeURIComponent(key)}`);
      assert.equal(response.status, 401, key);
      assert.equal(response.headers.get("www-authenticate"), "Bearer");
      assert.equal((await bodyOf(response)).code, "INVALID_API_KEY");
    }
  });

  test(`401 REVOKED_API_KEY: ${path} with a revoked key`, async () => {
    const { app, sql } = house();
    const { id, key } = await issueKey(sql, "revoked");
    const headers = { Authorization: `Bearer ${key}` };
    assert.notEqual((await app.request(full, { headers })).status, 401);
    await revokeKey(sql, id);
    const response = await app.request(full, { headers });
    assert.equal(response.status, 401);
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
    assert.equal((await bodyOf(response)).code, "REVOKED_API_KEY");
  });

  test(`401: ${path} looks at the header's key before the query's, and at either before the parameters`, async () => {
    const { app, key } = house();
    const bad = { Authorization: `Bearer ${FOREIGN_KEY}` };
    for (const [query, headers, code] of [
      [`api_key=${key}`, bad, "INVALID_API_KEY"],
      ["x=1", bad, "INVALID_API_KEY"],
      [`api_key=${FOREIGN_KEY}&x=1`, {}, "INVALID_API_KEY"],
      ["x=1", {}, "MISSING_API_KEY"],
    ] as const) {
      const response = await app.request(`${full}?${query}`, { headers });
      assert.deepEqual([response.status, (await bodyOf(response)).code], [401, code], query);
    }
    // What brings no key leaves it to the query.
    for (const authorization of [
      "Basic YTpi",
      "Bearer",
      "Bearer ",
      `Bearer\t${FOREIGN_KEY}`,
      key,
    ]) {
      const headers = { Authorization: authorization };
      const response = await app.request(`${full}?api_key=${key}&x=1`, { headers });
      assert.equal(response.status, 400, authorization);
    }
    const good = { Authorization: `bearer ${key}` };
    const response = await app.request(`${full}?api_key=${FOREIGN_KEY}`, { headers: good });
    assert.notEqual(response.status, 401);
  });

  test(`405: ${path} with another method than GET, before the key is looked at`, async () => {
    for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]) {
      const response = await house().app.request(full, { method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get("allow"), "GET");
      assert.match(response.headers.get("ratelimit") ?? "", /^"ip";r=\d+;t=\d+$/);
      if (method === "HEAD") continue;
      assert.deepEqual(Object.keys(await bodyOf(response)), ["error"], "no code");
    }
  });

  test(`429: ${path} when the client has used its requests, without a code`, async () => {
    const { sql, clock, key } = house();
    const app = createHouse({ sql, clock, rateLimit: 1 });
    const ask = () =>
      app.request(full, { headers: { Authorization: `Bearer ${key}` } }, from("192.0.2.9"));
    assert.notEqual((await ask()).status, 429);
    const response = await ask();
    assert.equal(response.status, 429);
    assert.deepEqual(Object.keys(await bodyOf(response)), ["error"]);
    assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(response.headers.get("ratelimit-policy"), '"ip";q=1;w=60');
  });

  test(`503 UNAVAILABLE: ${path} while the database is away`, async () => {
    const sql = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
    const { clock, key } = house();
    const app = createHouse({ sql, clock });
    const response = await app.request(full, { headers: { Authorization: `Bearer ${key}` } });
    assert.equal(response.status, 503);
    assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    const body = await bodyOf(response);
    assert.deepEqual(Object.keys(body), ["error", "code"]);
    assert.equal(body.code, "UNAVAILABLE");
    assert.doesNotMatch(String(body.error), /127|postgres|ECONN/i);
    await sql.end();
  });
}

/** Registers one test: the endpoint refuses each of these values, and says what is allowed. */
export function testBadValues(
  house: () => House,
  given: {
    readonly path: string;
    readonly parameter: string;
    readonly bad: readonly string[];
    readonly allowed: string | readonly string[];
  },
): void {
  const { path, parameter, bad, allowed } = given;
  test(`400 INVALID_PARAMETER: ${path} refuses a bad ${parameter}`, async () => {
    for (const value of [...bad, "", "%00", "x".repeat(2_000), "%F0%9F%98%80", "%ED%A0%80"]) {
      const response = await house().get(`${path}?${parameter}=${value}`);
      assert.equal(response.status, 400, value);
      const { error, ...body } = await bodyOf(response);
      assert.match(String(error), value === "" ? /is empty\.$/ : /is not valid\.$/);
      assert.deepEqual(body, { code: "INVALID_PARAMETER", parameter, allowed }, value);
    }
    const twice = await house().get(`${path}?${parameter}=1&${parameter}=1`);
    assert.equal(twice.status, 400);
    assert.equal((await bodyOf(twice)).parameter, parameter);
  });
}

export const badLimits = [
  "0",
  "101",
  "-1",
  "1.0",
  "1e1",
  "0x10",
  "%2B5",
  "+5",
  "5%20",
  "%EF%BC%95",
  "9007199254740993",
  "0000000001",
  "null",
  "[]",
];
