import { createInterface } from "node:readline";
import { type FailpointOrder, hookOf } from "../../src/failpoint.ts";
import { silentLogger } from "../../src/log.ts";
import { createWakeQueue } from "../../src/publishing/queue.ts";
import { openPublisher, type Place } from "../publishing/live.ts";

/** The order to a publisher process. */
export interface PublisherOrder {
  readonly place: Place;
  readonly failpoint?: FailpointOrder | undefined;
  readonly sweepEveryMs?: number | undefined;
  /** Where wake-ups come from; without it the publisher looks at its start and by its sweep. */
  readonly redisUrl?: string | undefined;
}

/**
 * A publisher in a process of its own, to be killed or stopped. It loads everything, says
 * `ready`, and waits for its order on standard input: a spare one costs no time.
 */
async function main(): Promise<void> {
  await import("@hashgraph/sdk");
  say("ready");
  let close = async (): Promise<void> => undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    close = await publish(JSON.parse(line) as PublisherOrder);
  }
  // Standard input has ended: finish what is in hand.
  await close();
  process.exit();
}

async function publish(order: PublisherOrder): Promise<() => Promise<void>> {
  const { place, failpoint, sweepEveryMs, redisUrl } = order;
  const queue = redisUrl === undefined ? undefined : createWakeQueue(redisUrl, silentLogger);
  const publisher = await openPublisher(place, {
    ...(queue && { queue }),
    ...(sweepEveryMs !== undefined && { sweepEveryMs }),
    ...(failpoint && {
      failpoint: hookOf(failpoint, () => say("hit")),
    }),
  });
  say("publishing");
  return async () => {
    await publisher.close();
    await queue?.close();
  };
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}

await main();
