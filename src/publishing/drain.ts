import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";
import { tracing } from "../tracing.ts";
import {
  type PublishContext,
  type PublisherContext,
  TOPIC_KINDS,
  type TopicKind,
} from "./context.ts";
import { type LeasedStar, leaseStars, type Outbox } from "./outbox.ts";
import { publishStar } from "./publish-star.ts";
import type { SendingGround } from "./topic-knowledge.ts";

/** Stars in hand per topic; most of them wait for a receipt, which takes seconds. */
const IN_HAND_MAX = bounds.publishBatchMax / 2;
/** After a fault of Postgres, and before a defect is tried again. */
const OUTAGE_DELAY_MS = 1_000;
const FAULT_DELAY_MS = 60_000;

/**
 * Takes up what is due, oldest first, a bounded number of stars at a time.
 *
 * @param groundOf the condition under which stars of a topic may be sent; undefined: not yet
 */
export function createDrain(
  context: PublisherContext,
  groundOf: (kind: TopicKind) => SendingGround | undefined,
) {
  const inHand = new Map<string, { readonly kind: TopicKind; readonly done: Promise<void> }>();
  /** Topics of which more stars are due than there was room for. */
  const moreDue = new Set<TopicKind>();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  const reminder = createReminder(() => look());

  const countInHand = (kind: TopicKind): number =>
    [...inHand.values()].filter((work) => work.kind === kind).length;

  const lookAfter = (delayMs: number): void => {
    if (!context.closing.aborted) reminder.after(delayMs);
  };

  const takeUp = (kind: TopicKind, star: LeasedStar, outbox: Outbox): void => {
    const done = work({ ...context, outbox }, star).then((delayMs) => {
      inHand.delete(star.starId);
      if (delayMs !== undefined) lookAfter(delayMs + 5);
      // Refilled by halves, so that a long queue is not leased star by star.
      if (moreDue.has(kind) && countInHand(kind) <= IN_HAND_MAX / 2) lookAfter(0);
    });
    inHand.set(star.starId, { kind, done });
  };

  const lookOnce = async (): Promise<void> => {
    for (const kind of TOPIC_KINDS) {
      const { gate } = context.lanes[kind];
      const free = IN_HAND_MAX - countInHand(kind);
      const ground = groundOf(kind);
      if (context.closing.aborted || free <= 0 || ground === undefined) continue;
      const { database, since } = ground;
      // A star stays with the database for which it was taken up, also where a later look finds another.
      const outbox = { ...context.outbox, database };
      const limit = Math.min(free, gate.takeRoom());
      const working = [...inHand.keys()];
      const stars =
        limit === 0 ? [] : await leaseStars(outbox, { topic: kind, limit, working, since });
      if (stars.length === limit) moreDue.add(kind);
      else moreDue.delete(kind);
      for (const star of stars) takeUp(kind, star, outbox);
      // A shut gate says itself when it wants to be tried again.
      if (gate.isShut && moreDue.has(kind)) lookAfter(gate.retryInMs());
    }
  };

  /** One look at a time; another one asked for meanwhile follows at once. */
  const look = (): void => {
    lookAgain = looking !== undefined;
    looking ??= lookOnce()
      .catch((error: unknown) => {
        context.alerts.failed("database");
        context.alerts.log.debug({ err: error }, "the outbox could not be read");
        lookAfter(OUTAGE_DELAY_MS);
      })
      .finally(() => {
        looking = undefined;
        if (lookAgain) lookAfter(0);
        lookAgain = false;
      });
  };

  return {
    /** Looks at the outbox soon; never throws, never waits. */
    soon: (): void => lookAfter(0),
    /** Resolves when nothing is in hand. */
    async idle(): Promise<void> {
      reminder.forget();
      await looking;
      while (inHand.size > 0) await Promise.all([...inHand.values()].map(({ done }) => done));
    },
  };
}

/** One timer for the earliest of many reasons to look; it keeps no process alive. */
function createReminder(remind: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let at = Number.POSITIVE_INFINITY;
  const forget = (): void => {
    clearTimeout(timer);
    at = Number.POSITIVE_INFINITY;
  };
  return {
    forget,
    after(delayMs: number) {
      const dueAt = performance.now() + delayMs;
      if (dueAt >= at) return;
      forget();
      at = dueAt;
      timer = setTimeout(() => {
        forget();
        remind();
      }, delayMs);
      timer.unref();
    },
  };
}

/** The star's trace goes on here, where it has one. */
function inTraceOf<T>({ starId, traceparent }: LeasedStar, publish: () => Promise<T>): Promise<T> {
  if (tracing === undefined || traceparent === null) return publish();
  const attributes = { "starboard.star": starId };
  return tracing.inSpan("publish", publish, { traceparent, attributes });
}

/** Publishes one star; its failure does not stop the others. */
async function work(context: PublishContext, star: LeasedStar): Promise<number | undefined> {
  const { starId } = star;
  try {
    return await inTraceOf(star, () => publishStar(context, star));
  } catch (error) {
    const isOutage = error instanceof RetryableError;
    context.alerts.failed(isOutage ? "database" : "fault");
    // Still leased to us: it is due again as soon as Postgres answers.
    if (isOutage) return OUTAGE_DELAY_MS;
    context.alerts.log.error({ err: error, starId }, "a star could not be published");
    const why = error instanceof Error ? error.message : String(error);
    await context.outbox.steps
      .release({ starId, delayMs: FAULT_DELAY_MS, why })
      .catch(() => undefined);
    return FAULT_DELAY_MS;
  }
}
