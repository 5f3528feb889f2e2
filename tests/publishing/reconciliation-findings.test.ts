/**
 * Goal: whatever differs between outbox and topics is written down, once. Method: the rig's ledger
 * says things that no star of ours said, in each of the ways there are; the topics are read; then
 * the table is held against what was done.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { acceptLoss, journalStatus } from "../../src/publishing/journal-behind.ts";
import { publishStar } from "../../src/publishing/publish-star.ts";
import { publishingState } from "../../src/publishing/publishing-state.ts";
import {
  auditTopics,
  countFindings,
  lastFindings,
  resolveFinding,
} from "../../src/publishing/reconciliation-findings.ts";
import { eachOnRig, type Rig, TOPICS, textOf } from "./rig.ts";

const test = suite("findings");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

let strangers = 0;
const kindsOf = async (): Promise<readonly string[]> =>
  (await lastFindings(rig.sql, 100)).map(({ kind }) => kind).reverse();
const say = (message: string, topicId: string = TOPICS.event): void =>
  rig.ledger.foreign(`0.0.666@1795161600.${String(++strangers).padStart(9, "0")}`, {
    topicId,
    message,
  });

test("a topic of stars only gives no finding, however often it is audited", async () => {
  for (let i = 0; i < 5; i++) await rig.box(i % 2 === 0 ? "event" : "asset");
  await rig.publisher().run();
  assert.equal(await auditTopics(rig.sql, Object.values(TOPICS)), 5);
  assert.equal(await auditTopics(rig.sql, Object.values(TOPICS)), 0);
  assert.deepEqual(await kindsOf(), []);
});

test("what others put on a topic is foreign, or malformed, and noticed while nothing is awaited", async () => {
  await rig.box();
  await rig.publisher().run();
  say("hello");
  say("{}");
  say(textOf("event", 1_700_000_000_000));
  for (let i = 0; i < 2; i++) await rig.publisher().context.readToEnd(TOPICS.event);
  await auditTopics(rig.sql, [TOPICS.event]);
  assert.deepEqual(await kindsOf(), ["malformed", "malformed", "foreign"]);
  const [newest] = await lastFindings(rig.sql, 1);
  assert.deepEqual(
    [newest?.topicId, newest?.sequenceNumber, newest?.starId],
    [TOPICS.event, 4, null],
  );
});

test("a star's text a second time is a duplicate, on another topic it is the wrong topic", async () => {
  const starId = await rig.box();
  await rig.publisher().run();
  const text = rig.ledger.messages[0]?.bytes.toString() ?? "";
  say(text);
  say(text, TOPICS.asset);
  for (const topicId of Object.values(TOPICS)) await rig.publisher().context.readToEnd(topicId);
  assert.deepEqual([...(await kindsOf())].sort(), ["duplicate", "wrong topic"]);
  for (const finding of await lastFindings(rig.sql, 2)) assert.equal(finding.starId, starId);
});

test("our message of a star that waits is the star's own, and no finding of any kind", async () => {
  const starId = await rig.box();
  const { message = "" } =
    (await rig.sql<{ message: string }[]>`select message from outbox`)[0] ?? {};
  const transactionId = "0.0.1002@1795161599.000000007";
  rig.ledger.foreign(transactionId, { topicId: TOPICS.event, message });
  await rig.publisher().context.readToEnd(TOPICS.event);
  const row = await rig.row(starId);
  const [said] = rig.ledger.messages;
  assert.deepEqual(
    [row.state, row.topic_id, row.transaction_id, row.sequence_number],
    ["published", TOPICS.event, transactionId, 1],
  );
  assert.deepEqual(
    [row.consensus_timestamp, row.running_hash],
    [said?.consensusTimestamp, said?.runningHash],
  );
  assert.deepEqual(await kindsOf(), []);
  await rig.publisher().run();
  assert.equal(rig.ledger.messages.length, 1);
});

test("a stranger's message with the text of a star that waits is foreign, not on the wrong topic", async () => {
  const starId = await rig.box();
  const { message = "" } =
    (await rig.sql<{ message: string }[]>`select message from outbox`)[0] ?? {};
  say(message);
  await rig.publisher().context.readToEnd(TOPICS.event);
  assert.deepEqual(await kindsOf(), ["foreign"]);
  assert.equal((await rig.row(starId)).state, "pending");
});

test("a message of ours without a star is lost, until the loss is accepted", async () => {
  rig.ledger.foreign("0.0.1002@1795161599.000000008", {
    topicId: TOPICS.asset,
    message: textOf("asset", 1_700_000_000_001),
  });
  await rig.publisher().context.readToEnd(TOPICS.asset);
  assert.deepEqual(await kindsOf(), ["lost"]);
  const { state, lost, topics } = await journalStatus(rig.sql);
  assert.deepEqual([state, lost, topics.map((topic) => topic.lost)], ["behind", 1, [0, 1]]);
  assert.equal(await acceptLoss(rig.sql), 1);
  const after = await journalStatus(rig.sql);
  assert.deepEqual([after.state, after.topics.map(({ known }) => known)], ["ok", [0, 1]]);
});

test("our id with other bytes is written down, and the star still gets its message", async () => {
  const starId = await rig.box();
  const dies = rig.publisher({ at: "pub.bytes_stored", hit: 1 });
  await dies.run().catch(() => undefined);
  const { transaction_id: transactionId } = await rig.row(starId);
  rig.ledger.foreign(transactionId ?? "", { topicId: TOPICS.event, message: "other" });
  await rig.publisher().run();
  assert.deepEqual(await kindsOf(), ["wrong bytes"]);
  assert.equal((await rig.row(starId)).state, "published");
});

test("a message that came after all, under an id that was given up, is a duplicate", async () => {
  const starId = await rig.box();
  rig.ledger.standingFault = { kind: "dropped" };
  const publisher = rig.publisher();
  await publisher.step();
  const { transaction_id: givenUp } = await rig.row(starId);
  rig.ledger.standingFault = undefined;
  rig.ledger.advance(200);
  await publisher.run();
  assert.equal((await rig.row(starId)).state, "published");
  const message = rig.ledger.messages[0]?.bytes.toString() ?? "";
  rig.ledger.foreign(givenUp ?? "", { topicId: TOPICS.event, message });
  await publisher.context.readToEnd(TOPICS.event);
  assert.deepEqual(await kindsOf(), ["duplicate"]);
  assert.deepEqual(rig.alarms, ["returned"]);
});

test("a published star's id on another topic is on the wrong topic", async () => {
  const starId = await rig.box();
  await rig.publisher().run();
  const { transaction_id: transactionId } = await rig.row(starId);
  const message = rig.ledger.messages[0]?.bytes.toString() ?? "";
  rig.ledger.foreign(transactionId ?? "", { topicId: TOPICS.asset, message });
  await rig.publisher().context.readToEnd(TOPICS.asset);
  assert.deepEqual(await kindsOf(), ["wrong topic"]);
  assert.equal((await rig.row(starId)).topic_id, TOPICS.event);
});

test("another message in the place of a published star has the wrong bytes", async () => {
  await rig.box();
  await rig.publisher().run();
  rig.ledger.messages.length = 0;
  say(textOf("event", 1_700_000_000_002));
  await rig.sql`update topic_reading set sequence_number = 0, running_hash = null
    where topic_id = ${TOPICS.event}`;
  await rig.publisher().context.readToEnd(TOPICS.event);
  assert.deepEqual(
    (await kindsOf()).filter((kind) => kind !== "broken chain"),
    ["wrong bytes"],
  );
});

test("a message that its receipt contradicts is a finding", async () => {
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  const starId = await rig.box();
  await rig.publisher().step();
  const [message] = rig.ledger.messages;
  assert.ok(message);
  rig.ledger.messages[0] = { ...message, runningHash: Buffer.alloc(48).toString("base64") };
  rig.ledger.mirrorStandsAt = undefined;
  await rig.publisher().context.readToEnd(TOPICS.event);
  assert.deepEqual([...(await kindsOf())].sort(), ["broken chain", "contradiction"]);
  assert.equal((await rig.row(starId)).state, "sent");
});

test("a running hash that does not follow is a broken chain", async () => {
  await rig.box();
  await rig.publisher().run();
  for (const text of ["a", "b", "c", "d"]) say(text);
  const { messages } = rig.ledger;
  const [wrong] = messages.splice(2, 1);
  assert.ok(wrong);
  messages.splice(2, 0, { ...wrong, runningHash: Buffer.alloc(48, 1).toString("base64") });
  await rig.publisher().context.readToEnd(TOPICS.event);
  const broken = (await lastFindings(rig.sql, 100)).filter(({ kind }) => kind === "broken chain");
  // Neither does it follow from the one before, nor the next one from it.
  assert.deepEqual(
    broken.map(({ sequenceNumber }) => sequenceNumber),
    [4, 3],
  );
});

test("a message that was read without a finding is found by the audit of the topics", async () => {
  for (let i = 0; i < 3; i++) await rig.box();
  await rig.publisher().run();
  // As an earlier release left it: the stranger's message was read without a finding.
  say("hello");
  await rig.sql`update topic_reading set sequence_number = 4 where topic_id = ${TOPICS.event}`;
  assert.equal(await auditTopics(rig.sql, [TOPICS.event], 2), 2);
  assert.deepEqual(await kindsOf(), []);
  assert.equal(await auditTopics(rig.sql, [TOPICS.event], 2), 2);
  assert.equal((await lastFindings(rig.sql, 1))[0]?.sequenceNumber, 4);
  assert.deepEqual(await kindsOf(), ["missing"]);
});

test("an overdue star is a finding until it is published, which resolves it", async () => {
  const starId = await rig.box();
  // As in ten minutes from its instant on.
  for (let i = 0; i < 2; i++) await rig.sql`select note_missing_stars(1_795_161_700_000, 10)`;
  assert.deepEqual(await kindsOf(), ["missing"]);
  assert.equal((await publishingState(rig.sql)).findings, 1);
  await rig.publisher().run();
  await auditTopics(rig.sql, Object.values(TOPICS));
  const state = await publishingState(rig.sql);
  assert.deepEqual([state.findings, state.lastFindings[0]?.starId], [0, starId]);
  assert.ok(state.lastFindings[0]?.resolvedAt);
});

test("of many overdue stars the oldest are findings, and the next ones when those are published", async () => {
  const stars = [await rig.box(), await rig.box(), await rig.box()];
  const note = () => rig.sql`select note_missing_stars(1_795_161_700_000, 2)`;
  const openStars = async () =>
    (await lastFindings(rig.sql, 0)).map(({ starId }) => starId).reverse();
  for (let i = 0; i < 3; i++) await note();
  assert.deepEqual(await openStars(), stars.slice(0, 2));
  const publisher = rig.publisher();
  const [oldest] = await publisher.lease();
  assert.ok(oldest);
  await publishStar(publisher.context, oldest);
  await publisher.context.readToEnd(TOPICS.event);
  for (let i = 0; i < 2; i++) await note();
  assert.deepEqual(await openStars(), stars.slice(1));
});

test("an open finding is shown, however many newer ones are resolved", async () => {
  await rig.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail, resolved_at)
    select 'foreign', ${TOPICS.event}, n, '', case when n > 30 then 1 end from generate_series(1, 60) n`;
  const { findings, lastFindings: shown } = await publishingState(rig.sql);
  const from = (first: number, last: number): number[] =>
    Array.from({ length: first - last + 1 }, (_, index) => first - index);
  assert.equal(findings, 30);
  assert.deepEqual(
    shown.map(({ sequenceNumber }) => sequenceNumber),
    [...from(30, 1), ...from(60, 41)],
  );
});

test("a finding stands: it can be set aside once, and never be changed or deleted", async () => {
  say("hello");
  await rig.publisher().context.readToEnd(TOPICS.event);
  const [finding] = await lastFindings(rig.sql, 1);
  assert.ok(finding);
  assert.equal(await resolveFinding(rig.sql, finding.id), true);
  assert.equal(await resolveFinding(rig.sql, finding.id), false);
  assert.equal((await countFindings(rig.sql)).size, 0);
  await assert.rejects(rig.sql`update publishing_finding set resolved_at = null`, /resolved, once/);
  await assert.rejects(rig.sql`update publishing_finding set detail = ''`, /resolved, once/);
  await assert.rejects(rig.sql`delete from publishing_finding`, /append-only/);
});

test.run();
