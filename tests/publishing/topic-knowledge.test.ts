/** When stars may be sent on a database that is a copy. Method: the real tables, a ledger in memory. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { createTopicKnowledge } from "../../src/publishing/topic-knowledge.ts";
import { eachOnRig, type Rig, TOPICS } from "./rig.ts";

const test = suite("topic knowledge");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

/** What a publisher knows that has just been started. */
function started() {
  const { context } = rig.publisher();
  return createTopicKnowledge({ ...context, sql: rig.sql, topics: TOPICS, isReady: () => true });
}

test("nothing may be sent before the topics were read, and then everything", async () => {
  const knowledge = started();
  assert.equal(knowledge.of("event"), undefined);
  await knowledge.check();
  assert.deepEqual([knowledge.of("event")?.since, knowledge.of("asset")?.since], [0, 0]);
});

test("on a copy, what was accepted before waits until all that was on its way has landed or expired", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  const [row] = await rig.sql<{ now: string }[]>`select now_ms() as now`;
  const knowledge = started();
  await knowledge.check();
  assert.ok(Number(knowledge.of("event")?.since) >= Number(row?.now));
  rig.ledger.advance(60);
  await knowledge.check();
  assert.ok(Number(knowledge.of("asset")?.since) >= Number(row?.now));
  rig.ledger.advance(120);
  await knowledge.check();
  assert.deepEqual([knowledge.of("event")?.since, knowledge.of("asset")?.since], [0, 0]);
});

test.run();
