/** When stars may be sent on a database that is a copy. Method: the real tables, a ledger in memory. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { OneNode } from "../../src/ledger/mirror/limits.ts";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { beginReading } from "../../src/publishing/confirm.ts";
import { mayLackStars } from "../../src/publishing/journal-behind.ts";
import { startPublisher } from "../../src/publishing/publisher.ts";
import { createTopicKnowledge } from "../../src/publishing/topic-knowledge.ts";
import { createEpochWitness, settleInWithoutStars } from "../../src/store/database-identity.ts";
import { closeRedis, openRedis, readySoon } from "../../src/store/redis.ts";
import { until } from "../support/processes.ts";
import { testRedis } from "../support/redis.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { SLACK_MS } from "../support/slack.ts";
import { boxStar, eachOnRig, type Rig, TOPICS, textOf } from "./rig.ts";
import { forgetful, witness } from "./witness.ts";

const test = suite("topic knowledge");
let rig: Rig;
eachOnRig(test, (made) => {
  rig = made;
});

/** What a publisher knows that has just been started. */
function started(
  by = forgetful,
  { context }: Pick<ReturnType<Rig["publisher"]>, "context"> = rig.publisher(),
) {
  const parts = { ...context, sql: rig.sql, witness: by, topics: TOPICS };
  return createTopicKnowledge({ ...parts, isReady: () => true });
}

/** A copy of the disk is put back under the same server: nothing of this later epoch is in it. */
async function rollBack(): Promise<void> {
  await rig.sql`delete from journal_epoch
    where id = (select id from journal_epoch order by at desc, id limit 1)`;
}

/** When stars of before may be sent: `at once`, or not before the ledger has come further. */
const sends = (knowledge: ReturnType<typeof started>): string =>
  knowledge.of("event")?.since === 0 ? "at once" : "later";

test("nothing may be sent before the topics were read, and then everything", async () => {
  const { context } = rig.publisher();
  let isWhole = false;
  const readToEnd = async (topicId: string) => isWhole && (await context.readToEnd(topicId));
  const knowledge = started(forgetful, { context: { ...context, readToEnd } });
  assert.equal(knowledge.of("event"), undefined);
  // It knows its database from here on, and its topics not to their ends.
  await knowledge.check();
  assert.deepEqual([knowledge.of("event"), knowledge.of("asset")], [undefined, undefined]);
  isWhole = true;
  await knowledge.check();
  assert.deepEqual([knowledge.of("event")?.since, knowledge.of("asset")?.since], [0, 0]);
});

type Asked = Pick<MirrorNode, "newestBlock" | "topicMessages">;

/** Of which node each block and each page of a topic is asked from here on; undefined where any will do. */
function nodesAsked(mirror: Asked): readonly (OneNode | undefined)[] {
  const { newestBlock, topicMessages } = mirror;
  const nodes: (OneNode | undefined)[] = [];
  Object.assign(mirror, {
    newestBlock: (...asked) => {
      nodes.push(asked[0]?.oneNode);
      return newestBlock(...asked);
    },
    topicMessages: (...asked) => {
      nodes.push(asked[2]?.oneNode);
      return topicMessages(...asked);
    },
  } satisfies Asked);
  return nodes;
}

test("on a copy, what was accepted before waits until all that was on its way has landed or expired", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  const [row] = await rig.sql<{ now: string }[]>`select now_ms() as now`;
  const { context } = rig.publisher();
  const nodes = nodesAsked(context.mirror);
  const knowledge = started(forgetful, { context });
  await knowledge.check();
  assert.ok(Number(knowledge.of("event")?.since) >= Number(row?.now));
  rig.ledger.advance(60);
  await knowledge.check();
  assert.ok(Number(knowledge.of("asset")?.since) >= Number(row?.now));
  rig.ledger.advance(120);
  await knowledge.check();
  assert.deepEqual([knowledge.of("event")?.since, knowledge.of("asset")?.since], [0, 0]);
  // The topics end where the node ends that has come so far.
  const [block, ...topics] = nodes.slice(-3);
  assert.ok(block !== undefined && topics.every((node) => node === block));
});

test("a publisher reads the topics to the end that the node has which gave the block", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  const { clock } = rig.publisher();
  const mirror = rig.ledger.mirror();
  const nodes = nodesAsked(mirror);
  const publisher = await startPublisher({
    ...{ sql: rig.sql, witness: forgetful, topics: TOPICS, mirror, clock },
    ...{ topic: rig.ledger.topic(), log: silentLogger, metrics: createMetrics() },
    queue: { onWake: () => undefined },
  });
  try {
    await until("the copy has settled in", async () => {
      rig.ledger.advance(60);
      const [home] = await rig.sql`select identity from journal_home`;
      return home?.identity === rig.database.identity;
    });
    const block = nodes.findLast((node) => node !== undefined);
    // The block, and both topics.
    assert.equal(nodes.filter((node) => node === block).length, 3);
  } finally {
    await publisher.close();
  }
});

test("on a copy, a worker whose clock is ten minutes behind waits as long", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  rig.clockOff = -600;
  const knowledge = started();
  await knowledge.check();
  rig.ledger.advance(60);
  await knowledge.check();
  assert.equal(sends(knowledge), "later");
  rig.ledger.advance(120);
  await knowledge.check();
  assert.equal(sends(knowledge), "at once");
});

test("a worker that starts on a disk that was rolled back under its server waits, as on any copy", async () => {
  const redis = witness();
  await started(redis).check();
  await rollBack();
  const knowledge = started(redis);
  await knowledge.check();
  assert.equal(sends(knowledge), "later");
  rig.ledger.advance(180);
  await knowledge.check();
  assert.equal(sends(knowledge), "at once");
});

test("a worker that starts on a dump of before any worker had settled in waits, as on any copy", async () => {
  const redis = witness();
  await redis.keep({
    identity: "the server before",
    epoch: "01a1f88e-2c92-4a00-9861-bc1879f11b22",
  });
  await rig.sql`delete from journal_home`;
  const [first, next] = [started(redis), started()];
  await first.check();
  await next.check();
  assert.deepEqual([sends(first), sends(next)], ["later", "later"]);
  rig.ledger.advance(180);
  await first.check();
  assert.equal(sends(first), "at once");
});

test("what others forged into Redis keeps no worker that starts from its topics", async () => {
  await started().check();
  const server = await testRedis();
  const redis = openRedis(server.url, silentLogger);
  try {
    await readySoon(redis, SLACK_MS);
    for (const forged of [
      "7/1/1/1 no-uuid",
      "7/1\0 01a1f88e-2c92-4a00-9861-bc1879f11b22",
      "x",
      "",
    ]) {
      // In the place of what the worker before has kept.
      const recall = async () => {
        await redis.set("starboard:journal-epoch", forged);
        return createEpochWitness(redis).recall();
      };
      const knowledge = started({ ...forgetful, recall });
      await knowledge.check();
      assert.equal(sends(knowledge), "at once", forged);
    }
  } finally {
    await closeRedis(redis);
    await server.close();
  }
});

test("a dump of stars before the first worker is known for a copy without a witness, for its web process was at home", async () => {
  await settleInWithoutStars(rig.sql);
  await boxStar(rig.sql, "event", 1_835_308_780_000);
  const homeOf = async () => (await rig.sql`select identity from journal_home`)[0]?.identity;
  const home = await homeOf();
  await started().check();
  assert.equal(await homeOf(), home);
  // Restored elsewhere, it has the row, and stars that may be on their way.
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  await settleInWithoutStars(rig.sql);
  const next = started();
  await next.check();
  assert.equal(sends(next), "later");
});

test("a journal with stars is not called at home by a web process", async () => {
  await boxStar(rig.sql, "event", 1_835_308_780_000);
  await settleInWithoutStars(rig.sql);
  assert.equal((await rig.sql`select from journal_home`).length, 0);
});

test("where nothing can be written, as on a standby, a web process starts without a home for the journal", async () => {
  const standby = await reserveConnection(rig.sql);
  await standby`set default_transaction_read_only = on`;
  await settleInWithoutStars(standby);
  await standby`reset default_transaction_read_only`;
  standby.release();
  assert.equal((await rig.sql`select from journal_home`).length, 0);
});

test("workers that start later on a rolled-back disk wait too, though the first one has ended", async () => {
  const redis = witness();
  await started(redis).check();
  await rollBack();
  await started(redis).check();
  const next = started();
  await next.check();
  assert.equal(sends(next), "later");
  rig.ledger.advance(180);
  await next.check();
  const last = started();
  await last.check();
  assert.deepEqual([sends(next), sends(last)], ["at once", "at once"]);
});

test("a disk that was rolled back is noticed though the database's clock had been set back", async () => {
  await rig.sql`insert into journal_epoch (at) values (now_ms() + 600000)`;
  const [before] = await rig.sql<
    { ids: string[] }[]
  >`select array_agg(id) as ids from journal_epoch`;
  const redis = witness();
  const running = started(redis);
  await running.check();
  await rig.sql`delete from journal_epoch where id <> all(${before?.ids ?? []}::uuid[])`;
  const next = started(redis);
  await next.check();
  await running.check();
  assert.deepEqual([sends(next), sends(running)], ["later", "later"]);
});

test("on a copy whose server's clock is behind, every star that came with it waits", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  const [row] = await rig.sql<{ now: string }[]>`select now_ms() as now`;
  const at = Number(row?.now) + 180_000;
  await boxStar(rig.sql, "event", at);
  const knowledge = started();
  await knowledge.check();
  assert.ok(Number(knowledge.of("event")?.since) > at);
});

test("on a copy of before the topics were changed, stars that are on the old ones are not sent again", async () => {
  const [old, at] = ["0.0.6001", 1_795_161_700_000];
  await beginReading(rig.sql, old);
  const star = await boxStar(rig.sql, "event", at);
  rig.ledger.foreign("0.0.1002@1795161599.000000001", {
    topicId: old,
    message: textOf("event", at),
  });
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  const knowledge = started();
  await knowledge.check();
  rig.ledger.advance(180);
  await knowledge.check();
  assert.equal(sends(knowledge), "at once");
  const { state, topic_id: on } = await rig.row(star);
  assert.deepEqual([state, on], ["published", old]);
});

test("a worker that starts again on the same database, or beside another installation's, does not wait", async () => {
  const redis = witness();
  await started(redis).check();
  const again = started(redis);
  await again.check();
  assert.equal(sends(again), "at once");
  await redis.keep({ identity: "another", epoch: "01a1f88e-2c92-4a00-9861-bc1879f11b22" });
  const beside = started(redis);
  await beside.check();
  assert.equal(sends(beside), "at once");
});

test("a database whose clock is set hours ahead is the same database", async () => {
  const [running, beside] = [started(), started()];
  await running.check();
  await rig.sql`update journal_epoch set at = at - 7200000`;
  await beside.check();
  await running.check();
  assert.deepEqual([sends(running), sends(beside)], ["at once", "at once"]);
  assert.equal(await mayLackStars(rig.sql), false);
});

test("on a copy, a worker whose clock is an hour ahead waits no longer once the nodes have said so", async () => {
  await started().check();
  await rig.sql`update journal_home set identity = 'the server it was copied from'`;
  rig.clockOff = 3_600;
  const { context } = rig.publisher();
  const knowledge = started(forgetful, { context });
  await knowledge.check();
  assert.equal(sends(knowledge), "later");
  for (let refusals = 0; context.clock.now() > rig.ledger.now + 60_000_000_000n; refusals += 1) {
    assert.ok(refusals < 20);
    context.clock.refusedAsEarly(context.clock.nextStart());
  }
  await knowledge.check();
  assert.equal(sends(knowledge), "later");
  rig.ledger.advance(220);
  await knowledge.check();
  assert.equal(sends(knowledge), "at once");
});

test("the mark of a worker that took the database for a copy, and has gone, is taken back by one that knows it", async () => {
  const knowing = started();
  await knowing.check();
  const [home] = await rig.sql<{ identity: string }[]>`select identity from journal_home`;
  const redis = witness();
  await redis.keep({
    identity: home?.identity ?? "",
    epoch: "01a1f88e-2c92-4a00-9861-bc1879f11b22",
  });
  await started(redis).check();
  assert.equal(await mayLackStars(rig.sql), true);
  await knowing.check();
  assert.equal(await mayLackStars(rig.sql), false);
  assert.equal(sends(knowing), "at once");
});

test.run();
