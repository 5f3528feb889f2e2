/** GET /v1 and GET /v1/openapi.json: open to everyone, and made from the one table of endpoints. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { bodyOf, createHouse, from, type House, openHouse } from "./house.ts";

const PATHS = [
  "/",
  "/openapi.json",
  "/events",
  "/events/{id}",
  "/tokens/top",
  "/collections/top",
  "/leaderboard",
  "/ecosystem",
];
const NOTICES = [
  "Usage is subject to terms of use. Callers must stay within their key's limits and must not overload the service.",
  "Returned data is information and not financial advice, and much of it comes from third parties and the community.",
  "utility tokens. They confer no ownership, profit rights or securities status.",
];

let house: House;
test.before(async () => {
  house = await openHouse();
});
test.after(() => house.close());

const open = (path: string, headers = {}) => house.app.request(path, { headers });

test("200: the directory is at /v1 and at /v1/, without a key, for pages of any origin", async () => {
  for (const path of ["/v1", "/v1/", "/v1?api_key=whatever"]) {
    const response = await open(path);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    const body = await bodyOf(response);
    assert.deepEqual(Object.keys(body), ["name", "version", "documentation", "terms", "endpoints"]);
    assert.equal(body.documentation, "https://api.example.org/docs");
    for (const notice of NOTICES) assert.ok(String(body.terms).includes(notice), notice);
  }
});

interface Listed {
  readonly path: string;
  readonly key: boolean;
  readonly parameters: readonly Record<string, unknown>[];
}
const directory = async () => (await bodyOf(await open("/v1"))).endpoints as readonly Listed[];

test("200: the directory lists every endpoint and its parameters", async () => {
  const endpoints = await directory();
  assert.deepEqual(
    endpoints.map(({ path }) => path),
    PATHS,
  );
  assert.deepEqual(endpoints[2]?.parameters[0], {
    name: "status",
    in: "query",
    type: "string",
    required: false,
    default: null,
    minimum: null,
    maximum: null,
    allowed: ["upcoming", "live", "ended", "all"],
  });
  assert.deepEqual(
    endpoints.map(({ parameters }) => parameters.map(({ name }) => name)),
    [
      [],
      [],
      ["status", "eventType", "source", "limit", "offset"],
      ["id"],
      ["limit"],
      ["limit"],
      ["limit"],
      ["category", "country", "limit", "offset"],
    ],
  );
  const limits = endpoints.flatMap(({ parameters }) =>
    parameters.filter((p) => p.name === "limit"),
  );
  assert.deepEqual(
    limits.map((limit) => [limit.minimum, limit.default, limit.maximum, limit.type]),
    [20, 30, 30, 50, 50].map((fallback) => [1, fallback, 100, "integer"]),
  );
  assert.equal(endpoints[3]?.parameters[0]?.required, true);
  assert.equal(endpoints[3]?.parameters[0]?.in, "path");
});

test("an endpoint needs a key exactly where the directory says so", async () => {
  for (const { path, key } of await directory()) {
    const response = await open(`/v1${path.replace("{id}", "x")}`);
    assert.equal(response.status, key ? 401 : 200, path);
    assert.equal(response.headers.has("access-control-allow-origin"), !key, path);
  }
});

test("400 INVALID_PARAMETER: the open endpoints have no parameters", async () => {
  for (const path of ["/v1?limit=5", "/v1/openapi.json?x=", "/v1/?__proto__=1"]) {
    const response = await open(path);
    assert.equal(response.status, 400, path);
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    assert.equal((await bodyOf(response)).code, "INVALID_PARAMETER");
  }
});

test("405: the open endpoints accept GET alone, a preflight included", async () => {
  for (const path of ["/v1", "/v1/", "/v1/openapi.json"]) {
    for (const method of ["OPTIONS", "HEAD", "POST"]) {
      const response = await house.app.request(path, { method });
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.equal(response.headers.get("allow"), "GET");
      assert.equal(response.headers.get("access-control-allow-origin"), "*", `${method} ${path}`);
    }
  }
});

test("429: the open endpoints count for the rate limit", async () => {
  const app = createHouse({ sql: house.sql, clock: house.clock, rateLimit: 2 });
  const replies: unknown[] = [];
  const open = ["/v1", "/v1/openapi.json"];
  for (const path of [...open, ...open, "/v1/", "/v1/events", "/v1/nothing"]) {
    const { status, headers } = await app.request(path, {}, from("192.0.2.1"));
    replies.push([status, headers.get("access-control-allow-origin")]);
  }
  const [answered, refused] = [
    [200, "*"],
    [429, "*"],
  ];
  const closed = [429, null];
  const wanted = [answered, answered, refused, refused, refused, closed, closed];
  assert.deepEqual(replies, wanted);
});

test("without EVENT_SOURCES no `source` is allowed: directory, document and refusal say so", async () => {
  const { sql, clock, key } = house;
  const app = createHouse({ sql, clock, eventSources: [] });
  const ask = async (path: string) =>
    bodyOf(await app.request(`/v1${path}`, { headers: { Authorization: `Bearer ${key}` } }));
  const [, , events] = (await ask("")).endpoints as readonly Listed[];
  assert.deepEqual(events?.parameters.find(({ name }) => name === "source")?.allowed, []);
  // JSON has no type; `contract.test.ts` looks at the whole document.
  const { paths } = (await ask("/openapi.json")) as unknown as OpenApi;
  const source = paths["/events"]?.get.parameters.find(({ name }) => name === "source");
  assert.deepEqual(source?.schema, { type: "string", not: {} });
  const { error: _, ...refusal } = await ask("/events?source=SOURCE_A");
  assert.deepEqual(refusal, { code: "INVALID_PARAMETER", parameter: "source", allowed: [] });
});

test("the document's example of a refusal is what the service answers", async () => {
  const { examples } = (await openApi()).components.schemas.InvalidParameter as {
    examples: readonly unknown[];
  };
  assert.deepEqual(examples, [await bodyOf(await house.get("/events?limit=0"))]);
});

test("304: the descriptions are cached by their tag", async () => {
  for (const path of ["/v1", "/v1/openapi.json"]) {
    const tag = (await open(path)).headers.get("etag") ?? "";
    assert.equal((await open(path, { "If-None-Match": tag })).status, 304);
  }
});

interface Operation {
  readonly security: readonly unknown[];
  readonly parameters: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}
const openApi = async (): Promise<OpenApi> =>
  JSON.parse(await (await open("/v1/openapi.json")).text());

test("200: the OpenAPI 3.1 document has the same endpoints and parameters, and the notices", async () => {
  const document = await openApi();
  assert.equal(document.openapi, "3.1.0");
  assert.deepEqual(Object.keys(document.paths), PATHS);
  for (const notice of NOTICES) assert.ok(document.info.description.includes(notice));
  for (const { path, key, parameters } of await directory()) {
    const get = document.paths[path]?.get;
    assert.deepEqual(
      get?.parameters.map((p) => [p.name, p.in, p.required]),
      parameters.map((p) => [p.name, p.in, p.required]),
    );
    assert.equal(get?.security.length, key ? 2 : 0, path);
    assert.equal(Object.hasOwn(get?.responses ?? {}, "401"), key);
    // `API_RATE_LIMIT` may be another number.
    assert.match(JSON.stringify(get?.responses["429"]), /100, unless this service sets another/);
  }
});

test("200: each number of the OpenAPI document begins somewhere, be it at zero", async () => {
  const text = await (await open("/v1/openapi.json")).text();
  assert.ok(!text.includes(String(Number.MIN_SAFE_INTEGER)));
});

test("200: every reference in the OpenAPI document leads somewhere, and nothing is left unreferenced", async () => {
  const document = await openApi();
  const text = JSON.stringify(document);
  const wanted = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
  const there = Object.keys(document.components.schemas);
  assert.deepEqual([...wanted].sort(), there.map((name) => `#/components/schemas/${name}`).sort());
  assert.ok(there.includes("Event") && there.includes("Token") && there.includes("Error"));
  // Within /v1 there are only additions: a client must not refuse what it does not know.
  assert.doesNotMatch(text, /\$defs|\$schema|"additionalProperties":false/);
});

test.run();
