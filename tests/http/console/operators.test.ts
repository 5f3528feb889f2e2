/**
 * Goal: admins add operators at the console, see their token once, and revoke them at once; others
 * neither see nor do it. Method: the page over HTTP, a real web process, its database.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { addOperator } from "../../../src/keys/operators.ts";
import { type Service, send, startService } from "../../support/service.ts";
import { setUp } from "../../support/set-up.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
}
const test = suite<Context>("/ops/operators");
test.before(
  setUp(async (context) => {
    context.service = await startService(CONSOLE);
    context.operator = await signInOperator(context.service, "Ada");
  }),
);
test.after(({ service }) => service?.close());

const doorOf = async ({ service }: Context, token: string): Promise<number> =>
  (await send(service, "GET /ops/api/health", { token })).status;

test("an operator is added with a role, signs in by the token shown once, and is revoked", async (context) => {
  const { service, operator } = context;
  const added = await operator.post("/ops/operators/add", { name: "Bea", role: "viewer" });
  assert.equal(added.status, 200);
  assert.equal(added.headers.get("cache-control"), "no-store");
  const token = /<code class="secret">([^<]+)</.exec(added.text)?.[1] ?? "";
  assert.equal(await doorOf(context, token), 200);
  const list = await operator.get("/ops/operators");
  assert.match(list.text, /Bea/);
  assert.ok(!list.text.includes(token));

  const revoked = await operator.post("/ops/operators/revoke", { name: "Bea" });
  assert.equal(revoked.status, 303);
  assert.equal(await doorOf(context, token), 401);
  for (const [action, details] of [
    ["operators.add", { role: "viewer" }],
    ["operators.revoke", {}],
  ] as const) {
    const lines = await logOf(service.sql, action);
    assert.deepEqual(
      lines.map((line) => [line.phase, line.operator, line.subject]),
      ["done", "started"].map((phase) => [phase, "environment (Ada)", "Bea"]),
    );
    assert.deepEqual(lines[0]?.details, details);
  }
  const stored = await service.sql`select row_to_json(operator_log) as row from operator_log`;
  assert.ok(!JSON.stringify(stored).includes(token));
});

test("a taken name and an invalid role are named at their fields", async ({ operator }) => {
  await operator.post("/ops/operators/add", { name: "Cem", role: "operator" });
  const taken = await operator.post("/ops/operators/add", { name: "Cem", role: "viewer" });
  assert.equal(taken.status, 400);
  assert.match(taken.text, /id="field-name-flaw">There is an operator Cem already/);
  const role = await operator.post("/ops/operators/add", { name: "Dov", role: "king" });
  assert.equal(role.status, 400);
  assert.match(role.text, /id="field-role-flaw">/);
});

test("only admins see, add and revoke operators", async ({ service }) => {
  const { token } = await addOperator(service.sql, { name: "Eve", role: "operator" });
  const eve = await signInOperator(service, "Eve", token);
  const page = await eve.get("/ops/operators");
  assert.match(page.text, /needs the role admin/);
  assert.ok(!page.text.includes("Cem"));
  for (const path of ["add", "revoke"]) {
    const reply = await eve.post(`/ops/operators/${path}`, { name: "Eve", role: "admin" });
    assert.equal(reply.status, 403, path);
  }
});

test.run();
