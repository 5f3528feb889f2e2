import * as assert from "node:assert/strict";
import { createHederaTopic } from "../../src/ledger/hedera-topic.ts";
import { MirrorClient, type MirrorNode } from "../../src/ledger/mirror/node.ts";
import type { Topic } from "../../src/ledger/topic.ts";
import { ed25519Key } from "../../src/local/hedera/keys.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import type { TopicKind } from "../../src/publishing/context.ts";
import { type PublisherParts, startPublisher } from "../../src/publishing/publisher.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestNetwork, testNetwork } from "../local/hedera/network.ts";
import { patiently } from "../support/patiently.ts";
import { testDatabase } from "../support/postgres.ts";
import { boxStar } from "./rig.ts";
import { forgetful } from "./witness.ts";

/** Where a publisher finds everything; also the order to a publisher process. */
export interface Place {
  readonly databaseUrl: string;
  readonly mirrorUrl: string;
  readonly nodes: readonly { readonly address: string; readonly account: string }[];
  readonly operatorId: string;
  readonly operatorKey: string;
  readonly topics: Readonly<Record<TopicKind, string>>;
  readonly leaseMs: number;
}

/** The real SDK, three nodes, a mirror node, Postgres, and stars to publish. */
export interface Live {
  readonly network: TestNetwork;
  readonly place: Place;
  readonly sql: Sql;
  /** Inserts so many stars into the outbox, the two kinds alternating, and returns their ids. */
  box(count: number): Promise<readonly string[]>;
  /** Resolves when all of these are published; rejects when that takes too long. */
  published(stars: readonly string[], withinMs: number): Promise<void>;
  /** Every one of these stars is on its topic once, and no two claim the same place. */
  assertOnce(stars: readonly string[]): Promise<void>;
  /** The states of these stars. */
  states(stars: readonly string[]): Promise<readonly string[]>;
  /** How many of these stars are not published yet. */
  countLeft(stars: readonly string[]): Promise<number>;
  /** Takes every fault of nodes and mirror node away. */
  heal(): void;
  close(): Promise<void>;
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

const LEASE_MS = 2_000;

/** @param options.now the ledger's clock, epoch ms; this machine's when absent */
export async function openLive(options: { readonly now?: () => number } = {}): Promise<Live> {
  const [network, database] = await Promise.all([
    testNetwork({ consensusDelayMs: 10, ...options }),
    testDatabase({ migrated: true }),
  ]);
  const { hedera, operator } = network;
  const submitKey = ed25519Key(operator.publicKey);
  const place: Place = {
    databaseUrl: database.url,
    mirrorUrl: hedera.mirrorUrl,
    nodes: hedera.nodes.map(({ address, account }) => ({ address, account })),
    operatorId: operator.id,
    operatorKey: operator.privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
    topics: {
      event: await hedera.ledger.createTopic({ submitKey }),
      asset: await hedera.ledger.createTopic({ submitKey }),
    },
    leaseMs: LEASE_MS,
  };
  const sql = openPostgres(database.url, { connections: 4 });
  const mirror = new MirrorClient({ urls: [hedera.mirrorUrl], log: silentLogger });
  let lastAt = 0;
  const texts = async (): Promise<readonly string[]> => {
    const topics = Object.values(place.topics).map((topicId) => readAll(mirror, topicId));
    return (await Promise.all(topics)).flat();
  };
  const states = async (stars: readonly string[]): Promise<readonly string[]> => {
    const rows = await sql<{ state: string }[]>`
      select state from outbox where star_id = any (${[...stars]}::uuid[])`;
    return rows.map(({ state }) => state);
  };
  return {
    network,
    place,
    sql,
    async box(count) {
      const stars: string[] = [];
      for (let i = 0; i < count; i++) {
        lastAt = Math.max(Date.now(), lastAt + 1);
        stars.push(await boxStar(sql, i % 2 === 0 ? "event" : "asset", lastAt));
      }
      return stars;
    },
    async published(stars, withinMs) {
      const until = performance.now() + withinMs;
      for (;;) {
        const rows = await sql<{ state: string; last_error: string | null }[]>`
          select state, last_error from outbox
          where star_id = any (${[...stars]}::uuid[]) and state <> 'published'`;
        if (rows.length === 0) return;
        if (performance.now() > until) {
          throw new Error(
            `${rows.length} not published within ${withinMs} ms, one ${rows[0]?.state}: ${rows[0]?.last_error}`,
          );
        }
        await pause(20);
      }
    },
    states,
    countLeft: async (stars) =>
      (await states(stars)).filter((state) => state !== "published").length,
    async assertOnce(stars) {
      const rows = await sql<{ message: string; place: string }[]>`
        select message, topic_id || ' ' || sequence_number as place from outbox
        where star_id = any (${[...stars]}::uuid[])`;
      const said = await texts();
      for (const { message } of rows) {
        assert.equal(said.filter((text) => text === message).length, 1, message);
      }
      assert.equal(new Set(rows.map((row) => row.place)).size, stars.length);
    },
    heal() {
      for (const { faults } of network.hedera.nodes) faults.heal();
      network.hedera.mirror.faults.heal();
    },
    async close() {
      for (const publisher of opened) {
        if (publisher.place.databaseUrl === place.databaseUrl) await publisher.close();
      }
      await mirror.close();
      await sql.end({ timeout: 1 });
      await network.close();
      await database.close();
    },
  };
}

async function readAll(mirror: MirrorNode, topicId: string): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let after = 0; ; ) {
    const { messages, more } = await mirror.topicMessages(topicId, { afterSequence: after });
    texts.push(...messages.map(({ bytes }) => bytes.toString()));
    after = messages.at(-1)?.sequenceNumber ?? after;
    if (!more) return texts;
  }
}

/** Closed with the place they are at, at the latest, so that a failed test ends too. */
const opened = new Set<{ readonly place: Pick<Place, "databaseUrl">; close(): Promise<void> }>();

/**
 * A publisher with connections of its own, as a worker process has them; it starts again, as by a
 * supervisor, while a busy machine's database answers too late.
 */
export function openPublisher(place: Place, change: Partial<PublisherParts> = {}) {
  return patiently(() => startOnce(place, change));
}

async function startOnce(place: Place, change: Partial<PublisherParts>) {
  // As the service does: with no more rights than it needs.
  const sql = openPostgres(place.databaseUrl, { role: "starboard_app" });
  const topic: Topic = await createHederaTopic({
    network: "local",
    callDeadlineMs: 1_000,
    ...place,
  });
  const mirror = new MirrorClient({ urls: [place.mirrorUrl], log: silentLogger });
  const metrics = createMetrics();
  const handlers: (() => void)[] = [];
  const release = async (): Promise<void> => {
    topic.close();
    await mirror.close();
    await sql.end({ timeout: 1 });
  };
  try {
    const publisher = await startPublisher({
      sql,
      witness: forgetful,
      topic,
      mirror,
      topics: place.topics,
      queue: { onWake: (handler) => void handlers.push(handler) },
      log: silentLogger,
      metrics,
      leaseMs: place.leaseMs,
      ...change,
    });
    const running = {
      ...publisher,
      place,
      metrics,
      wake: () => {
        for (const handler of handlers) handler();
      },
      async close() {
        opened.delete(running);
        await publisher.close();
        await release();
      },
    };
    opened.add(running);
    return running;
  } catch (error) {
    await release();
    throw error;
  }
}
