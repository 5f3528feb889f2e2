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
    let answerBy = performance.now() + timeFor(c);
    const late = (): void => refuse(new RetryableError("UNAVAILABLE", "the answer took too long"));
    const start = (): void => {
      timer = setTimeout(late, answerBy - performance.now());
    };
    start();
    c.set("deadline", {
      // A getter would keep the whole request long after its end (docs/decisions/0037).
      answerBy: () => answerBy,
      async without(work) {
        const startedAt = performance.now();
        clearTimeout(timer);
        try {
          return await work();
        } finally {
          answerBy += performance.now() - startedAt;
          start();
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
