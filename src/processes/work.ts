import { defineCommand } from "citty";
import { checkInstead, PROCESS_FLAGS } from "../cli/doctor.ts";
import { refuseMore } from "../cli/output.ts";
import { environment, readSettings } from "../config.ts";
import { createLogger } from "../log.ts";
import { createWakeQueue } from "../publishing/queue.ts";
import { armFailpointFromSettings } from "./failpoints.ts";
import { printJson, runUntilStopped } from "./run-until-stopped.ts";
import { growHeapSlowly } from "./slow-heap-growth.ts";
import { startTracing, traceFields } from "./start-tracing.ts";
import { startWorker, WORKER_SETTINGS } from "./worker.ts";

/** `starboard work`: one worker process; several share the work. */
export const subcommand = defineCommand({
  args: PROCESS_FLAGS,
  async run({ args }) {
    refuseMore(args._);
    if (await checkInstead(args, "work", () => readSettings(environment()))) return;
    await runUntilStopped(async () => {
      growHeapSlowly();
      const settings = readSettings(environment(), WORKER_SETTINGS);
      const log = createLogger(settings.LOG_LEVEL, "worker", traceFields(settings));
      const tracing = await startTracing(settings, { role: "worker", log });
      armFailpointFromSettings(settings, log);
      const queue = createWakeQueue(settings.REDIS_URL, log);
      const worker = await startWorker(settings, { log, queue, queueUrl: settings.REDIS_URL });
      log.info("worker process is up");
      if (args.json) printJson({ url: worker.url });
      return {
        log,
        async close() {
          await worker.close();
          await queue.close();
          await tracing.close();
        },
      };
    });
  },
});
