import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import type { MirrorTopicMessage } from "../../src/ledger/mirror/schemas.ts";
import { formatTimestamp } from "../../src/ledger/transaction-id.ts";
import {
  countRefusal,
  countSend,
  giveUp,
  LeaseLost,
  reserveId,
  storeReceipt,
  storeSigned,
} from "../../src/publishing/attempts.ts";
import { findReading, readTopicOn } from "../../src/publishing/confirm.ts";
import {
  leaseStars,
  type Outbox,
  openOutbox,
  pendingPublications,
  releaseAllLeases,
} from "../../src/publishing/outbox.ts";
import type { Attempt } from "../../src/publishing/shared-steps.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { readsOf } from "../support/table-reads.ts";
import { boxStar, clockIsSetBack, eachOnRig, type Rig, TOPICS, textOf, timePasses } from "./rig.ts";

/** What Postgres itself lets a publisher do, whatever the publisher believes. */
const test = suite("outbox");
let rig: Rig;
let mine: Outbox;
let other: Outbox;
eachOnRig(test, (made) => {
  rig = made;
  const { sql, database } = rig;
  const open = () => openOutbox(sql, { holder: randomUUID(), leaseMs: 30_000 });
  mine = { ...open(), database };
  other = { ...open(), database };
});

const START = 1_795_161_600_000_000_000n;
const by = { payer: "0.0.1002", topicId: TOPICS.event, notBefore: START };
const lease = (outbox: Outbox, limit = 10, working: readonly string[] = []) =>
  leaseStars(outbox, { topic: "event", limit, working });
const idsOf = async (stars: Promise<readonly { readonly starId: string }[]>) =>
  (await stars).map(({ starId }) => starId);
/** That work inside a transaction does not read the whole outbox. */
async function assertReadsFewer(
  transaction: Sql,
  rows: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const read = await readsOf(transaction, "outbox", work);
  assert.ok(read.rows < rows, `${read.rows} rows read`);
}
const signed = { bytes: Buffer.from("bytes"), validUntil: START + 120_000_000_000n };

async function sentAttempt(): Promise<Attempt> {
  const starId = await rig.box();
  await lease(mine);
  const attempt = await storeSigned(mine, await reserveId(mine, starId, by), signed);
  return countSend(mine, attempt);
}

test("what waits for one topic is not read through to find what waits for the other, or what was sent", async () => {
  const waiting = 300;
  for (let i = 0; i < waiting; i++) await rig.box("event");
  const alone = await reserveConnection(rig.sql);
  try {
    await alone`begin`;
    const outbox = { ...mine, sql: alone };
    await assertReadsFewer(alone, waiting, async () => {
      assert.deepEqual(await leaseStars(outbox, { topic: "asset", limit: 10, working: [] }), []);
      assert.equal((await findReading(alone, TOPICS.event))?.awaited, false);
    });
  } finally {
    await alone`rollback`;
    alone.release();
  }
});

test("stars are taken up oldest first, and by one holder at a time", async () => {
  const stars = [await rig.box(), await rig.box(), await rig.box()];
  assert.deepEqual(await idsOf(lease(mine, 2)), stars.slice(0, 2));
  assert.deepEqual(await idsOf(lease(other)), stars.slice(2));
  assert.deepEqual(await idsOf(lease(mine, 2, stars)), []);
});

test("a holder gets back what it no longer works on; others only when the lease has run out", async () => {
  const starId = await rig.box();
  await lease(mine);
  assert.deepEqual(await idsOf(lease(other)), []);
  assert.deepEqual(await idsOf(lease(mine, 10, [starId])), []);
  assert.deepEqual(await idsOf(lease(mine)), [starId]);
  await timePasses(rig.sql);
  assert.deepEqual(await idsOf(lease(other)), [starId]);
});

test("a released star is due after its delay, and only its holder can release it", async () => {
  const starId = await rig.box();
  await lease(mine);
  await other.steps.release({ starId, delayMs: 0, why: "not mine" });
  assert.deepEqual(await idsOf(lease(other)), []);
  await mine.steps.release({ starId, delayMs: 60_000, why: "busy" });
  assert.deepEqual(await idsOf(lease(mine)), []);
  await timePasses(rig.sql);
  const [star] = await lease(mine);
  assert.equal(star?.tries, 1);
  await releaseAllLeases(mine);
  assert.deepEqual(await idsOf(lease(other)), [starId]);
});

test("after Postgres' clock was set back, no lease and no delay lasts longer than it would have been made", async () => {
  const [released, leased] = [await rig.box(), await rig.box()];
  await lease(mine);
  await mine.steps.release({ starId: released, delayMs: 60_000, why: "busy" });
  assert.deepEqual(await idsOf(lease(other)), []);
  await clockIsSetBack(rig.sql, 3_600_000);
  assert.deepEqual(await idsOf(lease(other)), [released, leased]);
  assert.deepEqual(await idsOf(lease(mine)), []);
});

test("ids of one payer never collide, however many reserve them for the same instant", async () => {
  const stars = await Promise.all(Array.from({ length: 40 }, () => rig.box()));
  const outboxes = [mine, other];
  const halves = await Promise.all(outboxes.map((outbox) => lease(outbox, 20)));
  const attempts = await Promise.all(
    halves.flatMap((half, i) =>
      half.map(({ starId }) => reserveId(outboxes[i] ?? mine, starId, by)),
    ),
  );
  assert.equal(attempts.length, stars.length);
  const starts = attempts.map(({ validStart }) => validStart).sort();
  assert.equal(starts[0], START);
  assert.ok((starts.at(-1) ?? 0n) < START + 40n * 65_537n, "close together all the same");
  assert.equal(new Set(attempts.map(({ transactionId }) => transactionId)).size, 40);
});

test("an id beside another is as far from it as its star says: lost stars have those right after it", async () => {
  const [before, star] = [await rig.box(), await rig.box()];
  await lease(mine);
  await reserveId(mine, before, by);
  const { validStart } = await reserveId(mine, star, by);
  assert.equal(validStart, START + 1n + BigInt(`0x${star.slice(-4)}`));
});

test("steps that stars take at the same time share a statement", async () => {
  const stars = await Promise.all(Array.from({ length: 30 }, () => rig.box()));
  let statements = 0;
  const counting = new Proxy(rig.sql, {
    apply(target, self, args) {
      statements += 1;
      return Reflect.apply(target, self, args);
    },
  });
  mine = { ...mine, ...openOutbox(counting, mine) };
  await lease(mine, 30);
  statements = 0;
  const attempts = await Promise.all(
    stars.map(async (starId) => {
      const attempt = await storeSigned(mine, await reserveId(mine, starId, by), signed);
      return countSend(mine, attempt);
    }),
  );
  assert.equal(statements, 3);
  assert.ok(attempts.every(({ sends }) => sends === 1));
  const rows = await rig.sql`select from outbox where state = 'sent'`;
  assert.equal(rows.length, 30);
});

test("a star that Postgres refuses fails alone", async () => {
  const [before, bad, after] = [await rig.box(), await rig.box(), await rig.box()];
  await lease(mine);
  const back = (starId: string, why: string) => mine.steps.release({ starId, delayMs: 0, why });
  const settled = await Promise.allSettled([
    back(before, "busy"),
    back(bad, "no text of Postgres holds \u0000"),
    back(after, "busy"),
  ]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(await idsOf(lease(other)), [before, after]);
});

test("a process whose clock runs ahead does not delay the ids of others", async () => {
  const [ahead, right] = [await rig.box(), await rig.box()];
  await lease(mine);
  const hour = 3_600_000_000_000n;
  const first = await reserveId(mine, ahead, { ...by, notBefore: START + hour });
  const second = await reserveId(mine, right, by);
  assert.equal(first.validStart, START + hour);
  assert.equal(second.validStart, START);
  assert.equal(second.transactionId, "0.0.1002@1795161600.000000000");
});

test("without the lease no step is written", async () => {
  const starId = await rig.box();
  await assert.rejects(reserveId(mine, starId, by), LeaseLost);
  await lease(mine);
  const reserved = await reserveId(mine, starId, by);
  await assert.rejects(storeSigned(other, reserved, signed), LeaseLost);
  await timePasses(rig.sql);
  await assert.rejects(storeSigned(mine, reserved, signed), LeaseLost);
  await lease(other);
  const stored = await storeSigned(other, reserved, signed);
  await assert.rejects(countSend(mine, stored), LeaseLost);
  await assert.rejects(giveUp(mine, stored, { outcome: "never sent", evidence: "" }), LeaseLost);
});

test("in another database, and in older rows of this one, nothing is taken up or sent", async () => {
  const starId = await rig.box();
  await lease(mine);
  const stored = await storeSigned(mine, await reserveId(mine, starId, by), signed);
  for (const elsewhere of [{ identity: "another server" }, { epoch: randomUUID() }]) {
    const strayed = { ...mine, database: { ...rig.database, ...elsewhere } };
    await assert.rejects(countSend(strayed, stored), LeaseLost);
    assert.deepEqual(await idsOf(lease(strayed)), []);
  }
  assert.equal((await countSend(mine, stored)).sends, 1);
});

test("a star has one open id: a second one is given to no publisher", async () => {
  const starId = await rig.box();
  await lease(mine);
  await reserveId(mine, starId, by);
  await assert.rejects(reserveId(mine, starId, by), LeaseLost);
  await assert.rejects(rig.sql`
    insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at)
    values (${starId}, 2, ${TOPICS.event}, '0.0.1002', 5, 0)`);
});

test("an id is not given up as refused while one sending of it is unaccounted for", async () => {
  const once = await sentAttempt();
  for (const outcome of ["refused", "never sent"] as const) {
    await assert.rejects(giveUp(mine, once, { outcome, evidence: "" }), LeaseLost);
  }
  const twice = await countRefusal(mine, await countSend(mine, once));
  assert.deepEqual([twice.sends, twice.refusals], [2, 1]);
  await assert.rejects(giveUp(mine, twice, { outcome: "refused", evidence: "" }), LeaseLost);
  const both = await countRefusal(mine, twice);
  await giveUp(mine, both, { outcome: "refused", evidence: "BUSY" });
  assert.equal((await rig.row(once.starId)).state, "pending");
  assert.equal((await rig.row(once.starId)).transaction_id, null);
  await reserveId(mine, once.starId, by);
});

test("a refusal of a sending that an older copy of the journal lacks is not counted for another", async () => {
  const once = await sentAttempt();
  const twice = await countSend(mine, once);
  await rig.sql.begin(async (sql) => {
    // As a dump has it that was taken between the two sendings.
    await sql`set local session_replication_role = replica`;
    await sql`update publish_attempt set sends = 1 where star_id = ${once.starId}`;
  });
  await assert.rejects(countRefusal(mine, twice), LeaseLost);
  await assert.rejects(giveUp(mine, twice, { outcome: "refused", evidence: "" }), LeaseLost);
  assert.equal((await countRefusal(mine, once)).refusals, 1);
});

test("a second message of a star, later than its first one, is a finding", async () => {
  const gone = await sentAttempt();
  await giveUp(mine, gone, { outcome: "absent", evidence: "" });
  const again = await storeSigned(mine, await reserveId(mine, gone.starId, by), signed);
  await countSend(mine, again);
  const { topicId } = by;
  const [star] = await rig.sql<{ message: string }[]>`select message from outbox`;
  const page = [again, gone].map(({ transactionId }, n) => ({
    ...{ topicId, sequenceNumber: n + 1, consensusTimestamp: `1795161600.00000000${n}` },
    ...{ bytes: Buffer.from(star?.message ?? ""), payer: by.payer, runningHashVersion: 3 },
    runningHash: Buffer.alloc(48, n).toString("base64"),
    chunk: { transactionId, number: 1, total: 1 },
  }));
  const reading = { topicId, sequenceNumber: 0, runningHash: null, payer: by.payer };
  const verdicts = await rig.sql.begin(async (sql) => {
    // As on a long outbox: row by row. A transaction asks as a pool does.
    await sql`set local enable_hashjoin = off`;
    await sql`set local enable_mergejoin = off`;
    return readTopicOn(sql as unknown as Sql, reading, page);
  });
  assert.deepEqual(verdicts.map(({ verdict }) => verdict).sort(), ["published", "returned"]);
});

const READING = { topicId: by.topicId, sequenceNumber: 0, runningHash: null, payer: by.payer };

/** The topic's first message, by default a stranger's after the time of every id. */
function firstMessage(
  given: { at?: bigint; text?: string; payer?: string; transactionId?: string } = {},
): readonly MirrorTopicMessage[] {
  const { at = signed.validUntil + 1n, text = "{}", payer = "0.0.9999" } = given;
  const { transactionId = `${payer}@1795161600.000000000` } = given;
  const hash = { runningHash: HASH, runningHashVersion: 3 };
  const place = { topicId: by.topicId, sequenceNumber: 1, consensusTimestamp: formatTimestamp(at) };
  const chunk = { transactionId, number: 1, total: 1 };
  return [{ ...place, ...hash, bytes: Buffer.from(text), payer, chunk }];
}
const HASH = Buffer.alloc(48, 1).toString("base64");

const readOn = async (messages: readonly MirrorTopicMessage[]) =>
  (await readTopicOn(rig.sql, READING, messages)).map(({ verdict }) => verdict);

const isWaiting = (count: number) => async () => {
  const rows = await rig.sql`select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`;
  return rows.length === count;
};

test("an id whose time ends with a message may still come after it; a nanosecond later it is absent", async () => {
  const { starId } = await sentAttempt();
  assert.deepEqual(await readOn(firstMessage({ at: signed.validUntil })), []);
  assert.equal((await rig.row(starId)).state, "sent");
  await rig.sql`update topic_reading set sequence_number = 0`;
  assert.deepEqual(await readOn(firstMessage()), ["absent"]);
  assert.equal((await rig.row(starId)).state, "pending");
});

test("an id that took effect by its receipt is never absent, whatever the topic shows", async () => {
  const attempt = await sentAttempt();
  const receipt = { status: "SUCCESS", sequenceNumber: 1, runningHash: HASH };
  await storeReceipt(mine, attempt, receipt);
  assert.deepEqual(await readOn(firstMessage()), []);
  assert.equal((await rig.row(attempt.starId)).state, "sent");
});

test("a message in another place than the receipt's publishes nothing", async () => {
  const attempt = await sentAttempt();
  const receipt = { status: "SUCCESS", sequenceNumber: 2, runningHash: HASH };
  await storeReceipt(mine, attempt, receipt);
  const [star] = await rig.sql<{ message: string }[]>`select message from outbox`;
  const { transactionId } = attempt;
  const said = firstMessage({ text: String(star?.message), payer: by.payer, transactionId });
  assert.deepEqual(await readOn(said), ["contradicts"]);
  assert.equal((await rig.row(attempt.starId)).state, "sent");
});

for (const held of ["absent", "adopted"] as const) {
  test(`a step and a page of the topic lock the stars of both in one order: one is ${held}`, async () => {
    const gone = await sentAttempt();
    const waiting = await rig.box();
    const { starId, transactionId } = await sentAttempt();
    const { payer } = by;
    const text = async (of: string) => {
      const [star] = await rig.sql`select message from outbox where star_id = ${of}`;
      return String(star?.message);
    };
    const page = [
      ...firstMessage({ text: await text(starId), payer, transactionId }),
      ...firstMessage({ text: await text(waiting), payer, transactionId: `${payer}@1.000000000` }),
    ].map((message, n) => ({ ...message, sequenceNumber: n + 1 }));
    const holder = await reserveConnection(rig.sql);
    await holder`begin`;
    await holder`select from outbox
      where star_id = ${held === "absent" ? gone.starId : waiting} for update`;
    const step = [gone.starId, waiting, starId].map((of) =>
      mine.steps.release({ starId: of, delayMs: 0, why: null }),
    );
    await until("the step waits", isWaiting(1));
    const reading = readOn(page);
    await until("the page waits too", isWaiting(2));
    await holder`commit`;
    holder.release();
    await Promise.all(step);
    assert.deepEqual((await reading).sort(), ["absent", "adopted", "published"]);
  });
}

test("a step and a recovery that adopts messages lock the stars of both in one order", async () => {
  const stars = [await rig.box(), await rig.box()];
  await lease(mine);
  // Where the rows stand, the older star comes last.
  await rig.sql`update outbox set tries = 1 where star_id = ${stars[0] ?? ""}`;
  await rig.sql`
    insert into recovery_message (topic_id, sequence_number, consensus_timestamp, running_hash, transaction_id,
      star_id, topic, wallet, at, day, target_type, target_id, is_forever_mint, message)
    select ${by.topicId}, row_number() over (), row_number() over () || '.000000000', '', 'of ' || star_id,
      star_id, topic, 1, 0, '1970-01-01', 'event', 'drop', false, message from outbox`;
  const holder = await reserveConnection(rig.sql);
  await holder`begin`;
  await holder`select from outbox where star_id = ${stars[0] ?? ""} for update`;
  const step = stars.map((of) => mine.steps.release({ starId: of, delayMs: 0, why: null }));
  await until("the step waits", isWaiting(1));
  const adopting = rig.sql.begin(async (sql) => {
    // As on a short outbox: row by row, as they stand.
    await sql`set local enable_nestloop = off`;
    await sql`set local enable_mergejoin = off`;
    return sql`select adopted from adopt_messages(10)`;
  });
  await until("the recovery waits too", isWaiting(2));
  await holder`commit`;
  holder.release();
  await Promise.all(step);
  assert.deepEqual([...(await adopting)], [{ adopted: 2 }]);
  await rig.sql`delete from recovery_message`;
});

test("a page of a topic is compared by key, also by a plan that was made while few stars waited", async () => {
  const alone = await reserveConnection(rig.sql);
  const page = firstMessage({ text: textOf("event", 1_795_161_500_000) });
  const readAgain = async () => {
    await alone`update topic_reading set sequence_number = 0`;
    await readTopicOn(alone, READING, page);
  };
  const waiting = 300;
  try {
    for (let i = 0; i < 20; i++) await rig.box();
    // As autovacuum may do at any moment: by these numbers alone, reading all of it is the cheapest.
    await rig.sql`analyze outbox`;
    for (let i = 0; i < 6; i++) await readAgain();
    for (let i = 0; i < waiting; i++) await rig.box();
    await alone`begin`;
    await assertReadsFewer(alone, waiting, readAgain);
  } finally {
    await alone`rollback`;
    alone.release();
  }
});

test("facts once written down cannot be changed", async () => {
  const attempt = await sentAttempt();
  const known = await storeReceipt(mine, attempt, {
    status: "SUCCESS",
    sequenceNumber: 1,
    runningHash: "hash",
  });
  const { sql } = rig;
  const where = sql`where star_id = ${known.starId}`;
  const refused = { code: "SB403" };
  await assert.rejects(sql`update publish_attempt set receipt_sequence = 2 ${where}`, refused);
  await assert.rejects(sql`update publish_attempt set signed_bytes = 'other' ${where}`, refused);
  await assert.rejects(sql`update publish_attempt set valid_start_ns = 1 ${where}`, refused);
  await assert.rejects(sql`update publish_attempt set sends = 0 ${where}`, refused);
  await assert.rejects(sql`delete from publish_attempt`, refused);
  await assert.rejects(sql`truncate publish_attempt`, refused);
  await giveUp(mine, known, { outcome: "foreign", evidence: "" });
  await assert.rejects(sql`update publish_attempt set outcome = 'absent' ${where}`, refused);
});

test("a published star stays as it is", async () => {
  const starId = await rig.box();
  await rig.publisher().run({ steps: 1 });
  const change = rig.sql`update outbox set state = 'pending' where star_id = ${starId}`;
  await assert.rejects(change, { code: "SB403" });
  const [attempt] = await rig.sql`select signed_bytes from publish_attempt`;
  assert.equal(attempt?.signed_bytes, null);
});

test("pending counts what is not published, and how old the oldest of it is", async () => {
  assert.deepEqual(await pendingPublications(rig.sql), { pending: 0, oldestPendingSeconds: null });
  await boxStar(rig.sql, "asset", Date.now() - 90_000);
  await boxStar(rig.sql, "event", Date.now());
  const { pending, oldestPendingSeconds } = await pendingPublications(rig.sql);
  assert.equal(pending, 2);
  assert.ok(
    oldestPendingSeconds !== null && oldestPendingSeconds >= 89 && oldestPendingSeconds < 100,
  );
});

test.run();
