/**
 * Goal: what only a person can cure stops the queue with an alarm instead of burning stars one by
 * one, and once cured publishing goes on by itself. Method: every class of status, refused at
 * precheck and failed at consensus, over a queue of stars.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { listAlarms, reportAlarms } from "../../src/publishing/alarms.ts";
import { redriveStar } from "../../src/publishing/outbox.ts";
import { createPublishingAlerts } from "../../src/publishing/publishing-alerts.ts";
import { readDatabaseClock } from "../../src/store/postgres.ts";
import { clockIsSetBack, eachOnRig, type Rig } from "./rig.ts";

const test = suite("configuration");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

const STARS = 12;
const CONFIGURATION = [
  "INSUFFICIENT_TX_FEE",
  "INSUFFICIENT_PAYER_BALANCE",
  "INVALID_SIGNATURE",
  "INVALID_PAYER_SIGNATURE",
  "PAYER_ACCOUNT_NOT_FOUND",
  "PAYER_ACCOUNT_DELETED",
  "INVALID_TOPIC_ID",
  "TOPIC_EXPIRED",
  "UNAUTHORIZED",
  "MAX_CUSTOM_FEE_LIMIT_EXCEEDED",
  "MESSAGE_SIZE_TOO_LARGE",
  // Of a later release of the network.
  "SOMETHING_NOBODY_HAS_HEARD_OF",
];
const PASSING = ["BUSY", "PLATFORM_NOT_ACTIVE", "INVALID_NODE_ACCOUNT", "TRANSACTION_EXPIRED"];

async function boxAll(): Promise<readonly string[]> {
  const stars: string[] = [];
  for (let i = 0; i < STARS; i++) stars.push(await rig.box());
  return stars;
}

async function assertAllOnce(stars: readonly string[]): Promise<void> {
  for (const starId of stars) assert.equal((await rig.row(starId)).state, "published");
  assert.equal(new Set(rig.ledger.texts()).size, STARS);
  assert.equal(rig.ledger.texts().length, STARS);
}

for (const status of CONFIGURATION) {
  for (const kind of ["refused", "failed"] as const) {
    test(`${status}, ${kind === "failed" ? "at consensus" : "at precheck"}: one probe at a time, an alarm, then all is well`, async () => {
      const stars = await boxAll();
      const publisher = rig.publisher();
      rig.ledger.standingFault = { kind, status };
      await publisher.step();
      // The first star met it; the others were not even tried.
      assert.equal(rig.ledger.sends, 1);
      const [alarm] = publisher.context.alerts.raised();
      assert.deepEqual([alarm?.reason, alarm?.detail], ["configuration", status]);
      await publisher.run({ steps: 5, seconds: 1 });
      assert.ok(rig.ledger.sends <= 3, `${rig.ledger.sends} sends in five seconds`);
      rig.ledger.standingFault = undefined;
      await publisher.run({ steps: 30, seconds: 30 });
      await assertAllOnce(stars);
      assert.deepEqual(publisher.context.alerts.raised(), []);
    });
  }
}

for (const status of PASSING) {
  test(`${status} is no fault of the configuration`, async () => {
    const stars = await boxAll();
    const publisher = rig.publisher();
    rig.ledger.sendFaults.push(...Array.from({ length: 6 }, () => refused(status)));
    await publisher.run({ steps: 30, seconds: 10 });
    await assertAllOnce(stars);
    assert.deepEqual(rig.alarms, []);
  });
}

function refused(status: string) {
  return { kind: "refused", status } as const;
}

test("a star that has waited for hours to be tried again is there soon after the trouble ends", async () => {
  const starId = await rig.box();
  await rig.sql`update outbox set tries = 40`;
  const publisher = rig.publisher();
  rig.ledger.standingFault = refused("INSUFFICIENT_PAYER_BALANCE");
  await publisher.step();
  const [row] = await rig.sql<{ wait: number }[]>`
    select next_try_at - now_ms() as wait from outbox where star_id = ${starId}`;
  assert.ok((row?.wait ?? 0) <= 6_000, `due in ${row?.wait} ms`);
});

test("re-driving makes a star due and changes nothing else", async () => {
  const starId = await rig.box();
  rig.ledger.sendFaults.push({ kind: "vanished" });
  rig.ledger.receiptsAway = true;
  await rig.publisher().step();
  const before = await rig.row(starId);
  let wakes = 0;
  const deps = { sql: rig.sql, wake: () => void wakes++ };
  const redriven = await redriveStar(deps, starId);
  assert.deepEqual([redriven.kind, wakes], ["due", 1]);
  const [row] = await rig.sql`select next_try_at from outbox where star_id = ${starId}`;
  assert.equal(row?.next_try_at, 0);
  const { state, transaction_id } = await rig.row(starId);
  assert.deepEqual(
    { state, transaction_id },
    { state: "sent", transaction_id: before.transaction_id },
  );
  assert.equal((await rig.attempts(starId)).length, 1);
});

test("re-driving leaves a star in hand to its holder, and knows what is done or unknown", async () => {
  const starId = await rig.box();
  const publisher = rig.publisher();
  await publisher.lease();
  let wakes = 0;
  const deps = { sql: rig.sql, wake: () => void wakes++ };
  assert.equal((await redriveStar(deps, starId)).kind, "in hand");
  assert.notEqual((await rig.row(starId)).lease_owner, null);
  await publisher.run();
  assert.equal((await redriveStar(deps, starId)).kind, "published");
  const none = "01a00000-0000-7000-8000-000000000000";
  assert.equal((await redriveStar(deps, none)).kind, "unknown");
  assert.equal(wakes, 1);
});

test("an alarm is dated by Postgres' clock, whatever the worker's machine says", async () => {
  const worker = "00000000-0000-4000-8000-000000000003";
  const alerts = createPublishingAlerts(silentLogger, createMetrics());
  const realNow = Date.now;
  Date.now = () => realNow() + 3_600_000;
  alerts.raise("configuration", "UNAUTHORIZED", "0.0.1");
  Date.now = realNow;
  await reportAlarms(rig.sql, worker, alerts.raised());
  const [alarm] = await listAlarms(rig.sql);
  const age = (await readDatabaseClock(rig.sql)) - (alarm?.raisedAt ?? 0);
  assert.ok(age >= 0 && age < 30_000, `raised ${age} ms ago`);
  await reportAlarms(rig.sql, worker, []);
});

test("an alarm is listed while its worker lives and reports it", async () => {
  const [one, other] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
  ];
  const alarm = { reason: "configuration", subject: "0.0.1", detail: "UNAUTHORIZED" };
  const now = performance.now();
  for (const [worker, since] of [
    [one, now - 7_000],
    [other, now - 5_000],
    [one, now - 7_000],
  ] as const) {
    await reportAlarms(rig.sql, worker, [{ ...alarm, since }]);
  }
  const [{ raisedAt, ...listed } = { raisedAt: 0 }, ...more] = await listAlarms(rig.sql);
  assert.deepEqual([listed, more], [alarm, []]);
  const age = (await readDatabaseClock(rig.sql)) - raisedAt;
  assert.ok(age >= 7_000 && age < 30_000, `raised ${age} ms ago`);
  await reportAlarms(rig.sql, one, []);
  assert.equal((await listAlarms(rig.sql)).length, 1);
  await rig.sql`update publishing_alarm set seen_at = seen_at - 40000`;
  assert.deepEqual([...(await listAlarms(rig.sql))], []);
});

test("an alarm of a worker that died before Postgres' clock was set back is over; a living one dates its own anew", async () => {
  const [dead, living] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
  ];
  const alarm = { reason: "configuration", detail: "UNAUTHORIZED", since: performance.now() };
  await reportAlarms(rig.sql, dead, [{ ...alarm, subject: "0.0.1" }]);
  await reportAlarms(rig.sql, living, [{ ...alarm, subject: "0.0.2" }]);
  await clockIsSetBack(rig.sql, 3_600_000);
  await reportAlarms(rig.sql, living, [{ ...alarm, subject: "0.0.2" }]);
  const [{ subject, raisedAt } = { subject: "", raisedAt: 0 }, ...more] = await listAlarms(rig.sql);
  assert.deepEqual([subject, more], ["0.0.2", []]);
  assert.ok(raisedAt <= (await readDatabaseClock(rig.sql)));
});

test.run();
