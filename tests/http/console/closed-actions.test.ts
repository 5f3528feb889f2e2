/**
 * Goal: what operators can do is closed to everybody else, and a form that makes no sense is
 * refused in words. Method: every action of the table of pages, over HTTP.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { addOperator } from "../../../src/keys/operators.ts";
import { newWallet, type Service, signIn, startService } from "../../support/service.ts";
import { CONSOLE, sendForm, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";
import { ACTIONS } from "./table-of-pages.ts";

interface Context {
  service: Service;
  operator: Visitor;
  voter: string;
  key: string;
}

const test = suite<Context>("/ops actions are the operators'");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const voter = await signIn(service, await newWallet(service, { a: 1 }));
  const { key } = await issueKey(service.sql, "a consumer");
  const operator = await signInOperator(service);
  Object.assign(context, { service, voter, key, operator });
});
test.after(({ service }) => service.close());

const linesOf = async ({ sql }: Service): Promise<number> =>
  (await sql`select count(*) as lines from operator_log where action not like 'session.%'`)[0]
    ?.lines;

test("no action runs for guests, voters, key holders or bearers of the operator token", async (context) => {
  const { service, voter, key } = context;
  assert.ok(ACTIONS.length >= 12);
  for (const { path } of ACTIONS) {
    for (const bearer of [undefined, voter, key, TOKEN]) {
      const headers: Record<string, string> = bearer
        ? { authorization: `Bearer ${bearer}`, cookie: `starboard-operator=${bearer}` }
        : {};
      const reply = await sendForm(service, `/ops${path}`, { token: "x" }, headers);
      assert.equal(reply.status, 401, `${path} for ${bearer}`);
    }
  }
  assert.equal(await linesOf(service), 0);
});

test("no action runs by a form of another page, session or site", async ({ service, operator }) => {
  const stranger = await signInOperator(service, "Eve");
  const own = /name="token" value="([^"]+)"/.exec((await operator.get("/ops")).text)?.[1] ?? "";
  for (const { path } of ACTIONS) {
    const attempts = [
      await operator.post(`/ops${path}`, { token: "" }),
      await stranger.post(`/ops${path}`, { token: own }),
      await operator.post(`/ops${path}`, {}, { origin: "https://evil.example" }),
      await operator.post(`/ops${path}`, {}, { "sec-fetch-site": "cross-site" }),
    ];
    const statuses = attempts.map(({ status }) => status);
    assert.deepEqual(statuses, [403, 403, 403, 403], path);
  }
  assert.equal(await linesOf(service), 0);
});

test("an empty or senseless form is refused on its own page, in words, and leaves no line", async ({
  service,
  operator,
}) => {
  const senseless = {
    ...{ id: "'; drop", name: " ", only: "../x", type: "planet", star: "x", finding: "x" },
    ...{ wallet: "<script>alert(1)</script>", season: "x", points: "1e9", reason: "x" },
    ...{ starts: "2026-02-31", ends: "soon" },
  };
  for (const { path, page } of ACTIONS.filter(({ path }) => path !== "/holdings/dry-run")) {
    for (const fields of [{}, senseless]) {
      const reply = await operator.post(`/ops${path}`, fields);
      assert.equal(reply.status, 400, `${path} of ${page}`);
      assert.match(reply.text, /class="notice bad" role="status">[A-Z0-9<&]/, path);
      assert.match(reply.text, /<nav class="pages"/);
      assert.ok(!reply.text.includes("<script>alert"), path);
    }
  }
  assert.equal(await linesOf(service), 0);
});

test("operators publish again, check holdings and approve; admins do the rest", () => {
  const ofOperators = ACTIONS.filter(({ role }) => role === "operator").map(({ path }) => path);
  assert.deepEqual(ofOperators.sort(), [
    "/catalogue/approve",
    "/holdings/dry-run",
    "/holdings/run",
    "/publishing/redrive",
  ]);
  const ofAdmins = ACTIONS.filter(({ role }) => role === "admin").map(({ path }) => path);
  for (const path of [
    "/catalogue/reject",
    "/publishing/resolve",
    "/keys/issue",
    "/operators/add",
  ]) {
    assert.ok(ofAdmins.includes(path), path);
  }
  assert.equal(ofOperators.length + ofAdmins.length, ACTIONS.length);
});

test("what a role does not allow has no form on the pages, and is refused by a page that names the role", async ({
  service,
}) => {
  const allowed = { viewer: [], operator: ["operator"] };
  for (const role of ["viewer", "operator"] as const) {
    const { token } = await addOperator(service.sql, { name: `a ${role}`, role });
    const visitor = await signInOperator(service, "", token);
    for (const { path, page, role: needs } of ACTIONS) {
      const isAllowed = [...allowed[role]].some((one) => one === needs);
      const reply = await visitor.post(`/ops${path}`, {});
      assert.equal(reply.status === 403, !isAllowed, `${path} for a ${role}: ${reply.status}`);
      const shown = await visitor.get(`/ops${page}`);
      assert.equal(shown.status, 200);
      if (isAllowed) continue;
      assert.match(reply.text, new RegExp(`needs the role <strong>${needs}</strong>`), path);
      assert.ok(!shown.text.includes(`action="/ops${path}"`), `${page} has the form of ${path}`);
    }
  }
});

test.run();
