import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { ReadLimits } from "../../src/ledger/mirror/limits.ts";
import { beginReading } from "../../src/publishing/confirm.ts";
import type { PublishFailpoint } from "../../src/publishing/context.ts";
import { readTransaction } from "../../src/publishing/prove-absence.ts";
import { publishStar } from "../../src/publishing/publish-star.ts";
import type { Attempt } from "../../src/publishing/shared-steps.ts";
import { Crash, clockIsSetBack, eachOnRig, type Rig, TOPICS, textOf, timePasses } from "./rig.ts";

const test = suite<Rig>("publish a star");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

async function assertPublished(starId: string, sequence = 1): Promise<void> {
  const row = await rig.row(starId);
  const message = rig.ledger.messages.find(
    (each) => each.chunk?.transactionId === row.transaction_id,
  );
  assert.equal(row.state, "published");
  assert.equal(row.sequence_number, sequence);
  assert.equal(row.topic_id, message?.topicId);
  assert.equal(row.consensus_timestamp, message?.consensusTimestamp);
  assert.equal(row.running_hash, message?.runningHash);
}

test("a star goes from pending to published, its row copied from the mirror node's", async () => {
  const starId = await rig.box("asset");
  await rig.publisher().run({ steps: 1 });
  await assertPublished(starId);
  assert.deepEqual(rig.ledger.texts(TOPICS.asset), [textOf("asset", 1_795_161_600_000)]);
  assert.deepEqual(rig.ledger.texts(TOPICS.event), []);
  const [attempt] = await rig.attempts(starId);
  assert.deepEqual(attempt, {
    outcome: "published",
    sends: 1,
    refusals: 0,
    evidence: "0.0.7002 #1",
  });
});

test("after a lost answer the message that landed is found, not sent again under another id", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  const starId = await rig.box();
  await rig.publisher().run({ steps: 2 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a message that reached no node is sent again, the same bytes, until it lands", async () => {
  rig.ledger.sendFaults.push({ kind: "dropped" }, { kind: "vanished" }, { kind: "dropped" });
  const starId = await rig.box();
  await rig.publisher().run();
  await assertPublished(starId);
  assert.equal((await rig.attempts(starId)).length, 1);
});

test("DUPLICATE after a crash is settled by the receipt of the same id", async () => {
  const starId = await rig.box();
  await assert.rejects(rig.publisher({ at: "pub.after_submit", hit: 1 }).run());
  // The answer was never seen, and no node has a receipt yet: the bytes are sent once more.
  rig.ledger.receiptsAway = true;
  const [star] = await secondLease();
  assert.ok(star);
  rig.ledger.receiptsAway = false;
  await rig.publisher().run({ steps: 3 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

async function secondLease() {
  await timePasses(rig.sql);
  return rig.publisher().lease();
}

test("BUSY and UNAVAILABLE keep the star on its only id", async () => {
  for (let i = 0; i < 3; i++) rig.ledger.sendFaults.push({ kind: "refused", status: "BUSY" });
  const starId = await rig.box();
  await rig.publisher().run();
  await assertPublished(starId);
  assert.deepEqual(
    (await rig.attempts(starId)).map(({ sends, refusals }) => [sends, refusals]),
    [[4, 3]],
  );
});

test("THROTTLED_AT_CONSENSUS waits until the id is over, and then takes another", async () => {
  rig.ledger.sendFaults.push({ kind: "failed", status: "THROTTLED_AT_CONSENSUS" });
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.run({ steps: 5, seconds: 5 });
  assert.equal((await rig.row(starId)).state, "sent");
  assert.equal((await rig.attempts(starId)).length, 1);
  await publisher.run({ steps: 20, seconds: 10 });
  await assertPublished(starId);
  assert.deepEqual(
    (await rig.attempts(starId)).map(({ outcome }) => outcome),
    ["failed", "published"],
  );
});

test("an id that ran out before it was ever sent is replaced at once", async () => {
  const starId = await rig.box();
  await assert.rejects(rig.publisher({ at: "pub.bytes_stored", hit: 1 }).run());
  rig.ledger.advance(600);
  await rig.publisher().run({ steps: 1 });
  await assertPublished(starId);
  assert.deepEqual(
    (await rig.attempts(starId)).map(({ outcome, sends }) => [outcome, sends]),
    [
      ["never sent", 0],
      ["published", 1],
    ],
  );
});

for (const off of [-86_400, -3_600, -100, -15, 5, 30, 3_600, 86_400]) {
  test(`a clock ${off} s from the ledger's costs refusals and stops nothing`, async () => {
    rig.clockOff = off;
    const starId = await rig.box();
    await rig.publisher().run({ steps: 4 });
    await assertPublished(starId);
    assert.equal(rig.ledger.messages.length, 1);
    const outcomes = (await rig.attempts(starId)).map(({ outcome }) => outcome);
    assert.ok(outcomes.slice(0, -1).every((outcome) => outcome === "refused"));
    assert.ok(outcomes.length <= 32, `${outcomes.length} ids`);
  });
}

test("a mirror node that is behind delays the confirmation, and nothing else", async () => {
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.run({ steps: 10, seconds: 100 });
  assert.equal((await rig.row(starId)).state, "sent");
  assert.equal(rig.ledger.messages.length, 1);
  assert.deepEqual(rig.alarms, []);
  rig.ledger.mirrorStandsAt = undefined;
  await publisher.run({ steps: 1 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a mirror node that is away delays the confirmation, and sending goes on", async () => {
  rig.ledger.mirrorAway = true;
  const stars = [await rig.box(), await rig.box()];
  const publisher = rig.publisher();
  await publisher.run({ steps: 3 });
  assert.equal(rig.ledger.messages.length, 2);
  rig.ledger.mirrorAway = false;
  await publisher.run({ steps: 1 });
  for (const [i, starId] of stars.entries()) await assertPublished(starId, i + 1);
});

test("an unanswered message on a busy topic is proved absent by a later message", async () => {
  rig.ledger.sendFaults.push({ kind: "vanished" });
  rig.ledger.receiptsAway = true;
  const lost = await rig.box();
  const publisher = rig.publisher();
  // Sent once, then everything is silent until its time is over.
  await publisher.step();
  rig.ledger.advance(130);
  rig.ledger.receiptsAway = false;
  const later = await rig.box();
  await publisher.step();
  await assertPublished(later);
  assert.equal((await rig.row(lost)).state, "pending");
  await publisher.run({ steps: 2 });
  await assertPublished(lost, 2);
  const [first] = await rig.attempts(lost);
  assert.equal(first?.outcome, "absent");
});

test("a later message proves nothing about an id whose time is not over", async () => {
  rig.ledger.sendFaults.push({ kind: "vanished" });
  rig.ledger.receiptsAway = true;
  const waiting = await rig.box();
  const publisher = rig.publisher();
  await publisher.step();
  rig.ledger.advance(60);
  rig.ledger.receiptsAway = false;
  const later = await rig.box();
  await publisher.step();
  await assertPublished(later);
  assert.equal((await rig.row(waiting)).state, "sent");
  await publisher.run({ steps: 3 });
  assert.equal((await rig.attempts(waiting)).length, 1);
  await assertPublished(waiting, 2);
});

test("a replica with a hole in the topic proves nothing about what lies in the hole", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  const landed = await rig.box();
  const publisher = rig.publisher();
  for (const star of await publisher.lease()) await publishStar(publisher.context, star);
  rig.ledger.mirrorLacks.add(String((await rig.row(landed)).transaction_id));
  rig.ledger.advance(200);
  rig.ledger.receiptsAway = false;
  const later = await rig.box();
  await publisher.run({ steps: 6, seconds: 1 });
  assert.equal((await rig.row(landed)).state, "sent");
  rig.ledger.mirrorLacks.clear();
  await publisher.run({ steps: 2 });
  await assertPublished(landed);
  await assertPublished(later, 2);
  assert.equal(rig.ledger.messages.length, 2);
});

test("a row that says DUPLICATE proves that there was another one, not that there was none", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.step();
  const [success] = rig.ledger.effects.splice(0);
  assert.ok(success);
  rig.ledger.effects.push({ ...success, status: "DUPLICATE_TRANSACTION", at: rig.ledger.now });
  rig.ledger.mirrorStandsAt = rig.ledger.now + 1n;
  const [message] = rig.ledger.messages.splice(0);
  assert.ok(message);
  rig.ledger.advance(150);
  await publisher.run({ steps: 4, seconds: 1 });
  assert.equal((await rig.attempts(starId)).length, 1);
  rig.ledger.effects.unshift(success);
  rig.ledger.messages.push(message);
  rig.ledger.mirrorStandsAt = undefined;
  await publisher.run({ steps: 2 });
  await assertPublished(starId);
});

for (const status of ["INSUFFICIENT_PAYER_BALANCE", "TRANSACTION_EXPIRED", "INVALID_SIGNATURE"]) {
  test(`after an unanswered send, ${status} from another node proves nothing`, async () => {
    rig.ledger.sendFaults.push({ kind: "answer lost" }, { kind: "refused", status });
    rig.ledger.receiptsAway = true;
    rig.ledger.mirrorStandsAt = rig.ledger.now;
    const starId = await rig.box();
    const publisher = rig.publisher();
    await publisher.step();
    const row = await rig.row(starId);
    assert.equal(row.state, "sent");
    assert.equal(row.lease_owner, null);
    assert.equal(row.last_error, status);
    rig.ledger.mirrorStandsAt = undefined;
    await publisher.run({ steps: 2 });
    await assertPublished(starId);
    assert.equal(rig.ledger.messages.length, 1);
  });
}

/** Three stars get so far; then the network has other nodes than those that they were signed for. */
async function signForOtherNodes(at: PublishFailpoint): Promise<readonly string[]> {
  const stars = [await rig.box(), await rig.box(), await rig.box()];
  const worker = rig.publisher((name) => {
    if (name === at) throw new Crash(name);
  });
  for (const star of await worker.lease()) {
    await assert.rejects(publishStar(worker.context, star), Crash);
  }
  await timePasses(rig.sql);
  for (const starId of stars) {
    rig.ledger.strayed.add((await rig.row(starId)).transaction_id ?? "");
  }
  return stars;
}

test("stars that were signed for other nodes and not sent are signed anew, and keep no newer one waiting", async () => {
  const old = await signForOtherNodes("pub.bytes_stored");
  const newer = await rig.box();
  await rig.publisher().step();
  for (const starId of [...old, newer]) assert.equal((await rig.row(starId)).state, "published");
  assert.equal(rig.ledger.messages.length, 4);
});

for (const kind of ["answer lost", "dropped"] as const) {
  test(`stars that were sent to other nodes, ${kind}, are signed anew where they are proved absent, and keep no newer one waiting`, async () => {
    rig.ledger.receiptsAway = true;
    rig.ledger.mirrorStandsAt = rig.ledger.now;
    rig.ledger.sendFaults.push({ kind }, { kind }, { kind });
    const old = await signForOtherNodes("pub.after_submit");
    const newer = await rig.box();
    const publisher = rig.publisher();
    await publisher.run({ steps: 3, seconds: 1 });
    assert.equal((await rig.row(newer)).state, "sent");
    for (const starId of old) assert.equal((await rig.attempts(starId)).length, 1);
    rig.ledger.receiptsAway = false;
    rig.ledger.mirrorStandsAt = undefined;
    rig.ledger.advance(200);
    await publisher.run();
    for (const starId of [...old, newer]) assert.equal((await rig.row(starId)).state, "published");
    assert.equal((await rig.attempts(String(old[0]))).length, kind === "dropped" ? 2 : 1);
    assert.equal(rig.ledger.messages.length, 4);
  });
}

test("on a quiet topic absence takes a block a minute later and three rounds", async () => {
  const starId = await rig.box();
  const publisher = rig.publisher();
  rig.ledger.standingFault = { kind: "dropped" };
  await publisher.step();
  rig.ledger.advance(130);
  rig.ledger.standingFault = undefined;
  // The mirror node has not come a minute past its end: nothing is proved.
  for (let i = 0; i < 5; i++) await nextRound(publisher);
  assert.deepEqual(await openRounds(starId), [0]);
  rig.ledger.advance(60);
  await nextRound(publisher);
  // Rounds a moment apart are one, and put the next one off no further.
  for (const [ms, rounds] of [
    [0, 1],
    [1_000, 1],
    [4_000, 2],
  ] as const) {
    await rig.sql`update publish_attempt set absence_at = absence_at - ${ms}`;
    await rig.sql`update outbox set next_try_at = 0`;
    await publisher.step();
    assert.deepEqual(await openRounds(starId), [rounds]);
  }
  assert.equal(rig.ledger.messages.length, 0);
  await nextRound(publisher);
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a round of before Postgres' clock was set back keeps none waiting, and counts no more than once", async () => {
  const starId = await rig.box();
  const publisher = rig.publisher();
  rig.ledger.standingFault = { kind: "dropped" };
  await publisher.step();
  rig.ledger.advance(190);
  rig.ledger.standingFault = undefined;
  await nextRound(publisher);
  assert.deepEqual(await openRounds(starId), [1]);
  await clockIsSetBack(rig.sql, 3_600_000);
  // How far apart they are is not known: this one dates the round anew.
  await rig.sql`update outbox set next_try_at = 0, lease_until = 0`;
  await publisher.step();
  assert.deepEqual(await openRounds(starId), [1]);
  await rig.sql`update publish_attempt set absence_at = absence_at - 5000`;
  await rig.sql`update outbox set next_try_at = 0`;
  await publisher.step();
  assert.deepEqual(await openRounds(starId), [2]);
});

async function nextRound(publisher: ReturnType<Rig["publisher"]>): Promise<void> {
  await timePasses(rig.sql);
  await publisher.step();
}

async function openRounds(starId: string): Promise<readonly number[]> {
  const rows = await rig.sql<{ absence_rounds: number }[]>`
    select absence_rounds from publish_attempt where star_id = ${starId} and closed_at is null`;
  return rows.map((row) => row.absence_rounds);
}

test("a message that landed unseen is never proved absent, however late the mirror node shows it", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.run({ steps: 30, seconds: 20 });
  assert.equal((await rig.attempts(starId)).length, 1);
  rig.ledger.mirrorStandsAt = undefined;
  await publisher.run({ steps: 2 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a message that the topic lacked is looked for once more before it is absent", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  const starId = await rig.box();
  const publisher = rig.publisher();
  for (const star of await publisher.lease()) await publishStar(publisher.context, star);
  const { mirrorLacks } = rig.ledger;
  const lacking = String((await rig.row(starId)).transaction_id);
  rig.ledger.advance(400);
  // Two replicas behind one address: the old one shows the topic, the new one is asked after it.
  const { mirror } = publisher.context;
  const { transactions } = mirror;
  let looks = 0;
  Object.assign(mirror, {
    async transactions(...asked: Parameters<typeof transactions>) {
      if (looks++ % 2 === 1) mirrorLacks.delete(lacking);
      const rows = await transactions(...asked);
      mirrorLacks.add(lacking);
      return rows;
    },
  });
  mirrorLacks.add(lacking);
  for (let i = 0; i < 5; i++) await nextRound(publisher);
  assert.equal((await rig.attempts(starId)).length, 1);
  Object.assign(mirror, { transactions });
  mirrorLacks.clear();
  await publisher.run({ steps: 2 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("how far one mirror node has come proves nothing of what another one lacks", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  const starId = await rig.box();
  const publisher = rig.publisher();
  const before = rig.ledger.now;
  for (const star of await publisher.lease()) await publishStar(publisher.context, star);
  rig.ledger.advance(400);
  const { mirror } = publisher.context;
  const { newestBlock, topicMessages, transactions } = mirror;
  // The first node answers for blocks alone, the second one for all, and that one is behind.
  const first = {};
  const bySecond =
    <Asked extends [string, ...unknown[]], T>(read: (...asked: Asked) => Promise<T>) =>
    async (...asked: Asked): Promise<T> => {
      const { oneNode } = asked.at(-1) as ReadLimits;
      if (oneNode?.node === first) throw new MirrorError("busy", "HTTP 500");
      return read(...asked);
    };
  Object.assign(mirror, {
    async newestBlock(limits: ReadLimits) {
      if (limits.oneNode !== undefined) limits.oneNode.node ??= first;
      rig.ledger.mirrorStandsAt = undefined;
      const block = await newestBlock(limits);
      rig.ledger.mirrorStandsAt = before;
      return block;
    },
    topicMessages: bySecond(topicMessages),
    transactions: bySecond(transactions),
  });
  rig.ledger.mirrorStandsAt = before;
  for (let i = 0; i < 5; i++) await nextRound(publisher);
  assert.equal((await rig.attempts(starId)).length, 1);
  Object.assign(mirror, { newestBlock, topicMessages, transactions });
  rig.ledger.mirrorStandsAt = undefined;
  await publisher.run({ steps: 2 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a message sent to a topic of earlier settings is settled there", async () => {
  rig.ledger.sendFaults.push({ kind: "answer lost" });
  rig.ledger.receiptsAway = true;
  rig.ledger.mirrorAway = true;
  const landed = await rig.box();
  await rig.publisher().run({ steps: 1 });
  assert.equal((await rig.row(landed)).state, "sent");
  rig.ledger.mirrorAway = false;
  rig.ledger.advance(200);
  rig.topics = { ...TOPICS, event: "0.0.7003" };
  await beginReading(rig.sql, "0.0.7003");
  const newer = await rig.box();
  await rig.publisher().run({ steps: 8, seconds: 30 });
  assert.equal((await rig.row(landed)).topic_id, TOPICS.event);
  assert.equal((await rig.row(newer)).topic_id, "0.0.7003");
  await assertPublished(landed);
  await assertPublished(newer);
  assert.equal(rig.ledger.messages.length, 2);
});

/** Changes the topic of a star that waits with an id of the one before. @param first how that id ended, and its sends */
async function assertGoesToNewTopic(starId: string, first: readonly [string, number]) {
  assert.equal((await rig.row(starId)).topic_id, TOPICS.event);
  rig.topics = { ...TOPICS, event: "0.0.7003" };
  await beginReading(rig.sql, "0.0.7003");
  await rig.publisher().run();
  assert.equal((await rig.row(starId)).topic_id, "0.0.7003");
  await assertPublished(starId);
  assert.deepEqual(
    (await rig.attempts(starId)).map(({ outcome, sends }) => [outcome, sends]),
    [first, ["published", 1]],
  );
}

for (const step of ["pub.id_reserved", "pub.bytes_stored"] as const) {
  test(`a star that waits with an id of earlier settings, left at ${step}, goes to the new topic`, async () => {
    const starId = await rig.box();
    await assert.rejects(rig.publisher({ at: step, hit: 1 }).run());
    await assertGoesToNewTopic(starId, ["never sent", 0]);
  });
}

test("a star that nodes were too busy to take before the topics were changed goes to the new topic", async () => {
  rig.ledger.sendFaults.push({ kind: "refused", status: "BUSY" });
  const starId = await rig.box();
  await rig.publisher().run({ steps: 1 });
  await assertGoesToNewTopic(starId, ["refused", 1]);
});

test("another sender's message under the star's id never counts as the star's", async () => {
  const starId = await rig.box();
  await assert.rejects(rig.publisher({ at: "pub.bytes_stored", hit: 1 }).run());
  const { transaction_id: stolen } = await rig.row(starId);
  rig.ledger.foreign(String(stolen), { topicId: TOPICS.event, message: "not ours" });
  await rig.publisher().run({ steps: 3 });
  await assertPublished(starId, 2);
  assert.deepEqual(rig.ledger.texts(), ["not ours", textOf("event", 1_795_161_600_000)]);
  assert.deepEqual(rig.alarms, ["foreign"]);
});

test("an id that another sender used up for something else is given up, with an alarm", async () => {
  const starId = await rig.box();
  await assert.rejects(rig.publisher({ at: "pub.bytes_stored", hit: 1 }).run());
  const { transaction_id: stolen } = await rig.row(starId);
  rig.ledger.foreign(String(stolen), { topicId: "0.0.98" });
  await rig.publisher().run({ steps: 3 });
  await assertPublished(starId);
  assert.deepEqual(rig.alarms, ["foreign"]);
  const [first] = await rig.attempts(starId);
  assert.match(String(first?.evidence), /CRYPTOTRANSFER of 0\.0\.98/);
});

test("a mirror node that contradicts the receipt publishes nothing and raises an alarm", async () => {
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.step();
  const [message] = rig.ledger.messages;
  assert.ok(message);
  rig.ledger.messages[0] = { ...message, runningHash: Buffer.alloc(48).toString("base64") };
  rig.ledger.mirrorStandsAt = undefined;
  await publisher.run({ steps: 3 });
  assert.equal((await rig.row(starId)).state, "sent");
  assert.ok(rig.alarms.includes("contradicts"));
  // Once the mirror node tells the truth, the star is read again and done.
  rig.ledger.messages[0] = message;
  await publisher.run({ steps: 2 });
  await assertPublished(starId);
  assert.equal(rig.ledger.messages.length, 1);
});

test("a refusal that only a person can cure stops the queue, probes, and goes on when cured", async () => {
  rig.ledger.standingFault = { kind: "refused", status: "INSUFFICIENT_PAYER_BALANCE" };
  const stars = [];
  for (let i = 0; i < 20; i++) stars.push(await rig.box());
  const publisher = rig.publisher();
  await publisher.step();
  assert.deepEqual(rig.alarms, ["configuration"]);
  assert.equal(rig.ledger.sends, 1);
  rig.ledger.standingFault = undefined;
  await publisher.run({ steps: 3, seconds: 5 });
  for (const starId of stars) assert.equal((await rig.row(starId)).state, "published");
  assert.equal(rig.ledger.messages.length, 20);
});

test("an outage of all nodes burns a few ids, not one per star", async () => {
  rig.ledger.standingFault = { kind: "dropped" };
  rig.ledger.receiptsAway = true;
  for (let i = 0; i < 50; i++) await rig.box();
  const publisher = rig.publisher();
  await publisher.step();
  const [{ sent = 0 } = {}] = await rig.sql<{ sent: number }[]>`
    select count(*) as sent from publish_attempt where sends > 0`;
  assert.ok(sent <= 5, `${sent} stars sent in vain`);
  rig.ledger.standingFault = undefined;
  rig.ledger.receiptsAway = false;
  await publisher.run({ steps: 4, seconds: 5 });
  assert.equal(new Set(rig.ledger.texts()).size, 50);
  assert.equal(rig.ledger.messages.length, 50);
});

/** Another node's copy of a star's bytes takes effect. */
async function otherCopyLands(starId: string): Promise<void> {
  const { transaction_id: id } = await rig.row(starId);
  const [row] = await rig.sql<[{ message: string }]>`
    select message from outbox where star_id = ${starId}`;
  rig.ledger.foreign(String(id), { topicId: TOPICS.event, message: row.message });
}

for (const status of ["DUPLICATE_TRANSACTION", "INVALID_NODE_ACCOUNT", "INVALID_PAYER_SIGNATURE"]) {
  test(`the receipt ${status} of one node's copy proves nothing about another's`, async () => {
    const starId = await rig.box();
    const publisher = rig.publisher();
    rig.ledger.mirrorStandsAt = rig.ledger.now;
    rig.ledger.sendFaults.push({ kind: "failed", status });
    await publisher.step();
    await otherCopyLands(starId);
    rig.ledger.mirrorStandsAt = undefined;
    await timePasses(rig.sql);
    await publisher.step();
    // The topic goes on: another star, after the first one's time.
    rig.ledger.advance(200);
    await rig.box();
    await publisher.run({ steps: 6, seconds: 30 });
    await assertPublished(starId);
    assert.equal(rig.ledger.messages.length, 2);
  });

  test(`nor does its row ${status}, while the mirror node is behind`, async () => {
    const starId = await rig.box();
    const publisher = rig.publisher();
    rig.ledger.sendFaults.push({ kind: "failed", status });
    await publisher.step();
    rig.ledger.mirrorStandsAt = rig.ledger.now;
    rig.ledger.advance(2);
    await otherCopyLands(starId);
    rig.ledger.advance(130);
    await publisher.run({ steps: 4, seconds: 5 });
    rig.ledger.mirrorStandsAt = undefined;
    await publisher.run({ steps: 4, seconds: 5 });
    await assertPublished(starId);
    assert.equal(rig.ledger.messages.length, 1);
  });
}

test("what a mirror node's rows prove of an id", async () => {
  const attempt = {
    transactionId: "0.0.1002@1795161600.000000000",
    topicId: TOPICS.event,
  } as Attempt;
  const ours = {
    ...{ transactionId: "", consensusTimestamp: "1795161600.5", nonce: 0, scheduled: false },
    ...{ name: "CONSENSUSSUBMITMESSAGE", entityId: TOPICS.event, result: "SUCCESS" },
  };
  const other = { ...ours, result: "DUPLICATE_TRANSACTION" };
  for (const [rows, kind, outcome] of [
    [[], "open"],
    [[ours], "landed"],
    [[other, ours], "landed"],
    [[{ ...ours, entityId: TOPICS.asset }], "absent", "foreign"],
    [[{ ...ours, name: "CRYPTOTRANSFER" }], "absent", "foreign"],
    [[{ ...ours, result: "THROTTLED_AT_CONSENSUS" }], "absent", "failed"],
    // What a transaction of ours brought about, or was scheduled under its id, is another one.
    [[{ ...ours, nonce: 1, result: "INVALID_TOPIC_ID" }], "open"],
    [[{ ...ours, scheduled: true, name: "CRYPTOTRANSFER" }], "open"],
    [[other], "open"],
    [[{ ...ours, result: "INVALID_NODE_ACCOUNT" }], "open"],
    [[{ ...ours, result: "INVALID_PAYER_SIGNATURE" }], "open"],
  ] as const) {
    const mirror = { ...rig.ledger.mirror(), transactions: async () => rows };
    const finding = await readTransaction({ mirror }, attempt);
    const found = [finding.kind, "outcome" in finding ? finding.outcome : undefined];
    assert.deepEqual(found, [kind, outcome], JSON.stringify(rows));
  }
});

test("an id that was reserved for an account of earlier settings is given up unsent", async () => {
  const starId = await rig.box();
  await assert.rejects(rig.publisher({ at: "pub.id_reserved", hit: 1 }).run());
  assert.equal((await rig.row(starId)).state, "reserved");
  const { context, lease } = rig.publisher();
  const renamed = { ...context, topic: rig.ledger.topic("0.0.2002") };
  for (let round = 0; round < 3; round += 1) {
    await timePasses(rig.sql);
    for (const star of await lease()) await publishStar(renamed, star);
    await context.readToEnd(TOPICS.event);
  }
  await assertPublished(starId);
  const [first] = await rig.attempts(starId);
  assert.equal(first?.outcome, "never sent");
});

test.run();
