/**
 * Goal: what publishing waits for is shown in words; re-driving a star only ends its delay; a
 * finding is set aside once. Method: the pages over HTTP.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { reportAlarms } from "../../../src/publishing/alarms.ts";
import { FINDING_KINDS } from "../../../src/publishing/reconciliation-findings.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
  star: string;
}

const test = suite<Context>("/ops/publishing");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const voter = await signIn(service, await newWallet(service, { a: 1 }));
  const { body } = await cast(service, voter, "event/meetup");
  Object.assign(context, { service, operator: await signInOperator(service), star: body.star.id });
});
test.after(({ service }) => service.close());

const outboxOf = async ({ sql }: Service) =>
  (await sql`select state, tries, next_try_at, last_error, transaction_id from outbox`)[0];

test("a star that waits says why in words; re-driving ends its delay and nothing else", async ({
  service,
  operator,
  star,
}) => {
  const later = Date.now() + 600_000;
  await service.sql`update outbox set next_try_at = ${later}, tries = 3, last_error = 'BUSY'`;
  const { text } = await operator.get("/ops/publishing");
  assert.match(text, /The network is busy \(BUSY\); next try <time[^>]*>in 10 min/);
  const before = await outboxOf(service);
  const wakes = service.wakes();
  const reply = await operator.post("/ops/publishing/redrive", { star });
  assert.equal(reply.status, 303);
  assert.deepEqual(await outboxOf(service), { ...before, next_try_at: 0 });
  assert.equal(service.wakes(), wakes + 1);
  const [last, first] = await logOf(service.sql, "publishing.redrive");
  assert.deepEqual([first?.phase, last?.phase, last?.subject], ["started", "done", star]);
  const saidAfter = async (row: object): Promise<string> => {
    await service.sql`update outbox set ${service.sql(row)}`;
    const next = await operator.post("/ops/publishing/redrive", { star });
    return (await operator.get(next.headers.get("location") ?? "")).text;
  };
  assert.match(
    await saidAfter({ tries: 4 }),
    /: its next try is now\. It goes on where it stands /,
  );
  const inHand = { lease_owner: randomUUID(), lease_until: Date.now() + 600_000 };
  assert.match(
    await saidAfter(inHand),
    /: a worker has it in hand until .*: nothing was changed\./,
  );
  const published = await saidAfter({
    ...{
      state: "published",
      topic_id: "0.0.5",
      sequence_number: 1,
      transaction_id: "0.0.2@1.000000000",
    },
    ...{ consensus_timestamp: "1.000000000", running_hash: "" },
  });
  assert.match(published, /: it is on the ledger already, nothing was done\./);
  const unknown = await operator.post("/ops/publishing/redrive", {
    star: "01a1f8c0-0000-7000-8000-000000000000",
  });
  assert.equal(unknown.status, 404);
  assert.match(unknown.text, /There is no star 01a1f8c0/);
});

test("a finding is explained in words and set aside once", async ({ service, operator }) => {
  await service.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5', 41, 'transaction unknown')`;
  assert.match(
    (await operator.get("/ops/publishing")).text,
    /a message that Starboard did not send/,
  );
  const finding = "1";
  const asked = 'aria-label="Set aside finding 1"';
  assert.ok((await operator.get("/ops/publishing")).text.includes(asked));
  assert.equal((await operator.post("/ops/publishing/resolve", { finding })).status, 303);
  assert.ok(!(await operator.get("/ops/publishing")).text.includes(asked));
  const [row] = await service.sql`select resolved_at from publishing_finding`;
  assert.ok(row?.resolved_at > 0);
  assert.equal((await operator.post("/ops/publishing/resolve", { finding })).status, 404);
  const phases = (await logOf(service.sql, "publishing.resolve")).map(({ phase }) => phase);
  assert.deepEqual(phases, ["failed", "started", "done", "started"]);
});

test("every alarm and every kind of finding is said in words", async ({ service, operator }) => {
  const since = performance.now();
  const reasons = ["journal-behind", "topics-unread", "machine-contradiction"];
  await reportAlarms(
    service.sql,
    randomUUID(),
    reasons.map((reason) => ({ reason, subject: "", detail: "", since })),
  );
  await service.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    select kind, '0.0.5', row_number() over () + 100, '' from unnest(${[...FINDING_KINDS]}::text[]) kind`;
  const { text } = await operator.get("/ops/publishing");
  const [, alarms] = /Alarms of the workers(.*?)<\/table>/s.exec(text) ?? [];
  const [, findings] = /Where the topics differ(.*?)<\/table>/s.exec(text) ?? [];
  for (const reason of reasons) assert.ok(!alarms?.includes(`</span> ${reason}<`), reason);
  for (const kind of FINDING_KINDS) assert.ok(!findings?.includes(`</span> ${kind} <`), kind);
  const rows = findings?.split("<tr").slice(2) ?? [];
  const lost = rows.filter((row) => row.includes("Lost: "));
  const open = rows.filter((row) => row.includes("Set aside finding"));
  assert.deepEqual([lost.length, open.length], [1, FINDING_KINDS.length - 1]);
});

test.run();
