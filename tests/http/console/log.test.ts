/**
 * Goal: the log has who did what and when for every action of the console, each once, with how
 * it ended. Method: every action of the table of pages, over HTTP, by two operators.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { logName } from "../../../src/http/console/page.ts";
import { actionWords } from "../../../src/http/console/words.ts";
import { recordRevision } from "../../../src/store/whole-record.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import {
  CONSOLE,
  type Fields,
  sendPlain,
  signInOperator,
  type Visitor,
} from "./browser-session.ts";
import { ACTIONS } from "./table-of-pages.ts";

interface Context {
  service: Service;
  ada: Visitor;
  grace: Visitor;
}

const test = suite<Context>("/ops/log");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const [ada, grace] = [await signInOperator(service), await signInOperator(service, "Grace")];
  Object.assign(context, { service, ada, grace });
});
test.after(({ service }) => service.close());

/** What each action is done with, by its path; later ones stand on earlier ones. */
async function formsOf({ service, ada }: Context): Promise<readonly (readonly [string, Fields])[]> {
  const voter = await signIn(service, await newWallet(service, { a: 1 }));
  const { body } = await cast(service, voter, "event/meetup");
  await service.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5', 41, 'transaction unknown')`;
  await ada.post("/ops/keys/issue", { name: "Partner" });
  await ada.post("/ops/seasons/add", { name: "Past", starts: "2020-01-01", ends: "2020-02-01" });
  const [key] = await service.sql`select id from api_key where name = 'Partner'`;
  const [season] = await service.sql`select id from season`;
  const pass = { wallet: "0.0.1001", season: season?.id };
  const [event] = await service.sql`
    select ${recordRevision(service.sql)} as seen from event as record where id = 'meetup'`;
  return [
    ["/publishing/redrive", { star: body.star.id }],
    ["/publishing/resolve", { finding: "1" }],
    ["/holdings/dry-run", {}],
    ["/holdings/run", { confirmed: "yes" }],
    ["/catalogue/reject", { type: "event", view: "shown", only: "meetup" }],
    ["/catalogue/approve", { type: "event", view: "waiting", only: "meetup", ...event }],
    ["/seasons/add", { name: "Next", starts: "2090-01-01", ends: "2090-02-01" }],
    ["/premium/grant", pass],
    ["/premium/revoke", pass],
    ["/xp/credit", { wallet: "0.0.1001", points: "5", reason: "Quest", id: "quest" }],
    ["/keys/issue", { name: "Another" }],
    ["/keys/revoke", { id: key?.id }],
    ["/operators/add", { name: "Linus", role: "viewer" }],
    ["/operators/revoke", { name: "Linus" }],
  ];
}

test("every action is written down: who, what, when, before and after", async (context) => {
  const { service, grace } = context;
  const forms = await formsOf(context);
  assert.deepEqual(
    forms.map(([path]) => path).sort(),
    ACTIONS.map(({ path }) => path).sort(),
    "an action is missing here",
  );
  for (const [path, fields] of forms) {
    const before = Date.now();
    const { status } = await grace.post(`/ops${path}`, fields);
    assert.ok(status === 303 || status === 200, `${path}: ${status}`);
    const name = logName({ path });
    const lines = await service.sql`
      select phase, operator, subject, at, action_id from operator_log
      where action = ${name} and operator = 'environment (Grace)' order by id`;
    assert.deepEqual(
      lines.map(({ phase }) => phase),
      ["started", "done"],
      path,
    );
    assert.equal(lines[0]?.action_id, lines[1]?.action_id);
    assert.ok(lines[0]?.subject !== "" && lines[0]?.subject === lines[1]?.subject, path);
    for (const { at } of lines) assert.ok(at >= before - 1_000 && at <= Date.now() + 1_000, path);
  }
  const { text } = await grace.get("/ops/log");
  assert.match(text, />Reason: Quest</);
  for (const name of ACTIONS.map(logName)) {
    const byGrace = text
      .split("<tr")
      .filter((row) => row.includes(">environment (Grace)<") && row.includes(`title="${name}"`));
    assert.equal(byGrace.length, 1, `${name} stands there once`);
    assert.notEqual(actionWords(name), name, `${name} has no words`);
    assert.match(byGrace[0] ?? "", /badge good">done/);
    assert.match(byGrace[0] ?? "", /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  }
});

test("the log is exported whole, a line of JSON for each row", async ({ service, ada }) => {
  await service.sql`
    insert into operator_log (action_id, phase, operator, origin, action, subject)
    select gen_random_uuid(), 'done', 'root', 'command', 'keys.revoke', n::text
    from generate_series(1, 2100) n`;
  const reply = await ada.get("/ops/log.ndjson");
  assert.equal(reply.headers.get("content-type"), "application/x-ndjson");
  const lines = reply.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [count] = await service.sql`select count(*) as rows from operator_log`;
  assert.equal(lines.length, count?.rows);
  const credit = lines.find(({ action, phase }) => action === "xp.credit" && phase === "done");
  assert.deepEqual([credit.operator, credit.reason], ["environment (Grace)", "Quest"]);
  assert.match(credit.origin, /^10\.0\.0\.\d+$/);
  assert.match(credit.at, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  assert.equal((await sendPlain(service, "/ops/log.ndjson")).status, 401);
});

test("an act without an end is shown as `started`", async ({ service, ada }) => {
  await service.sql`
    insert into operator_log (action_id, phase, operator, session_id, action, subject, notice, details)
    select gen_random_uuid(), 'started', 'Eve', session_id, 'keys.revoke', 'a key', '', '{}'
    from operator_log limit 1`;
  const { text } = await ada.get("/ops/log");
  const [row] = text.split("<tr").filter((one) => one.includes(">Eve<"));
  assert.match(row ?? "", /started<\/span> How it ended is not known\./);
});

test.run();
