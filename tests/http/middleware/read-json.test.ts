/** Bodies of voting requests: JSON of at most 4 KiB, with exactly the fields that are expected. */
import * as assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { Hono } from "hono";
import { test } from "uvu";
import { z } from "zod";
import { readJson } from "../../../src/http/middleware/read-json.ts";
import { problemOf } from "../../../src/http/problem.ts";
import { silentLogger } from "../../../src/log.ts";
import { bodyOf } from "../v1/house.ts";

const schema = z.strictObject({
  wallet: z.string().regex(/^0\.0\.\d+$/, "must be an account id"),
  target: z.strictObject({ type: z.enum(["event", "token"]), id: z.string() }).optional(),
});
const app = new Hono().post("/", async (c) => c.json(await readJson(c, schema)));
app.onError((error, c) => problemOf(error, c, silentLogger));

type Body = string | Uint8Array | ReadableStream;
const JSON_TYPE = { "Content-Type": "application/json" };
const post = async (body: Body, headers: Record<string, string> = JSON_TYPE) =>
  app.request("/", { method: "POST", body, headers, ...{ duplex: "half" } });

async function refused(body: Body, headers?: Record<string, string>) {
  const response = await post(body, headers);
  const { error: _, ...rest } = await bodyOf(response);
  return [response.status, rest];
}

const invalid = (field: string | null) => [400, { code: "INVALID_REQUEST", field }];
const GOOD = '{"wallet":"0.0.7"}';

test("a good body is parsed", async () => {
  for (const body of [
    GOOD,
    ` \n${GOOD}\t`,
    '{"wallet":"0.0.7","target":{"type":"token","id":"x"}}',
  ]) {
    const response = await post(body);
    assert.equal(response.status, 200, body);
    assert.deepEqual(await response.json(), JSON.parse(body));
  }
});

test("a string without an end reaches to the end of the body: nothing in it is looked at again", async () => {
  for (const body of [`"${'\\"[{'.repeat(1_000)}`, '{"wallet":"[[[[[[[[', `{"a":1,"a:${GOOD}`]) {
    const reply = await post(body);
    assert.equal(reply.status, 400);
    assert.equal((await bodyOf(reply)).error, "The body is not JSON.", body.slice(0, 30));
  }
});

test("415 UNSUPPORTED_MEDIA_TYPE: not JSON, or compressed", async () => {
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json5",
    "json",
    "",
  ];
  for (const type of [...types, "application/json; charset=latin1", "application/jsonx"]) {
    const answer = await refused(GOOD, { "Content-Type": type });
    assert.deepEqual(answer, [415, { code: "UNSUPPORTED_MEDIA_TYPE" }], type);
  }
  const zipped = await refused(gzipSync(GOOD), { ...JSON_TYPE, "Content-Encoding": "gzip" });
  assert.deepEqual(zipped, [415, { code: "UNSUPPORTED_MEDIA_TYPE" }]);
  for (const type of [
    "application/json",
    "Application/JSON;charset=UTF-8",
    'application/json; charset="utf-8"',
  ]) {
    assert.equal((await post(GOOD, { "Content-Type": type })).status, 200, type);
  }
});

test("413 PAYLOAD_TOO_LARGE: more than 4 KiB, announced or chunked", async () => {
  const full = GOOD.padEnd(4_096);
  for (const announced of [{}, { "Content-Length": "4096" }])
    assert.equal((await post(full, { ...JSON_TYPE, ...announced })).status, 200);
  const tooLarge = [413, { code: "PAYLOAD_TOO_LARGE" }];
  assert.deepEqual(await refused(`${full} `), tooLarge);
  assert.deepEqual(await refused(full, { ...JSON_TYPE, "Content-Length": "4097" }), tooLarge);
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 1_000;
      controller.enqueue(Buffer.alloc(1_000, "a"));
    },
  });
  assert.deepEqual(await refused(endless), tooLarge);
  assert.ok(sent < 20_000, "reading stops at the limit");
});

test("400 INVALID_REQUEST: invalid JSON has no field", async () => {
  const bodies = [
    "",
    " ",
    "{",
    "{}}",
    "{'wallet':1}",
    "{wallet:1}",
    "[",
    "nul",
    '{"a":1,}',
    "\u00ff",
  ];
  for (const body of bodies) assert.deepEqual(await refused(body), invalid(null), body);
  for (const body of ["1", '"x"', "null", "true", "[]", "[{}]"]) {
    assert.deepEqual(await refused(body), invalid(null), body);
  }
});

test("400 INVALID_REQUEST: a chunked body whose sender hangs up", async () => {
  const cut = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"wallet":'));
    },
    pull(controller) {
      controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
    },
  });
  assert.deepEqual(await refused(cut), invalid(null));
});

test("400 INVALID_REQUEST: bytes that are no UTF-8, a byte order mark", async () => {
  const broken = Buffer.from('{"wallet":"0.0.7?"}');
  broken[broken.indexOf("?")] = 0xff;
  assert.deepEqual(await refused(broken), invalid(null));
  assert.deepEqual(await refused(Buffer.from(GOOD, "utf16le")), invalid(null));
  assert.deepEqual(await refused(`\ufeff${GOOD}`), invalid(null));
});

test("400 INVALID_REQUEST: the field is named by its path", async () => {
  const cases: [string, string][] = [
    ["{}", "wallet"],
    ['{"wallet":null}', "wallet"],
    ['{"wallet":7}', "wallet"],
    ['{"wallet":"0.0.x"}', "wallet"],
    ['{"wallet":"0.0.1","target":[]}', "target"],
    ['{"wallet":"0.0.1","target":{"type":"nft","id":"x"}}', "target.type"],
    ['{"wallet":"0.0.1","target":{"type":"token"}}', "target.id"],
    ['{"wallet":"0.0.1","foo":1}', "foo"],
    ['{"wallet":"0.0.1","target":{"type":"token","id":"x","foo":1}}', "target.foo"],
  ];
  for (const [body, field] of cases) assert.deepEqual(await refused(body), invalid(field), body);
});

test("400 INVALID_REQUEST: names such as `__proto__` are unknown fields, and change no object", async () => {
  for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
    const body = `{"wallet":"0.0.1","${name}":{"polluted":true}}`;
    assert.deepEqual(await refused(body), invalid(name), name);
    const inner = `{"wallet":"0.0.1","target":{"type":"token","id":"x","${name}":1}}`;
    assert.deepEqual(await refused(inner), invalid(`target.${name}`), name);
  }
  assert.equal("polluted" in {}, false);
});

test("400 INVALID_REQUEST: a name twice in one object, however it is spelt", async () => {
  const cases: [string, string][] = [
    ['{"wallet":"0.0.1","wallet":"0.0.2"}', "wallet"],
    ['{"wallet":"0.0.1","w\\u0061llet" : "0.0.2"}', "wallet"],
    ['{"wallet":"0.0.1","target":{"id":"a","type":"token","id":"b"}}', "id"],
  ];
  for (const [body, field] of cases) assert.deepEqual(await refused(body), invalid(field), body);
  const apart = '{"wallet":"0.0.1","target":{"type":"token","id":"wallet"}}';
  assert.equal((await post(apart)).status, 200);
});

test("400 INVALID_REQUEST: nesting is bounded", async () => {
  for (const body of ["[".repeat(2_000), '{"a":'.repeat(600), `${"[".repeat(6)}${"]".repeat(6)}`]) {
    assert.deepEqual(await refused(body), invalid(null));
  }
  const deep = `${"[".repeat(1_900)}${"]".repeat(1_900)}`;
  assert.deepEqual(await refused(`{"wallet":${deep}}`), invalid("wallet"));
  assert.deepEqual(await refused(`{"wallet":"0.0.7","foo":${deep}}`), invalid("foo"));
});

test("any bytes are answered with 200 or 400, quickly", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 4_096 }),
        fc.json().map((text) => Buffer.from(text)),
        fc
          .array(fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", " "))
          .map((parts) => Buffer.from(parts.join(""))),
      ),
      async (bytes) => {
        const response = await post(Buffer.from(bytes));
        assert.ok([200, 400].includes(response.status), String(response.status));
      },
    ),
    { numRuns: 500 },
  );
  const slow = '{"wallet":"'.padEnd(4_000, '\\"');
  const before = process.cpuUsage();
  await refused(slow);
  assert.ok(process.cpuUsage(before).user < 50_000);
});

test.run();
