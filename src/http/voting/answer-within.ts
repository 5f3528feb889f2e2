import type { Context, MiddlewareHandler } from "hono";
import { bounds } from "../../bounds.ts";
import { RetryableError } from "../../errors.ts";

/** The time a request may take, without what its client takes. */
export interface Deadline {
  /** When it is over, by `performance.now()`. */
  answerBy(): number;
  /** Does something that takes the client's time: the deadline waits meanwhile. */
  without<T>(work: () => Promise<T>): Promise<T>;
}

/** While the client takes its time. */
const LOOK_AGAIN_MS = 50;

/** What a request behind `answerWithin` knows. */
export interface DeadlineVariables {
  deadline: Deadline;
}

/**
 * Answers 503 when a request has taken too long, however many waits it is made of: each of them
 * has its own bound, and several that nearly reach theirs add up. What reads holdings may take
 * as long as the mirror node, 3 s; the rest 2 s.
 *
 * @throws RetryableError `UNAVAILABLE`
 */
export function answerWithin(): MiddlewareHandler<{ Variables: DeadlineVariables }> {
  return async function answerInTime(c, next) {
    let timer: NodeJS.Timeout | undefined;
    let refuse: (error: Error) => void = () => undefined;
    const allowedMs = timeFor(c);
    let answerBy = performance.now() + allowedMs;
    let isClientsTime = false;
    // Set again only when it fires, which is rare.
    const ring = (): void => {
      const left = answerBy - performance.now();
      if (isClientsTime) timer = setTimeout(ring, LOOK_AGAIN_MS);
      else if (left > 0) timer = setTimeout(ring, left);
      else refuse(new RetryableError("UNAVAILABLE", "the answer took too long"));
    };
    timer = setTimeout(ring, allowedMs);
    c.set("deadline", {
      // A getter would keep the whole request long after its end (docs/decisions/0037).
      answerBy: () => answerBy,
      async without(work) {
        const startedAt = performance.now();
        isClientsTime = true;
        try {
          return await work();
        } finally {
          isClientsTime = false;
          answerBy += performance.now() - startedAt;
        }
      },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        refuse = reject;
        next().then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
    }
  };
}

function timeFor(c: Context): number {
  const isStar = c.req.method === "POST" && c.req.path.endsWith("/stars");
  const isPreview = c.req.path.endsWith("/preview");
  return isStar || isPreview ? bounds.starDeadlineMs : bounds.statementDeadlineMs;
}
