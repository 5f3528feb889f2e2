/** Which topics may be sent to. Method: a mirror node that changes its mind about them. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { ConfigurationError } from "../../src/config.ts";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import { createReadiness } from "../../src/publishing/readiness.ts";
import { eachOnRig, type Rig, TOPICS } from "./rig.ts";

const test = suite("readiness");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});
const realNow = performance.now;
test.after.each(() => {
  performance.now = realNow;
});

const KEY = { _type: "ED25519", key: "00".repeat(32) } as const;
const FREE = { adminKey: null, submitKey: KEY, feeScheduleKey: null, memo: "", deleted: false };

test("a topic that got custom fees is not used until it is found fit, also while the mirror node is away", async () => {
  await rig.box();
  const publisher = rig.publisher();
  await publisher.run();
  let customFees = 0;
  let isAway = false;
  let isUsed = true;
  const { topicMessages } = publisher.context.mirror;
  const readiness = createReadiness({
    ...publisher.context,
    sql: rig.sql,
    mirror: {
      topicMessages,
      async topic(topicId) {
        isUsed = readiness.isReady("event");
        if (isAway) throw new MirrorError("timeout", "late");
        return { ...FREE, topicId, customFees: topicId === TOPICS.event ? customFees : 0 };
      },
    },
    topic: { publicKey: KEY },
    topics: TOPICS,
  });
  const isUnfit = (): Promise<void> =>
    assert.rejects(
      () => readiness.check(),
      (error) => error instanceof ConfigurationError && /charges custom fees/.test(error.message),
    );
  await readiness.check();
  assert.ok(readiness.isReady("event"));
  customFees = 1;
  performance.now = () => realNow.call(performance) + 60_000;
  await isUnfit();
  // Asked once more by the same look: stars are not sent meanwhile.
  assert.equal(isUsed, false);
  isAway = true;
  await isUnfit();
  assert.deepEqual([isUsed, readiness.isReady("event")], [false, false]);
  isAway = false;
  customFees = 0;
  await readiness.check();
  assert.ok(readiness.isReady("event"));
});

test("a topic that stars of the other kind are on is not used: the two settings are swapped", async () => {
  await rig.box();
  const publisher = rig.publisher();
  await publisher.run();
  const given = { ...publisher.context, sql: rig.sql, mirror: rig.ledger.mirror() };
  const swapped = createReadiness({
    ...given,
    topics: { event: TOPICS.asset, asset: TOPICS.event },
  });
  await assert.rejects(
    () => swapped.check(),
    (error) =>
      error instanceof ConfigurationError &&
      /^ASSET_VOTES_TOPIC_ID 0\.0\.7001 has event stars/.test(error.message),
  );
  assert.equal(swapped.isReady("asset"), false);
  const right = createReadiness({ ...given, topics: TOPICS });
  await right.check();
  assert.deepEqual([right.isReady("event"), right.isReady("asset")], [true, true]);
});

test.run();
