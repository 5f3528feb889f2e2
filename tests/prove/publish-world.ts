import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { hookOf } from "../../src/failpoint.ts";
import { redriveStar } from "../../src/publishing/outbox.ts";
import { type Live, openPublisher, pause } from "../publishing/live.ts";
import { until } from "../support/processes.ts";
import { nodeArguments } from "../support/script.ts";
import type { Case } from "./cases.ts";
import type { PublisherOrder } from "./publisher-process.ts";
import { openTruthfulLive } from "./truthful-stars.ts";

/** A ledger, a database and publishers of one lane of cases; kept from case to case. */
export interface PublishWorld {
  /** @returns whether the failpoint was passed so often at all */
  run(given: Case): Promise<boolean>;
  close(): Promise<void>;
}

/** Past an id's two minutes, and the minute that a quiet topic must be quiet for. */
const JUMP_MS = 200_000;
const SETTLED_WITHIN_MS = 40_000;
const REDRIVE_EVERY_MS = 250;
/** So that a case does not wait for the next regular sweep. */
const SWEEP_EVERY_MS = 400;
const AFTER_FIRST_LOOK_MS = 150;

export async function openPublishWorld(): Promise<PublishWorld> {
  const world = await openTruthfulLive();
  const { live } = world;
  const { place, network } = live;
  const spares = keepSpare();
  const inTrouble = async (trouble: Case["trouble"]): Promise<readonly string[]> => {
    if (trouble === "answer lost") {
      for (const { faults } of network.hedera.nodes) {
        faults.inject({ kind: "accept-then-drop", times: 1 });
      }
    }
    const stars = await live.box(2);
    if (trouble === "overdue") await loseAll(live, stars, world.jump);
    return stars;
  };
  return {
    async run(given) {
      // The sweep finds stars that came after the first look, without a wake-up.
      const isSweep = given.at.startsWith("sweep.");
      const early = isSweep ? [] : await inTrouble(given.trouble);
      const victim = await (given.mode === "kill" ? startChild(await spares.take()) : startHere)(
        orderFor(live, given),
      );
      if (isSweep) await pause(AFTER_FIRST_LOOK_MS);
      const stars = isSweep ? await inTrouble(given.trouble) : early;
      const helper = keepHelping(live, stars);
      try {
        const done = live.published(stars, SETTLED_WITHIN_MS);
        const isHit = await Promise.race([victim.hit.then(() => true), done.then(() => false)]);
        // Another publisher takes over from one that is killed or hangs; one that failed may go on
        // by itself.
        const rescuer = isHit ? await openPublisher(place, { sweepEveryMs: SWEEP_EVERY_MS }) : null;
        await done;
        await victim.end();
        await rescuer?.close();
        await world.check();
        return isHit || victim.wasHit();
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${await storyOf(live, stars)}`);
      } finally {
        helper.stop();
        live.heal();
        await victim.end();
      }
    },
    async close() {
      spares.close();
      await world.close();
    },
  };
}

function orderFor({ place }: Live, failpoint: Case): PublisherOrder {
  return { place, failpoint, sweepEveryMs: SWEEP_EVERY_MS };
}

/** What the database knows of them, to find out what went wrong. */
async function storyOf({ sql }: Live, stars: readonly string[]): Promise<string> {
  const rows = await sql`
    select state, tries, last_error, lease_until - now_ms() as leased_for,
      next_try_at - now_ms() as due_in, attempt, sends, refusals, receipt_status,
      absence_rounds, outcome, evidence
    from outbox left join publish_attempt using (star_id)
    where star_id = any (${[...stars]}::uuid[]) order by star_id, attempt`;
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

/** Every send comes to nothing, and then the time of every id is over. */
async function loseAll(
  live: Live,
  stars: readonly string[],
  jump: (milliseconds: number) => Promise<void>,
): Promise<void> {
  for (const { faults } of live.network.hedera.nodes) faults.inject({ kind: "unavailable" });
  const publisher = await openPublisher(live.place);
  await until("all are sent", async () => (await live.states(stars)).every((is) => is === "sent"));
  await publisher.close();
  live.heal();
  await jump(JUMP_MS);
}

/** What an impatient operator does: nothing may depend on the length of the wait. */
function keepHelping({ sql }: Live, stars: readonly string[]): { stop(): void } {
  let isHelping = true;
  const help = async (): Promise<void> => {
    while (isHelping) {
      const redriven = stars.map((starId) => redriveStar({ sql, wake: () => undefined }, starId));
      await Promise.allSettled([
        ...redriven,
        sql`update publish_attempt set absence_at = 0 where closed_at is null and absence_at > 0`,
      ]);
      // One after the other, and with a rest: rows that are always locked are never taken up.
      await pause(REDRIVE_EVERY_MS);
    }
  };
  void help();
  return {
    stop() {
      isHelping = false;
    },
  };
}

/** The process with the failpoint. */
interface Victim {
  readonly hit: Promise<unknown>;
  /** Lets it finish what it has in hand; resolves when it is gone, however it went. */
  end(): Promise<void>;
  wasHit(): boolean;
}

async function startHere({ place, failpoint, sweepEveryMs }: PublisherOrder): Promise<Victim> {
  if (failpoint === undefined) throw new Error("a victim needs a failpoint");
  let isHit = false;
  let onHit = (): void => undefined;
  const hit = new Promise<void>((resolve) => {
    onHit = () => {
      isHit = true;
      resolve();
    };
  });
  const publisher = await openPublisher(place, {
    failpoint: hookOf(failpoint, onHit),
    ...(sweepEveryMs !== undefined && { sweepEveryMs }),
  });
  let ending: Promise<void> | undefined;
  return {
    hit,
    wasHit: () => isHit,
    end: () => {
      ending ??= publisher.close();
      return ending;
    },
  };
}

type Words = ReturnType<typeof wordsOf>;

function startChild({ child, words }: { readonly child: ChildProcess; readonly words: Words }) {
  return async (order: PublisherOrder): Promise<Victim> => {
    const exited = once(child, "exit");
    child.stdin?.write(`${JSON.stringify(order)}\n`);
    return {
      hit: words.said("hit").then(() => exited),
      wasHit: () => words.heard("hit"),
      async end() {
        child.stdin?.end();
        await exited;
      },
    };
  };
}

/** A publisher process of its own, loaded and waiting for its order. */
export async function spawnPublisher(): Promise<{
  readonly child: ChildProcess;
  readonly words: Words;
}> {
  const script = join(import.meta.dirname, "publisher-process.ts");
  const child = spawn(process.execPath, [...nodeArguments(script)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  const words = wordsOf(child);
  await words.said("ready");
  return { child, words };
}

/** One more than is needed is always being loaded. */
function keepSpare() {
  let next: ReturnType<typeof spawnPublisher> | undefined;
  return {
    async take() {
      const spare = await (next ?? spawnPublisher());
      next = spawnPublisher();
      return spare;
    },
    close() {
      next?.then(({ child }) => child.kill("SIGKILL")).catch(() => undefined);
    },
  };
}

/** What a child says on standard output, a word a line. */
function wordsOf(child: ChildProcess) {
  const heard = new Set<string>();
  const waiting = new Map<string, () => void>();
  if (child.stdout === null) throw new Error("a child without output");
  createInterface({ input: child.stdout }).on("line", (word) => {
    heard.add(word);
    waiting.get(word)?.();
  });
  return {
    heard: (word: string): boolean => heard.has(word),
    said: (word: string): Promise<void> =>
      new Promise((resolve) => {
        if (heard.has(word)) resolve();
        waiting.set(word, resolve);
      }),
  };
}
