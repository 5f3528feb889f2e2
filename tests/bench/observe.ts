/**
 * Loaded into every measured process (`--import`), our own and the product's alike: answers
 * what it has used so far, and lets no process outlive the benchmark.
 */

/** What a process has used since it began. */
export interface Usage {
  /** CPU of this process, user and system, microseconds. */
  readonly cpuUs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Whatever the process counts besides. */
  readonly counts: Readonly<Record<string, number>>;
}

/** What this process counts; `server.ts` adds to it. */
export const counts: Record<string, number> = {};

export function count(name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by;
}

if (process.send !== undefined) {
  process.on("message", (asked) => {
    if (asked === "usage") process.send?.(usage());
    if (asked === "collected") {
      (globalThis as { gc?: () => void }).gc?.();
      process.send?.(usage());
    }
  });
  // The channel must not keep a process running that is about to end.
  process.channel?.unref();
  process.on("disconnect", () => process.exit(1));
}

/** Takes orders from the benchmark, one after the other, and answers each with what came of it. */
export function takeOrders<Order extends object>(work: (order: Order) => Promise<unknown>): void {
  process.on("message", (order: Order | string) => {
    if (typeof order === "string") return;
    void work(order).then((result) => process.send?.(result));
  });
  // Orders come as long as the benchmark lives.
  process.channel?.ref();
  process.send?.("ready");
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuUs: user + system, rssBytes: rss, heapBytes: heapUsed, counts: { ...counts } };
}
