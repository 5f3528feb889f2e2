/** When a topic counts as read to its end. Method: the real tables, a ledger in memory. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import { findReading } from "../../src/publishing/confirm.ts";
import { followTopic } from "../../src/publishing/topic-follower.ts";
import { eachOnRig, type Rig, TOPICS, textOf } from "./rig.ts";

const test = suite("topic follower");
const topicId = TOPICS.event;
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

let said = 0;
function say(): void {
  const message = textOf("event", 1_700_000_000_000 + said);
  const transactionId = `0.0.1002@1795161599.${String(++said).padStart(9, "0")}`;
  rig.ledger.foreign(transactionId, { topicId, message });
}

/** @param onPage called with each page before it is answered */
function follow(onPage: (page: number) => void | Promise<void>) {
  const { sql } = rig;
  const { clock, wait, failpoint } = rig.publisher().context;
  const mirror: MirrorNode = rig.ledger.mirror();
  let pages = 0;
  const asked = {
    async topicMessages(...given: Parameters<MirrorNode["topicMessages"]>) {
      const page = await mirror.topicMessages(...given);
      await onPage(++pages);
      return page;
    },
  };
  const ends = { onVerdict: () => undefined, onFailure: () => undefined };
  return followTopic({
    ...{ sql, clock, wait, failpoint, topicId, payer: "0.0.1002", ...ends },
    mirror: { ...mirror, ...asked },
  });
}

const readUpTo = async () => (await findReading(rig.sql, topicId))?.sequenceNumber;

test("a topic that is written to without a pause is read to the end that it had", async () => {
  say();
  const follower = follow((page) => {
    assert.ok(page < 10, "it is read on and on");
    say();
  });
  assert.equal(await follower.readToEnd(), true);
  assert.ok(((await readUpTo()) ?? 0) >= 1);
});

test("a page is read again while another process takes less of it", async () => {
  const saidAt = [1, 2, 3].map(() => {
    say();
    return rig.ledger.now;
  });
  const follower = follow(async (page) => {
    if (page > 2) return;
    rig.ledger.mirrorStandsAt = saidAt[page - 1];
    await rig.publisher().context.readToEnd(topicId);
    assert.equal(await readUpTo(), page);
    rig.ledger.mirrorStandsAt = undefined;
  });
  assert.equal(await follower.readToEnd(), true);
  assert.equal(await readUpTo(), 3);
});

test("a page of a replica that is behind does not say where a topic ends", async () => {
  const follower = follow((page) => {
    if (page === 1) rig.ledger.mirrorStandsAt = undefined;
  });
  say();
  rig.ledger.mirrorStandsAt = rig.ledger.now;
  for (let more = 0; more < 250; more += 1) say();
  assert.equal(await follower.readToEnd(), true);
  assert.equal(await readUpTo(), 251);
});

test("a follower that closes while it reads a long topic stops after the page in hand", async () => {
  for (let more = 0; more < 300; more += 1) say();
  let closed: Promise<void> | undefined;
  const follower = follow((page) => {
    if (page === 1) closed = follower.close();
  });
  follower.poke();
  while (closed === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  await closed;
  assert.equal(await readUpTo(), 100);
});

test.run();
