import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createClient } from "redis";
import { silentLogger } from "../../src/log.ts";
import { createWakeQueue } from "../../src/publishing/queue.ts";
import { type Live, pause } from "../publishing/live.ts";
import type { ConsensusFault } from "../support/node-faults.ts";
import { testRedis } from "../support/redis.ts";
import { spawnPublisher } from "./publish-world.ts";
import type { PublisherOrder } from "./publisher-process.ts";
import type { Outcome } from "./run-cases.ts";
import { openTruthfulLive } from "./truthful-stars.ts";

/** Two publisher processes, three nodes, a mirror node, Redis, and stars that keep coming. */
interface Scene {
  readonly live: Live;
  readonly workers: readonly ChildProcess[];
  /** The ledger's time jumps ahead. */
  jump(milliseconds: number): Promise<void>;
  flushRedis(): Promise<void>;
}

/** Something that is wrong while stars come in; it may last longer than the stars do. */
export interface TroubleScene {
  readonly name: string;
  /** Lets the trouble happen; resolves when it is over. */
  readonly happen: (scene: Scene) => Promise<void>;
}

const STARS = 80;
const STARS_PER_SECOND = 20;
const SETTLED_WITHIN_MS = 120_000;
/** Longer than BullMQ's lock of 30 s, and than any lease. */
const PAUSE_MS = 35_000;

const onEachNode = (fault: ConsensusFault) => async (scene: Scene) => {
  for (const { faults } of scene.live.network.hedera.nodes) faults.inject(fault);
};

export const TROUBLES: readonly TroubleScene[] = [
  { name: "accept-then-drop", happen: onEachNode({ kind: "accept-then-drop", times: 10 }) },
  { name: "busy", happen: onEachNode({ kind: "refuse", code: "BUSY", times: 20 }) },
  { name: "foreign-duplicate", happen: onEachNode({ kind: "foreign-duplicate", times: 10 }) },
  {
    name: "transaction-expired",
    happen: onEachNode({ kind: "refuse", code: "TRANSACTION_EXPIRED", times: 5 }),
  },
  { name: "unavailable", happen: onEachNode({ kind: "unavailable", calls: "all", times: 20 }) },
  {
    name: "throttled-at-consensus",
    async happen(scene) {
      const fault = {
        kind: "fail-at-consensus",
        code: "THROTTLED_AT_CONSENSUS",
        times: 5,
      } as const;
      await onEachNode(fault)(scene);
      await pause(2_000);
      // Their ids' time passes, and other stars' messages say so.
      await scene.jump(150_000);
      await scene.live.box(4);
    },
  },
  {
    name: "mirror-lag-15s",
    async happen({ live }) {
      live.network.hedera.mirror.faults.inject({ kind: "lag", ms: 15_000 });
      await pause(20_000);
    },
  },
  {
    name: "replica-forgets",
    async happen({ live }) {
      const asOf = live.network.hedera.ledger.lastConsensus();
      live.network.hedera.mirror.faults.inject({ kind: "replica-flip", asOf });
      await pause(8_000);
    },
  },
  {
    name: "redis-flushed",
    async happen(scene) {
      for (let i = 0; i < 8; i++) {
        await scene.flushRedis();
        await pause(500);
      }
    },
  },
  {
    name: "two-owners",
    async happen({ workers }) {
      await pause(500);
      const [sleeper] = workers;
      sleeper?.kill("SIGSTOP");
      await pause(PAUSE_MS);
      sleeper?.kill("SIGCONT");
    },
  },
  {
    name: "all-at-once",
    async happen(scene) {
      const { nodes, mirror } = scene.live.network.hedera;
      const [one, two, three] = nodes;
      one?.faults.inject({ kind: "accept-then-drop", times: 15 });
      two?.faults.inject({ kind: "foreign-duplicate", times: 15 });
      three?.faults.inject({ kind: "unavailable", calls: "all", times: 15 });
      mirror.faults.inject({ kind: "lag", ms: 5_000 });
      mirror.faults.inject({ kind: "fail", status: 429, html: true, times: 10 });
      const [sleeper] = scene.workers;
      sleeper?.kill("SIGSTOP");
      await scene.flushRedis();
      await pause(6_000);
      sleeper?.kill("SIGCONT");
    },
  },
];

/** Lets one trouble happen; afterwards holds the topics against the outbox, and audits them. */
export async function runTrouble({ name, happen }: TroubleScene): Promise<Outcome> {
  const started = performance.now();
  let failure: Error | undefined;
  const scene = await openScene();
  try {
    await Promise.all([happen(scene), scene.keepVoting()]);
    scene.live.heal();
    await scene.allPublished();
    await scene.check();
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  } finally {
    await scene.close();
  }
  const seconds = (performance.now() - started) / 1_000;
  return { name, at: name, mode: "trouble", failure, seconds };
}

async function openScene() {
  const [world, redis] = await Promise.all([openTruthfulLive(), testRedis({ own: true })]);
  const { live, jump } = world;
  const { place, sql } = live;
  const spawned = await Promise.all([spawnPublisher(), spawnPublisher()]);
  const order: PublisherOrder = { place, redisUrl: redis.url };
  for (const { child } of spawned) child.stdin?.write(`${JSON.stringify(order)}\n`);
  await Promise.all(spawned.map(({ words }) => words.said("publishing")));
  const queue = createWakeQueue(redis.url, silentLogger);
  const client = await createClient({ url: redis.url }).connect();
  const workers = spawned.map(({ child }) => child);
  return {
    live,
    workers,
    jump,
    flushRedis: async () => void (await client.flushAll()),
    async keepVoting() {
      for (let i = 0; i < STARS; i++) {
        await live.box(1);
        queue.wake();
        await pause(1_000 / STARS_PER_SECOND);
      }
    },
    async allPublished() {
      const rows = await sql<{ id: string }[]>`select star_id as id from outbox`;
      await live.published(
        rows.map(({ id }) => id),
        SETTLED_WITHIN_MS,
      );
    },
    check: () => world.check(),
    async close() {
      for (const worker of workers) await stop(worker);
      await queue.close();
      client.destroy();
      await world.close();
      await redis.close();
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGCONT");
  child.stdin?.end();
  await exited;
}
