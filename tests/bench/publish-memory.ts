import type { Child } from "./children.ts";
import { slopeOf } from "./slope.ts";

/** A worker's memory, bytes. */
export interface MemorySample {
  /** Published so far. */
  readonly messages: number;
  /** At rest and collected: what it keeps. */
  readonly heap: number;
  readonly rss: number;
  /** Seen most on the way here, while nothing but V8 itself collected. */
  readonly busyRss: number;
}

/** What a message holds for a moment, timers and connections, is gone after this. */
const REST_MS = 1_500;
/** Pages that a collection left empty are given back a little later. */
const GIVEN_BACK_MS = 250;
/** What V8 compiles for the first time, and for the second, is no slope: so long it goes on. */
const WARM_UP_MESSAGES = 20_000;
/** Of fewer a slope says nothing. */
const SAMPLES_MIN = 5;

/** Lets a worker come to rest and looks at what it keeps. */
export async function sampleAtRest(
  worker: Child,
  { messages, busyRss }: Pick<MemorySample, "messages" | "busyRss">,
): Promise<MemorySample> {
  await pause(REST_MS);
  await worker.collected();
  await pause(GIVEN_BACK_MS);
  const { rssBytes: rss, heapBytes: heap } = await worker.collected();
  return { messages, heap, rss, busyRss };
}

/** The samples after the warm-up; all of them where that would leave too few. */
export function steadyPart(samples: readonly MemorySample[]): readonly MemorySample[] {
  const steady = samples.filter(({ messages }) => messages > WARM_UP_MESSAGES);
  return steady.length < SAMPLES_MIN ? samples : steady;
}

/** How a figure grows, KiB per 1,000 messages: the median of the slopes between any two samples. */
export function growthPerThousand(
  samples: readonly MemorySample[],
  of: "heap" | "rss" | "busyRss",
): number {
  const perMessage = slopeOf(samples.map((sample) => [sample.messages, sample[of]]));
  return (perMessage * 1_000) / 1_024;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
