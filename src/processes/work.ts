import { defineCommand } from "citty";
import { environment, readSettings } from "../config.ts";
import { createLogger } from "../log.ts";
import { createWakeQueue } from "../publishing/queue.ts";
import { armFailpointOf } from "./arm.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { growHeapSlowly } from "./slow-heap-growth.ts";
import { startWorker, WORKER_SETTINGS } from "./worker.ts";

/** `starboard work`: one worker process; several share the work. */
export const workCommand = defineCommand({
  meta: { name: "work", description: "Run a worker process: publishing and upkeep." },
  run: () =>
    runUntilStopped(async () => {
      growHeapSlowly();
      const settings = readSettings(environment(), WORKER_SETTINGS);
      const log = createLogger(settings.LOG_LEVEL, "worker");
      armFailpointOf(settings, log);
      const backend = { redisUrl: settings.REDIS_URL };
      const queue = await createWakeQueue(backend, log);
      const worker = await startWorker(settings, { log, queue, backend });
      log.info("worker process is up");
      return {
        log,
        async close() {
          await worker.close();
          await queue.close();
        },
      };
    }),
});
