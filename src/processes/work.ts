import { defineCommand } from "citty";
import { checkInstead, PROCESS_FLAGS } from "../cli/doctor.ts";
import { refuseMore } from "../cli/output.ts";
import { environment, readSettings, type Settings } from "../config.ts";
import { clientAddress } from "../http/middleware/client-address.ts";
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
    if (await checkInstead(args, "work", () => checked(readSettings(environment())))) return;
    await runUntilStopped(async () => {
      growHeapSlowly();
      const settings = checked(readSettings(environment(), WORKER_SETTINGS));
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

/** Before a server is asked or a star is sent: by its own port alone a worker would notice later. */
function checked<S extends Settings>(settings: S): S {
  clientAddress(settings.TRUSTED_PROXIES);
  return settings;
}
