/** Any bytes give 2xx or 4xx: odd requests cause no fault of the service, and nothing leaks. */
import * as assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { pino } from "pino";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { from, type House, openHouse } from "./house.ts";

const RUNS = 1_500;
const lines: string[] = [];

let house: House;
test.before(async () => {
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  house = await openHouse({ log, trustedProxies: ["10.0.0.0/8"] });
  const events = [{ id: "e", title: "E", eventType: "OTHER", startsAt: "2026-11-20T08:00:00Z" }];
  await importCatalog(house.sql, { events }, { approve: true, eventSources: [] });
});
test.after(() => house.close());

const names = [
  "status",
  "eventType",
  "source",
  "limit",
  "offset",
  "category",
  "country",
  "api_key",
];
const odd = fc.constantFrom(
  "../../etc/passwd",
  "%2e%2e%2f",
  "%00",
  "%",
  "%zz",
  "%C0%AF",
  "' or 1=1--",
  "'; drop table event; --",
  "$(id)",
  "<script>",
  "1e309",
  "9007199254740993",
  "__proto__[x]",
  "constructor.prototype",
  "\u202e",
  "\ud83d\ude00",
  "\uff15",
  "a".repeat(5_000),
);
const text = fc.oneof(
  odd,
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom("1", "DEFI", "live"),
);
const query = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), text), { maxLength: 5 })
  .map((pairs) => pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&"));
const path = fc.oneof(
  fc.constantFrom(
    "/events",
    "/tokens/top",
    "/collections/top",
    "/leaderboard",
    "/ecosystem",
    "",
    "/openapi.json",
  ),
  text.map((id) => `/events/${escaped(id)}`),
  text.map((part) => `/${escaped(part)}`),
);
const header = fc.string().map((value) => value.replace(/[^\x20-\x7e]/g, ""));
const headers = fc.record(
  {
    authorization: fc.oneof(
      header,
      header.map((key) => `Bearer ${key}`),
    ),
    "if-none-match": header,
    "accept-encoding": header,
    "x-forwarded-for": header,
    "x-request-id": header,
    "content-type": header,
  },
  { requiredKeys: [] },
);

/** As a client might: sometimes encoded well, sometimes raw. */
function escaped(value: string): string {
  const wellFormed = value.replace(/\p{Cs}/gu, "");
  return value.length % 2 === 0
    ? encodeURIComponent(wellFormed)
    : wellFormed.replace(/[\s#]/g, "+");
}

test(`${RUNS} odd requests are answered with 2xx, 304 or 4xx, in JSON`, async () => {
  const prototype = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(path, query, headers, fc.boolean(), async (where, what, sent, withKey) => {
      const given = { ...sent, ...(withKey && { authorization: `Bearer ${house.key}` }) };
      const response = await house.app.request(
        `/v1${where}?${what}`,
        { headers: given },
        from("10.0.0.1"),
      );
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
      assert.ok(response.status < 500, `${response.status} for ${where}?${what}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      const isZipped = response.headers.get("content-encoding") === "gzip";
      const body = (isZipped ? gunzipSync(bytes) : bytes).toString();
      if (response.status !== 304) JSON.parse(body);
      assert.doesNotMatch(body, /node_modules|\.ts:|select |postgres/i);
    }),
    { numRuns: RUNS },
  );
  assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), prototype);
  assert.deepEqual(lines, [], "nothing was logged as a fault");
  for (const status of [200, 400, 401, 404]) assert.ok((seen.get(status) ?? 0) > 20, `${status}`);
});

test("a long adversarial value costs no time", async () => {
  for (const value of [
    "1".repeat(16_000),
    "%".repeat(16_000),
    "a,".repeat(8_000),
    `${" ".repeat(8_000)}x`,
  ]) {
    const before = process.cpuUsage();
    await house.get(`/events?limit=${value}&status=${value}`, {
      "Accept-Encoding": value.slice(0, 8_000),
      "If-None-Match": `"${value.slice(0, 8_000)}`,
      "X-Forwarded-For": value.slice(0, 8_000),
      Authorization: `Bearer ${value.slice(0, 8_000)}`,
    });
    const ms = process.cpuUsage(before).user / 1_000;
    assert.ok(ms < 50, `${ms} ms for ${value.slice(0, 5)}…`);
  }
});

test.run();
