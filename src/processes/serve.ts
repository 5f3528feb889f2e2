import { defineCommand } from "citty";
import { CHECK_FLAGS, checkInstead } from "../cli/doctor.ts";
import { readCommandSettings } from "../cli/settings.ts";
import { environment, readSettings } from "../config.ts";
import { createLogger } from "../log.ts";
import { createWakeQueue } from "../publishing/queue.ts";
import { armFailpointFromSettings } from "./failpoints.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { warnOfRights } from "./warn-of-rights.ts";
import { startWeb } from "./web.ts";
import { WEB_SETTINGS } from "./web-settings.ts";

/** `starboard serve`: one web process, of any number. */
export const serveCommand = defineCommand({
  meta: { name: "serve", description: "Run a web process: public API and voting API." },
  args: CHECK_FLAGS,
  async run({ args }) {
    if (await checkInstead(args, "serve", () => readCommandSettings(WEB_SETTINGS))) return;
    await runUntilStopped(async () => {
      const settings = readSettings(environment(), WEB_SETTINGS);
      const log = createLogger(settings.LOG_LEVEL, "web");
      armFailpointFromSettings(settings, log);
      await warnOfRights(settings, log);
      const queue = createWakeQueue(settings.REDIS_URL, log);
      const web = await startWeb(settings, { log, wake: queue.wake, queueUrl: settings.REDIS_URL });
      log.info({ url: web.url }, "web process is up");
      return {
        log,
        async close() {
          await web.close();
          await queue.close();
        },
      };
    });
  },
});
