import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { type PublishContext, TOPIC_KINDS } from "../../src/publishing/context.ts";
import { createDrain } from "../../src/publishing/drain.ts";
import { until } from "../support/processes.ts";
import { eachOnRig, type Rig } from "./rig.ts";

const test = suite("drain");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

/** Drains until nothing is due and nothing is in hand; `isKnown`: whether the topics are. */
async function drainWith(change: Partial<PublishContext>, isKnown = true): Promise<void> {
  const { context } = rig.publisher();
  const closing = new AbortController();
  let asked = 0;
  const drain = createDrain({ ...context, closing: closing.signal, ...change }, () => {
    asked += 1;
    return isKnown ? { database: rig.database, since: 0 } : undefined;
  });
  drain.soon();
  const isTakenUp = async (): Promise<boolean> => {
    const [row] = await rig.sql<[{ due: number }]>`
      select count(*) as due from outbox where state = 'pending' and next_try_at <= now_ms()`;
    return row.due === 0;
  };
  if (change.closing === undefined) {
    // It asks once for each topic, in one look.
    await until("it has looked", () => asked >= TOPIC_KINDS.length);
    if (isKnown) await until("all are taken up", isTakenUp, 60_000);
  }
  await drain.idle();
  // What is due later stays as it is.
  closing.abort();
}

test("a long queue is worked through, oldest first, a bounded number at a time (A21 outbox-gap, P7)", async () => {
  const stars: string[] = [];
  for (let i = 0; i < 450; i++) stars.push(await rig.box(i % 3 === 0 ? "asset" : "event"));
  let inHand = 0;
  let most = 0;
  const topic = rig.ledger.topic();
  const send: typeof topic.send = async (bytes) => {
    most = Math.max(most, ++inHand);
    const outcome = await topic.send(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    inHand -= 1;
    return outcome;
  };
  await drainWith({ topic: { ...topic, send } });
  assert.equal(new Set(rig.ledger.texts()).size, 450);
  assert.equal(rig.ledger.messages.length, 450);
  assert.ok(most <= 200, `${most} at once`);
});

test("a star that cannot be published holds up no other", async () => {
  const poison = await rig.box();
  const others = [await rig.box(), await rig.box()];
  const topic = rig.ledger.topic();
  const prepareMessage: typeof topic.prepareMessage = (message) => {
    if (message.memo === poison) throw new RangeError("no such message");
    return topic.prepareMessage(message);
  };
  await drainWith({ topic: { ...topic, prepareMessage } });
  for (const starId of others) assert.equal((await rig.row(starId)).state, "sent");
  const row = await rig.row(poison);
  assert.equal(row.last_error, "no such message");
  assert.equal(row.lease_owner, null);
});

test("nothing is taken up for a topic that was not found fit", async () => {
  const starId = await rig.box();
  await drainWith({}, false);
  assert.equal((await rig.row(starId)).state, "pending");
  assert.equal((await rig.row(starId)).lease_owner, null);
});

test("a drain that is closing takes up nothing new", async () => {
  const starId = await rig.box();
  await drainWith({ closing: AbortSignal.abort() });
  assert.equal((await rig.row(starId)).state, "pending");
});

test.run();
