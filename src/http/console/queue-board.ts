import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Queue } from "bullmq";
import { Hono } from "hono";
import { RetryableError } from "../../errors.ts";
import { loadOnce } from "../../load-once.ts";
import { PUBLISHING_QUEUE } from "../../publishing/queue.ts";
import type { Service } from "../../service.ts";
import { connectQueues, type QueueConnection } from "../../store/queue-connection.ts";
import { REWARDS_QUEUE } from "../../upkeep/rewards-queue.ts";
import { withDeadline } from "../../with-deadline.ts";

/** BullMQ's queues as Bull Board shows them. */
export interface QueueBoard extends Service {
  /**
   * Answers a request for something below `BOARD_PATH`.
   *
   * @param mayAct whether the board shows what retries jobs
   * @throws RetryableError `UNAVAILABLE` when the queues do not answer within 4 s
   */
  answer(request: Request, mayAct: boolean): Promise<Response>;
  /**
   * Jobs in each queue by state, for the metrics.
   *
   * @throws RetryableError `UNAVAILABLE` when the queues do not answer within 4 s
   */
  countJobs(): Promise<readonly JobCount[]>;
}

export interface JobCount {
  readonly queue: string;
  readonly state: string;
  readonly count: number;
}

const STATES = ["waiting", "active", "delayed", "failed"] as const;

export const BOARD_PATH = "/ops/queues/board";

/** The queues of this service, and what each is for. Only jobs of `rewards` can fail. */
export const QUEUES = [
  {
    ...PUBLISHING_QUEUE,
    purpose:
      "Wakes a worker to publish stars. One wake-up stands for all of them and is gone as soon as a worker takes it, so this queue is nearly always empty.",
    hasRetries: false,
  },
  {
    ...REWARDS_QUEUE,
    purpose: "Holds a job for each accepted star until the rewards feature has taken it.",
    hasRetries: true,
  },
] as const;

const ANSWER_WITHIN_MS = 4_000;
/** Bull Board's page asks another host for a font; without it the browser's own serves. */
const FONT_OF_ANOTHER_HOST = /<link href="https:\/\/fonts\.googleapis\.com\/[^>]*>/;
/** Names of what is never shown: jobs of `rewards` may be of other producers too. */
const SECRET =
  /secret|passw|passphrase|token|api[_-]?key|private|signature|authori[sz]ation|cookie|credential|mnemonic/i;
/** Buttons of what is refused here (`queue-board-routes.ts`), known by their pictures. */
const WITHOUT_REFUSED_BUTTONS = `<style>
  button:has(.lucide-files, .lucide-pencil, .lucide-trash2, .lucide-ellipsis-vertical) { display: none }
</style>`;

/**
 * Shows the queues and retries jobs. It connects when it is first asked.
 *
 * @param redisUrl of a Redis that is fit for BullMQ
 * @param isThere whether Redis answers now
 */
export function openQueueBoard(redisUrl: string, isThere: () => boolean): QueueBoard {
  let connection: QueueConnection | undefined;
  const open = loadOnce(async (): Promise<Open> => {
    const opened = await connectQueues(redisUrl, { onError: () => undefined });
    connection = opened;
    const queues = QUEUES.map(({ name, prefix }) =>
      // Without the first option even one that only looks would write down its version.
      opened.queue(name, { skipMetasUpdate: true, prefix }),
    );
    const open = { acting: makeBoard(queues, true), looking: makeBoard(queues, false), queues };
    await opened.ready();
    return open;
  });
  const opened = async <T>(use: (open: Open) => T | Promise<T>): Promise<T> => {
    if (!isThere()) throw away();
    const there = open().catch((error: unknown) => {
      throw away(error);
    });
    return withDeadline(there.then(use), ANSWER_WITHIN_MS, away);
  };
  return {
    answer: (request, mayAct) =>
      opened(({ acting, looking }) => (mayAct ? acting : looking).fetch(request)),
    countJobs: () =>
      opened(async ({ queues }) => {
        const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...STATES)));
        return queues.flatMap(({ name }, index) =>
          STATES.map((state) => ({ queue: name, state, count: counts[index]?.[state] ?? 0 })),
        );
      }),
    close: async () => connection?.close(),
  };
}

/** The queues, shown to those who may retry jobs and to those who look. */
interface Open {
  readonly acting: Hono;
  readonly looking: Hono;
  readonly queues: readonly Queue[];
}

/** Bull Board takes completed jobs for retries too: done once more, a star would be rewarded twice. */
class FailedRetries extends BullMQAdapter {
  override async getJob(id: string) {
    const job = await super.getJob(id);
    if (job === undefined) return job;
    const retry = job.retry.bind(job);
    // BullMQ itself refuses where the job is in another state.
    job.retry = () => retry("failed");
    return job;
  }
}

/** @param queues those of `QUEUES`, in that order */
function makeBoard(queues: readonly Queue[], mayAct: boolean): Hono {
  const adapter = new HonoAdapter(serveStatic).setBasePath(BOARD_PATH);
  createBullBoard({
    serverAdapter: adapter,
    queues: queues.map((queue, index) => {
      const { purpose = "", hasRetries = false } = QUEUES[index] ?? {};
      const options = {
        description: purpose,
        readOnlyMode: !hasRetries || !mayAct,
        allowCompletedRetries: false,
      };
      const shown = new FailedRetries(queue, options);
      shown.setFormatter("data", hideSecrets);
      shown.setFormatter("returnValue", hideSecrets);
      return shown;
    }),
    options: {
      uiConfig: {
        boardTitle: "Starboard queues",
        hideDocsLink: true,
        miscLinks: [{ text: "Back to the console", url: "/ops/queues" }],
      },
    },
  });
  const board = new Hono({ strict: false });
  board.use(async (c, next) => {
    await next();
    if (!c.res.headers.get("content-type")?.startsWith("text/html")) return;
    c.res = new Response(
      (await c.res.text()).replace(FONT_OF_ANOTHER_HOST, WITHOUT_REFUSED_BUTTONS),
      c.res,
    );
  });
  return board.route(BOARD_PATH, adapter.registerPlugin());
}

function hideSecrets(value: unknown): unknown {
  const json = JSON.stringify(value, (name, each) => (SECRET.test(name) ? "(hidden)" : each));
  return json === undefined ? undefined : JSON.parse(json);
}

function away(cause?: unknown): RetryableError {
  return new RetryableError("UNAVAILABLE", "the queues do not answer", 1, cause);
}
