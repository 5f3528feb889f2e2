/**
 * Goal: the voting API's document says what the service does. Method: the document is held against
 * the table it is made from and the routes that are served; every operation is asked for its success
 * and its refusals, and each reply must be one that the table has.
 */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { suite } from "uvu";
import { z } from "zod";
import { signChallenge } from "../../../src/cli/demo-wallet.ts";
import { examples, refusalExample } from "../../../src/http/voting/examples.ts";
import {
  codesOf,
  type Operation,
  type OperationName,
  operations,
} from "../../../src/http/voting/operations.ts";
import { type VotingDeps, votingRoutes } from "../../../src/http/voting/routes.ts";
import { refusalSchemas } from "../../../src/http/voting/schemas.ts";
import {
  newKey,
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { PROMISED_HEADERS } from "../v1/contract.ts";

const table: Readonly<Record<string, Operation>> = operations;
const NOTHING = "0198f2a0-0000-7000-8000-000000000000";

const test = suite<{ service: Service }>("voting document");
test.before(async (context) => {
  context.service = await startService({ PUBLIC_URL: "https://stars.example" });
});
test.after((context) => context.service.close());

interface Documented {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: object }>
  >;
}

test("every route is in the table and in the document, and nothing else is", async ({
  service,
}) => {
  const { body } = await send(service, "GET /voting/openapi.json");
  assert.equal(body.openapi, "3.1.0");
  assert.deepEqual(body.servers, [{ url: "https://stars.example/voting" }]);
  const documented = Object.entries<Record<string, Documented>>(body.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, method, path]),
  );
  const tabled = Object.entries(table).map(([name, { method, path }]) => [
    name,
    method.toLowerCase(),
    path,
  ]);
  assert.deepEqual(documented.sort(), tabled.sort());
  const deps = { config: { publicUrl: "https://x.example" }, network: "local" };
  // Only the routes are looked at: none is called.
  const app = new Hono().route("/", votingRoutes(deps as unknown as VotingDeps));
  const served = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
  const wanted = Object.entries(table)
    .filter(([name]) => name !== "followLive")
    .map(([, { method, path }]) => `${method} ${path}`);
  assert.deepEqual([...new Set(served)].sort(), wanted.sort());
});

test("every example is one that the operation would take or give", () => {
  for (const [name, row] of Object.entries(table)) {
    const { request, reply } = examples[name as OperationName];
    assert.equal(request === undefined, row.body === undefined, name);
    row.body?.parse(request);
    if (reply !== undefined) row.response?.parse(reply);
  }
  for (const [code, schema] of Object.entries(refusalSchemas)) {
    schema.parse(refusalExample(code as keyof typeof refusalSchemas));
  }
});

test("each operation names its refusals by status, and what it needs", async ({ service }) => {
  const { body } = await send(service, "GET /voting/openapi.json");
  for (const [name, row] of Object.entries(table)) {
    const shown: Documented = body.paths[row.path][row.method.toLowerCase()];
    const text = Object.values(shown.responses)
      .map(({ description }) => description)
      .join("\n");
    for (const code of [...codesOf(row), "METHOD_NOT_ALLOWED"]) {
      assert.match(text, new RegExp(`\\b${code}:`), name);
    }
    assert.equal(shown.security.length > 0, row.session, name);
  }
  const { parameters } = body.paths["/items"].get;
  const type = parameters.find((parameter: { name: string }) => parameter.name === "type");
  assert.deepEqual([type.required, type.schema.enum.length], [true, 4]);
  const cast = body.paths["/stars"].post;
  assert.equal(cast.parameters[0].name, "Idempotency-Key");
  const sent = cast.requestBody.content["application/json"].schema;
  assert.deepEqual([sent.required, sent.additionalProperties], [["target"], false]);
  const refusals = body.components.schemas.Refusal.properties.code.enum;
  for (const code of ["ALREADY_STARRED", "METHOD_NOT_ALLOWED", "JOURNAL_BEHIND"])
    assert.ok(refusals.includes(code));
});

test("what can be asked for again by its ETag is documented so, and the headers of a success", async ({
  service,
}) => {
  const { body } = await send(service, "GET /voting/openapi.json");
  const token = await signIn(service, await newWallet(service));
  const queries: Partial<Record<string, string>> = {
    listItems: "?type=token",
    previewStar: "?type=token&id=0.0.9001",
  };
  for (const [name, { method, path }] of Object.entries(table)) {
    if (method !== "GET" || path.includes("{") || name === "followLive") continue;
    const request = `GET /voting${path}${queries[name] ?? ""}`;
    const first = await send(service, request, { token });
    const tag = first.headers.get("etag");
    const { responses }: Documented = body.paths[path].get;
    assert.equal("ETag" in Object(responses[200]?.headers), tag !== null, name);
    assert.equal(304 in responses, tag !== null, name);
    if (tag === null) continue;
    const again = await send(service, request, { token, headers: { "if-none-match": tag } });
    assert.equal(again.status, 304, name);
    const named = Object.keys(responses[304]?.headers ?? {});
    const promised = PROMISED_HEADERS.filter((header) => again.headers.has(header));
    assert.deepEqual(named, promised, name);
  }
  const { responses }: Documented = body.paths["/stars"].post;
  assert.ok("Idempotent-Replayed" in Object(responses[201]?.headers));
  for (const path of ["/sessions", "/sessions/current"]) {
    const ends: Documented = body.paths[path].delete;
    assert.ok("Set-Cookie" in Object(ends.responses[204]?.headers), path);
  }
});

const plain = z.strictObject({ error: z.string(), code: z.string() });

/** Holds a reply against the table. @returns its code; "OK" for a success */
function judge(name: OperationName, reply: Reply): string {
  const row = table[name];
  assert.ok(row);
  if (reply.status < 300) {
    assert.equal(reply.status, row.status, name);
    if (row.response === null) assert.equal(reply.text, "");
    else row.response.parse(reply.body);
    return "OK";
  }
  const { code } = reply.body;
  assert.ok([...codesOf(row), "METHOD_NOT_ALLOWED"].includes(code), `${name}: ${code}`);
  const rich = code in refusalSchemas ? refusalSchemas[code as keyof typeof refusalSchemas] : plain;
  rich.parse(reply.body);
  return code;
}

/** What no request brings about here: faults of ours, and limits that other tests reach. */
const UNSEEN = ["INTERNAL", "UNAVAILABLE", "RATE_LIMITED", "JOURNAL_BEHIND"];

test("real replies of every operation are those of the document, successes and refusals", async ({
  service,
}) => {
  const seen = new Map<string, Set<string>>();
  const document = (await send(service, "GET /voting/openapi.json")).body;
  const ask = async (
    name: OperationName,
    given: Parameters<typeof send>[2] & { readonly query?: string; readonly id?: string } = {},
  ): Promise<Reply> => {
    const { query = "", id = NOTHING, ...rest } = given;
    const row = table[name];
    const reply = await send(
      service,
      `${row?.method} /voting${row?.path.replace("{id}", id)}${query}`,
      rest,
    );
    seen.set(name, (seen.get(name) ?? new Set()).add(judge(name, reply)));
    if (row === undefined) return reply;
    const shown: Documented = document.paths[row.path][row.method.toLowerCase()];
    const named = Object.keys(shown.responses[reply.status]?.headers ?? {});
    for (const header of PROMISED_HEADERS) {
      const isNamed = !reply.headers.has(header) || named.includes(header);
      assert.ok(isNamed, `${name} ${reply.status}: ${header} is not in the document`);
    }
    return reply;
  };
  const wallet = await newWallet(service, { a: 2, b: 1 });
  const token = await signIn(service, wallet);

  for (const [name, row] of Object.entries(table) as [OperationName, Operation][]) {
    const json = row.body === undefined ? {} : { json: {} };
    await ask(name, { ...json, token, query: "?unknown=1" });
    if (row.body !== undefined) {
      await ask(name, { token, json: {} });
      await ask(name, { token, body: "x", headers: { "content-type": "text/plain" } });
      const long = { wallet: "x".repeat(5_000) };
      await ask(name, { token, json: long });
    }
    if (!row.session) continue;
    await ask(name, json);
    await ask(name, { ...json, token: "t".repeat(43) });
  }

  const starred = { type: "token", id: "0.0.9001" };
  await ask("readVotingOpenApi");
  await ask("readConfig");
  for (const type of ["event", "token", "collection", "project"])
    await ask("listItems", { query: `?type=${type}` });
  await ask("readAllowance", { token });
  await ask("listStars", { token });
  await ask("previewStar", { token, query: "?type=token&id=0.0.9001" });
  await ask("previewStar", { token, query: "?type=token&id=0.0.1" });
  await ask("castStar", { token, json: { target: { type: "token", id: "0.0.1" } } });
  const headers = { "idempotency-key": "one" };
  const { body } = await ask("castStar", { token, json: { target: starred }, headers });
  await ask("readStar", { id: body.star.id });
  await ask("readStar");
  const other = { target: { type: "event", id: "meetup" } };
  await ask("castStar", { token, json: { target: starred } });
  await ask("castStar", { token, json: other, headers });
  service.hedera.mirror.faults.inject({ kind: "fail", status: 500 });
  await ask("castStar", { token, json: other });
  await ask("previewStar", { token, query: "?type=event&id=meetup" });
  service.hedera.mirror.faults.heal();
  for (const id of ["0.0.9002", "0.0.9003", "0.0.9004", "0.0.9005", "0.0.9006"])
    await ask("castStar", { token, json: { target: { type: "token", id } } });

  await ask("startSignIn", { json: { wallet: "0.0.999999999999" } });
  const challenge = async (id: string) => (await ask("startSignIn", { json: { wallet: id } })).body;
  const asked = await challenge(wallet.id);
  const signed = { challengeId: asked.id, ...signChallenge(wallet, asked.message) };
  const opened = await ask("openSession", { json: signed });
  await ask("openSession", { json: signed });
  const { id } = await challenge(wallet.id);
  await ask("openSession", { json: { ...signed, challengeId: id } });
  const unknown = await challenge(`0x${"cd".repeat(20)}`);
  await ask("openSession", { json: { ...signed, challengeId: unknown.id } });
  const contract = await service.hedera.ledger.createAccount({
    key: newKey("ecdsa").publicKey,
    evmAddress: "ef".repeat(20),
    isContract: true,
  });
  const unfit = await challenge(contract);
  await ask("openSession", { json: { ...signed, challengeId: unfit.id } });
  await ask("endSession", { token: opened.body.token });
  await ask("endSessions", { token });

  for (const [name, row] of Object.entries(table)) {
    const wanted = new Set(["OK", ...codesOf(row).filter((code) => !UNSEEN.includes(code))]);
    // Its success is a stream, which `live.test.ts` reads.
    if (name === "followLive") wanted.delete("OK");
    assert.deepEqual([...(seen.get(name) ?? [])].sort(), [...wanted].sort(), name);
  }
});

test.run();
