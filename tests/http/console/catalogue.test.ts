/**
 * Goal: records are approved and rejected one by one and many at once, and a long list is walked
 * without repeating or skipping any. Method: the page over HTTP, a real web process.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { recordRevision } from "../../../src/store/whole-record.ts";
import { type Service, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
  /** What the page's form holds of each record. */
  list: { type: string; view: string; seen: string[] };
}

const test = suite<Context>("/ops/catalogue");
const RECORDS = 120;

test.before(async (context) => {
  const service = await startService(CONSOLE);
  await service.sql`delete from project`;
  await service.sql`
    insert into project (id, slug, name, category, created_at)
    select 'p' || n, 'p' || n, 'Project ' || n, 'DEFI', 0 from generate_series(1, ${RECORDS}) n`;
  const rows = await service.sql`
    select ${recordRevision(service.sql)} as revision from project as record`;
  const list = { type: "project", view: "waiting", seen: rows.map(({ revision }) => revision) };
  Object.assign(context, { service, operator: await signInOperator(service), list });
});
test.before.each(async ({ service }) => {
  await service.sql`update project set approved_at = null`;
});
test.after(({ service }) => service.close());

const approved = async ({ sql }: Service): Promise<string[]> =>
  (
    await sql<{ id: string }[]>`select id from project where approved_at is not null order by id`
  ).map(({ id }) => id);

test("one click approves one record, and rejects it again", async ({ service, operator, list }) => {
  const reply = await operator.post("/ops/catalogue/approve", { ...list, only: "p7", id: "p8" });
  assert.equal(reply.status, 303);
  assert.deepEqual(await approved(service), ["p7"]);
  const [done] = await logOf(service.sql, "catalogue.approve");
  assert.deepEqual([done?.phase, done?.subject], ["done", "project/p7"]);
  const shown = await operator.get("/ops/catalogue?type=project&view=shown");
  assert.match(shown.text, /value="p7"/);
  assert.match(shown.text, /<details class="ask"><summary[^>]*>Reject the chosen ones …</);
  const form = { type: "project", view: "shown", only: "p7" };
  const hidden = await operator.post("/ops/catalogue/reject", form);
  const next = hidden.headers.get("location") ?? "";
  assert.match(next, /type=project&view=shown&/);
  const { text } = await operator.get(next);
  assert.match(text, /p7 is hidden; its stars stay\./);
  assert.deepEqual(await approved(service), []);
});

test("a small price is shown with its digits", async ({ service, operator }) => {
  await service.sql`
    insert into token (id, symbol, name, price, market_cap, icon_url, created_at)
    values ('0.0.9900', 'S', 'Small', 0.0000004, 12345678.25, 'javascript:alert(1)', 0)`;
  const { text } = await operator.get("/ops/catalogue?type=token&view=waiting");
  assert.match(text, /<dd>javascript:alert\(1\)<\/dd>/);
  assert.match(text, /<dt>Price<\/dt><dd>0\.0000004<\/dd>/);
  assert.match(text, /<dt>Market cap<\/dt><dd>12,345,678\.25<\/dd>/);
});

test("chosen records are approved together; unknown ones are named", async ({
  service,
  operator,
  list,
}) => {
  const id = ["p1", "p2", "p3", "absent"];
  const reply = await operator.post("/ops/catalogue/approve", { ...list, id });
  assert.deepEqual(await approved(service), ["p1", "p2", "p3"]);
  const { text } = await operator.get(reply.headers.get("location") ?? "");
  assert.match(text, /3 records are shown and can be starred now\. 1 could not be found\./);
  const [done] = await logOf(service.sql, "catalogue.approve");
  assert.deepEqual(done?.details, { type: "project", ids: ["p1", "p2", "p3"] });
  const unknown = await operator.post("/ops/catalogue/approve", { ...list, only: "absent" });
  assert.equal(unknown.status, 404);
});

test("all on a page are approved by one button, whatever is chosen, and none that is not listed", async ({
  service,
  operator,
  list,
}) => {
  const { text } = await operator.get("/ops/catalogue?type=project");
  assert.match(text, /<th [^>]*aria-label="Choose"><\/th>.*<th [^>]*aria-label="Decide"><\/th>/);
  const listed = [...text.matchAll(/name="listed" value="([^"]+)"/g)].map(([, id = ""]) => id);
  assert.equal(listed.length, 50);
  await operator.post("/ops/catalogue/approve", { ...list, id: "p1", listed, every: "yes" });
  assert.deepEqual(await approved(service), [...listed].sort());
  const [done] = await logOf(service.sql, "catalogue.approve");
  assert.deepEqual([done?.phase, done?.operator], ["done", "environment (Ada)"]);
  assert.deepEqual(done?.subject, "50 of type project");
});

test("a refused form comes back with its list and its choices", async ({ operator, list }) => {
  const none = await operator.post("/ops/catalogue/approve", list);
  assert.equal(none.status, 400);
  assert.match(none.text, /Choose at least one record\./);
  // Enter in a check box presses the form's first button.
  assert.match(
    none.text,
    /<form class="list"[^>]*><input[^>]*><button hidden name="only"><\/button>/,
  );
  const entered = await operator.post("/ops/catalogue/approve", { ...list, id: "p1", only: "" });
  assert.match(entered.text, /Press the button of a record, or the one below the list\./);
  const many = Array.from({ length: 51 }, (_, n) => `p${n + 1}`);
  const over = await operator.post("/ops/catalogue/approve", { ...list, id: many });
  assert.match(over.text, /Records are chosen by their ids, up to 50 at once\./);
  assert.match(none.text, /Project 1</);
  const unseen = await operator.post("/ops/catalogue/approve", { ...list, seen: [], id: "p1" });
  assert.equal(unseen.status, 400);
  assert.match(unseen.text, /The form lacks the field seen: /);
  const bad = await operator.post("/ops/catalogue/approve", { ...list, id: ["p1", "<b>"] });
  assert.match(bad.text, /value="p1" aria-label="Choose Project 1" checked/);
});

test("an approval is of the record that was seen: one that an import has changed meanwhile comes back as it is now", async ({
  service,
  operator,
  list,
}) => {
  const path = "/ops/catalogue?type=project";
  const first = await operator.get(path);
  const after = /after=(p\d+)/.exec(first.text)?.[1] ?? "";
  const { text } = await operator.get(`${path}&after=${after}`);
  const fieldsOf = (page: string, name: string): string[] =>
    [...page.matchAll(new RegExp(`name="${name}" value="([^"]+)"`, "g"))].map(
      ([, one = ""]) => one,
    );
  const [changed = "", other = ""] = fieldsOf(text, "listed");
  const form = { ...list, after: fieldsOf(text, "after"), seen: fieldsOf(text, "seen") };
  const importAgain = (name: string) =>
    importCatalog(
      service.sql,
      { projects: [{ id: changed, slug: changed, name, category: "DEFI" }] },
      { approve: false, eventSources: [] },
    );
  await importAgain("Another name");
  const one = await operator.post("/ops/catalogue/approve", { ...form, only: changed });
  assert.equal(one.status, 400);
  assert.match(
    one.text,
    new RegExp(`Changed since you saw it, and so not approved: ${changed}\\.`),
  );
  assert.match(one.text, /Another name</);
  const both = await operator.post("/ops/catalogue/approve", { ...form, id: [changed, other] });
  const { text: notice } = await operator.get(both.headers.get("location") ?? "");
  assert.match(notice, new RegExp(`${other} is shown .* not approved: ${changed}\\.`));
  assert.deepEqual(await approved(service), [other]);
  // Imported again without a change, it is the one that was seen.
  await importAgain("Another name");
  const seen = fieldsOf(one.text, "seen");
  await operator.post("/ops/catalogue/approve", { ...form, seen, only: changed });
  assert.deepEqual(await approved(service), [changed, other].sort());
});

test("all pages together show every waiting record once", async ({ operator }) => {
  const seen: string[] = [];
  let path: string | undefined = "/ops/catalogue?type=project";
  while (path !== undefined) {
    const { text } = await operator.get(path);
    seen.push(...[...text.matchAll(/name="id" value="([^"]+)"/g)].map(([, id = ""]) => id));
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  assert.deepEqual([seen.length, new Set(seen).size], [RECORDS, RECORDS]);
});

test.run();
