/**
 * Goal: a key issued at the console works, is shown once, stands nowhere, and stops working when
 * it is revoked. Method: the page over HTTP, a real web process, its database.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { type Reply, type Service, send, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
}

const EVIL = "<script>alert(1)</script>";
const test = suite<Context>("/ops/keys");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  Object.assign(context, { service, operator: await signInOperator(service, "Ada") });
});
test.after(({ service }) => service.close());

async function issue({ service, operator }: Context, name: string) {
  const reply = await operator.post("/ops/keys/issue", { name });
  const key = /starboard_live_[0-9A-Za-z]{36}/.exec(reply.text)?.[0] ?? "";
  const [row] = await service.sql`select id, name from api_key order by created_at desc limit 1`;
  return { reply, key, id: String(row?.id), name: row?.name };
}

const works = async ({ service }: Context, key: string): Promise<number> =>
  (await send(service, "GET /v1/tokens/top", { token: key })).status;

test("a key is shown once, works, and is written down nowhere", async (context) => {
  const { service, operator } = context;
  const { reply, key, id } = await issue(context, "Consumer");
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.equal(await works(context, key), 200);
  for (const path of ["/ops/keys", "/ops/log"]) {
    assert.ok(!(await operator.get(path)).text.includes(key), path);
  }
  const [last, first] = await logOf(service.sql, "keys.issue");
  assert.deepEqual(
    [first?.phase, first?.operator, first?.subject],
    ["started", "environment (Ada)", "Consumer"],
  );
  assert.deepEqual([last?.phase, last?.details], ["done", { id }]);
  const rows = await service.sql`select row_to_json(api_key) as row from api_key`;
  const log = await service.sql`select row_to_json(operator_log) as row from operator_log`;
  assert.ok(!JSON.stringify([rows, log]).includes(key));
});

test("it is revoked after a confirmation, and refused at once", async (context) => {
  const { service, operator } = context;
  const { key, id } = await issue(context, "Gone soon");
  const rowOf = ({ text }: Reply) =>
    text.split("<tr").find((row) => row.includes("Gone soon")) ?? "";
  const question = await operator.get("/ops/keys");
  assert.match(rowOf(question), />works<[\s\S]*<details class="ask">[\s\S]*cannot be brought back/);
  assert.equal(await works(context, key), 200);
  const reply = await operator.post("/ops/keys/revoke", { id });
  assert.equal(reply.status, 303);
  assert.equal(await works(context, key), 401);
  const after = await operator.get(reply.headers.get("location") ?? "");
  assert.match(after.text, /is revoked/);
  assert.match(rowOf(after), />revoked</);
  assert.doesNotMatch(rowOf(after), />works<|<form/);
  assert.deepEqual(
    (await logOf(service.sql, "keys.revoke")).map(({ phase, subject }) => [phase, subject]),
    [
      ["done", id],
      ["started", id],
    ],
  );
  const unknown = await operator.post("/ops/keys/revoke", {
    id: "01a1f8c0-0000-7000-8000-000000000000",
  });
  assert.equal(unknown.status, 404);
  assert.match(unknown.text, /No key has this id\./);
  assert.equal((await logOf(service.sql, "keys.revoke"))[0]?.phase, "failed");
});

test("a bad name is named at its field, and stays as it was typed", async ({ operator }) => {
  const long = `${EVIL}${"x".repeat(300)}`;
  const reply = await operator.post("/ops/keys/issue", { name: long });
  assert.equal(reply.status, 400);
  assert.match(reply.text, /id="field-name"[^>]*aria-invalid="true"/);
  assert.match(reply.text, /value="&lt;script&gt;alert\(1\)&lt;\/script&gt;x{300}"/);
  assert.match(reply.text, /class="flaw" id="field-name-flaw">A name has up to 300 characters/);
  const emoji = await operator.post("/ops/keys/issue", { name: "🎉".repeat(300) });
  assert.equal(emoji.status, 200, "characters are counted, as the database counts them");
});

test("markup in a name shows as text", async (context) => {
  const { reply } = await issue(context, EVIL);
  const pages = await Promise.all(
    ["/ops/keys", "/ops/log"].map((path) => context.operator.get(path)),
  );
  for (const { text } of [reply, ...pages]) {
    assert.ok(!text.includes(EVIL));
    assert.ok(text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
  }
});

test("many keys are listed page by page, newest first, each once", async (context) => {
  const { service, operator } = context;
  // Their ids are dated by machines, of which one is ahead; two each are of one instant.
  await service.sql`
    insert into api_key (id, name, prefix, hash, created_at)
    select ('0' || 1 + n % 2 || '000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Old ' || n, 'starboard_live_',
      sha256(n::text::bytea), n / 2 from generate_series(1, 120) n`;
  const names: string[] = [];
  let pages = 0;
  for (let path: string | undefined = "/ops/keys"; path !== undefined; pages += 1) {
    const { text } = await operator.get(path);
    names.push(...[...text.matchAll(/>Old (\d+)</g)].map(([, n = ""]) => n));
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1];
  }
  assert.ok(pages >= 3);
  assert.deepEqual(
    names.map(Number),
    Array.from({ length: 120 }, (_, n) => 120 - n),
  );
  assert.equal((await operator.get("/ops/keys?before=x")).status, 400);
  // The place of a database that went back in time since: from the newest key on.
  const gone = await operator.get("/ops/keys?before=01a1f8c0-0000-7000-8000-000000000000");
  assert.match(gone.text, />Old 120</);
});

test.run();
