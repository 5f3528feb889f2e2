import * as assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { suite } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { ConfigurationError } from "../../src/config.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import { MirrorClient, type MirrorNode } from "../../src/ledger/mirror/node.ts";
import { ed25519Key } from "../../src/local/hedera/keys.ts";
import { silentLogger } from "../../src/log.ts";
import { listAlarms } from "../../src/publishing/alarms.ts";
import type { PublishFailpoint } from "../../src/publishing/context.ts";
import { pendingPublications } from "../../src/publishing/outbox.ts";
import { createWakeQueue } from "../../src/publishing/queue.ts";
import { until } from "../support/processes.ts";
import { testRedis } from "../support/redis.ts";
import { nodeArguments } from "../support/script.ts";
import { type Live, openLive, openPublisher, type Place, pause } from "./live.ts";

/** Each is looked up at a start. */
const TOPICS = 2;

/** The real SDK against three nodes and a mirror node of this machine, on a real Postgres. */
const test = suite("publisher");
let live: Live;
test.before(async () => {
  live = await openLive();
});
test.after(() => live.close());
test.after.each(() => live.heal());

test("a star is published within two seconds of its acceptance (P7)", async () => {
  const publisher = await openPublisher(live.place);
  for (let i = 0; i < 5; i++) {
    const stars = await live.box(1);
    publisher.wake();
    await live.published(stars, 2_000);
  }
  // The publisher counts a moment after the journal knows.
  const counted = async (): Promise<number | undefined> =>
    (await publisher.metrics.publishLag.get()).values.at(-1)?.value;
  await until("all five are counted", async () => (await counted()) === 5, 5_000);
  await publisher.close();
});

test("with Redis away, the sweep finds what no wake-up announced", async () => {
  const queue = createWakeQueue("redis://127.0.0.1:1", silentLogger);
  const sweeps = sweepCounter();
  const publisher = await openPublisher(live.place, { queue, failpoint: sweeps.failpoint });
  await sweeps.seen(1);
  const stars = await live.box(2);
  queue.wake();
  await live.published(stars, 7_000);
  await publisher.close();
  await queue.close();
});

test("with Redis there, a wake-up of another process is enough", async () => {
  const redis = await testRedis();
  const worker = createWakeQueue(redis.url, silentLogger);
  const web = createWakeQueue(redis.url, silentLogger);
  const publisher = await openPublisher(live.place, { queue: worker });
  // The first one also waits for both ends to connect.
  for (const withinMs of [8_000, 2_000, 2_000]) {
    const stars = await live.box(1);
    web.wake();
    await live.published(stars, withinMs);
  }
  await publisher.close();
  await Promise.all([web.close(), worker.close()]);
  await redis.close();
});

test("two publishers on one outbox publish each star once (P6)", async () => {
  const publishers = [await openPublisher(live.place), await openPublisher(live.place)];
  const stars = await live.box(100);
  for (const { wake } of publishers) wake();
  await live.published(stars, 30_000);
  await live.assertOnce(stars);
  const attempts = await live.sql`
    select from publish_attempt where star_id = any (${[...stars]}::uuid[])`;
  assert.equal(attempts.length, 100);
  for (const publisher of publishers) await publisher.close();
});

test("kill -9 in the middle of a hundred stars: no star is lost or published twice", async () => {
  const stars = await live.box(100);
  for (const goal of [70, 40, 10]) {
    const child = await startProcess(live.place);
    await until(`${goal} are left`, async () => (await live.countLeft(stars)) <= goal);
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const last = await openPublisher(live.place);
  await live.published(stars, 20_000);
  await last.close();
  await live.assertOnce(stars);
});

/** Says how often a publisher has swept. */
function sweepCounter() {
  let sweeps = 0;
  return {
    failpoint(name: PublishFailpoint): void {
      if (name === "sweep.enqueued") sweeps += 1;
    },
    seen: (count: number) => until(`${count} sweeps`, () => sweeps >= count),
  };
}

async function startProcess(place: Place): Promise<ChildProcess> {
  const script = join(import.meta.dirname, "publisher-process.ts");
  const child = spawn(process.execPath, [...nodeArguments(script), JSON.stringify(place)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout ?? child, "data");
  return child;
}

test("a publisher that closes releases the stars that it has not sent", async () => {
  const publisher = await openPublisher({ ...live.place, leaseMs: 60_000 });
  for (const { faults } of live.network.hedera.nodes) faults.inject({ kind: "drop", calls: "all" });
  const stars = await live.box(10);
  publisher.wake();
  await until("one is sent", async () => (await live.states(stars)).includes("sent"));
  await publisher.close();
  const leased = await live.sql`select from outbox where lease_owner is not null`;
  assert.equal(leased.length, 0);
  live.heal();
  const next = await openPublisher(live.place);
  await live.published(stars, 10_000);
  await live.assertOnce(stars);
  await next.close();
});

test("topics that are not fit for stars stop the start, with one clear message", async () => {
  const { ledger } = live.network.hedera;
  const submitKey = ed25519Key(live.network.operator.publicKey);
  const open = await ledger.createTopic({});
  const gone = await ledger.createTopic({ submitKey, adminKey: submitKey });
  await ledger.deleteTopic(gone);
  const refused = (event: string, message: RegExp) =>
    assert.rejects(
      openPublisher({ ...live.place, topics: { ...live.place.topics, event } }),
      (error: Error) => error instanceof ConfigurationError && message.test(error.message),
    );
  await refused(open, /^EVENT_VOTES_TOPIC_ID 0\.0\.\d+ has no submit key/);
  await refused(gone, /^EVENT_VOTES_TOPIC_ID 0\.0\.\d+ is deleted/);
  await refused(live.place.topics.asset, /are the same topic/);
});

test("a start without the mirror node sends nothing until the topics are read; a running one goes on", async () => {
  const running = await openPublisher(live.place);
  const before = await live.box(2);
  const healMirror = live.network.hedera.mirror.faults.inject({ kind: "fail", status: 503 });
  running.wake();
  await until("both are sent", async () =>
    (await live.states(before)).every((state) => state === "sent"),
  );
  await running.close();
  const sweeps = sweepCounter();
  const { failpoint } = sweeps;
  const publisher = await openPublisher(live.place, { failpoint, sweepEveryMs: 300 });
  const stars = await live.box(4);
  publisher.wake();
  await sweeps.seen(3);
  assert.deepEqual(await live.states(stars), ["pending", "pending", "pending", "pending"]);
  healMirror();
  await live.published([...before, ...stars], 15_000);
  await publisher.close();
});

test("two workers, the account ran dry and was filled: no alarm stands once all is published", async () => {
  const workers = [
    await openPublisher(live.place, { sweepEveryMs: 500 }),
    await openPublisher(live.place, { sweepEveryMs: 500 }),
  ];
  for (const { faults } of live.network.hedera.nodes) {
    faults.inject({ kind: "refuse", code: "INSUFFICIENT_PAYER_BALANCE", calls: "all" });
  }
  const stars = await live.box(20);
  for (const worker of workers) worker.wake();
  const alarmed = async (): Promise<number> => {
    const [row] = await live.sql<[{ workers: number }]>`
      select count(distinct worker) as workers from publishing_alarm`;
    return Number(row.workers);
  };
  await until("both say so", async () => (await alarmed()) === 2, 20_000);
  live.heal();
  await live.published(stars, 30_000);
  await until("neither does any more", async () => (await alarmed()) === 0, 10_000);
  await Promise.all(workers.map((worker) => worker.close()));
});

test("what a worker has raised is listed also where the stars that wait cannot be counted", async () => {
  const own = await openLive();
  for (const { faults } of own.network.hedera.nodes) {
    faults.inject({ kind: "refuse", code: "INSUFFICIENT_PAYER_BALANCE", calls: "all" });
  }
  // No age can be read of it; millions cannot be counted in a statement's time.
  await own.sql`insert into outbox (star_id, topic, message) values (${newStarId(1)}, 'event', '{')`;
  await assert.rejects(pendingPublications(own.sql));
  const publisher = await openPublisher(own.place, { sweepEveryMs: 200 });
  await until("it is listed", async () => (await listAlarms(own.sql)).length > 0, 10_000);
  await publisher.close();
  await own.close();
});

test("a worker that reads a long topic stops at once", async () => {
  const real = new MirrorClient({ urls: [live.place.mirrorUrl], log: silentLogger });
  const mirror: MirrorNode = {
    ...real,
    async topicMessages(topicId, { afterSequence = 0 }) {
      await pause(100);
      const messages = Array.from({ length: 100 }, (_, n) => ({
        topicId,
        sequenceNumber: afterSequence + 1 + n,
        consensusTimestamp: `${1_700_000_000 + afterSequence + n}.000000000`,
        bytes: Buffer.from("x"),
        payer: "0.0.5",
        runningHash: Buffer.alloc(48).toString("base64"),
        runningHashVersion: 3,
        chunk: null,
      }));
      return { messages, more: true };
    },
  };
  const own = await openLive();
  const publisher = await openPublisher(own.place, { mirror });
  await publisher.close();
  await real.close();
  await own.close();
});

test("a worker that a mirror node with a part of the topic keeps from sending says so", async () => {
  const own = await openLive();
  const real = new MirrorClient({ urls: [own.place.mirrorUrl], log: silentLogger });
  const second = {
    ...{ topicId: own.place.topics.event, sequenceNumber: 2, consensusTimestamp: "1.000000000" },
    ...{ bytes: Buffer.from("x"), payer: "0.0.5", runningHash: "A".repeat(64) },
    ...{ runningHashVersion: 3, chunk: null },
  };
  let isPart = true;
  const mirror: MirrorNode = {
    ...real,
    topicMessages: async (topicId, ...rest) =>
      isPart && topicId === second.topicId
        ? { messages: [second], more: false }
        : real.topicMessages(topicId, ...rest),
  };
  let aheadMs = 0;
  const now = () => performance.now() + aheadMs;
  const publisher = await openPublisher(own.place, { mirror, now, sweepEveryMs: 200 });
  const stars = await own.box(2);
  await publisher.readTopics();
  aheadMs = 60_000;
  const told = async () => (await listAlarms(own.sql)).map(({ detail }) => detail).join();
  await publisher.readTopics();
  await until("it says so", async () => /leaves out messages of/.test(await told()), 10_000);
  isPart = false;
  await own.published(stars, 10_000);
  await until("it says so no more", async () => (await told()) === "", 10_000);
  await Promise.all([publisher, real, own].map((each) => each.close()));
});

test("a publisher closes while its look waits for the mirror node", async () => {
  const own = await openLive();
  const real = new MirrorClient({ urls: [own.place.mirrorUrl], log: silentLogger });
  let asked = 0;
  let giveUp = (): void => undefined;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const mirror: MirrorNode = {
    ...real,
    async topic() {
      asked += 1;
      // Away at the start, so that each look asks again; then without an answer.
      if (asked > TOPICS) await givenUp;
      throw new MirrorError("timeout", "late");
    },
  };
  const publisher = await openPublisher(own.place, { mirror, sweepEveryMs: 50 });
  await until("a look waits", () => asked > TOPICS);
  // Less than what is in hand is given at a stop.
  const late = setTimeout(giveUp, bounds.drainMs - 2_000);
  const first = await Promise.race([publisher.close().then(() => "closed"), givenUp]);
  assert.equal(first, "closed");
  clearTimeout(late);
  giveUp();
  await Promise.all([real, own].map((each) => each.close()));
});

test.run();
