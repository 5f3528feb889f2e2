import { defineCommand } from "citty";
import { checkInstead, PROCESS_FLAGS } from "../cli/doctor.ts";
import { refuseMore } from "../cli/output.ts";
import { ConfigurationError, environment, readSettings, type Settings } from "../config.ts";
import { createLogger, type Logger } from "../log.ts";
import { createWakeQueue } from "../publishing/queue.ts";
import { ownsTables, runStatement, withPostgres } from "../store/postgres.ts";
import { armFailpointFromSettings } from "./failpoints.ts";
import { printJson, runUntilStopped } from "./run-until-stopped.ts";
import { startTracing, traceFields } from "./start-tracing.ts";
import { startWeb } from "./web.ts";
import { checkAddresses, WEB_SETTINGS } from "./web-settings.ts";

/** `starboard serve`: one web process, of any number. */
export const subcommand = defineCommand({
  args: PROCESS_FLAGS,
  async run({ args }) {
    refuseMore(args._);
    if (await checkInstead(args, "serve", checkedSettings)) return;
    await runUntilStopped(async () => {
      const settings = readSettings(environment(), WEB_SETTINGS);
      checkOwnAddresses(settings);
      const log = createLogger(settings.LOG_LEVEL, "web", traceFields(settings));
      const tracing = await startTracing(settings, { role: "web", log });
      armFailpointFromSettings(settings, log);
      await warnOfRights(settings, log);
      const queue = createWakeQueue(settings.REDIS_URL, log);
      const web = await startWeb(settings, { log, wake: queue.wake, queueUrl: settings.REDIS_URL });
      log.info({ url: web.url }, "web process is up");
      if (args.json) printJson({ url: web.url });
      return {
        log,
        async close() {
          await web.close();
          await queue.close();
          await tracing.close();
        },
      };
    });
  },
});

/** As a start reads them; a check reports what is missing. */
function checkedSettings(): Settings {
  const settings = readSettings(environment());
  checkOwnAddresses(settings);
  return settings;
}

/** The system chooses port 0's number when it is bound, and what wallets sign has to name it before. */
function checkOwnAddresses(settings: Settings): void {
  checkAddresses(settings);
  if (settings.PORT === 0 && settings.PUBLIC_URL === undefined)
    throw new ConfigurationError("PUBLIC_URL is missing: PORT 0 is any free one");
}

/**
 * Says at the start what the process was given and does not need. Both are for the worker and the
 * migrator: a web process that is taken over should hold neither.
 */
async function warnOfRights(
  settings: Pick<Settings, "HEDERA_OPERATOR_KEY"> & { readonly DATABASE_URL: string },
  log: Logger,
): Promise<void> {
  if (settings.HEDERA_OPERATOR_KEY !== undefined) {
    log.warn("HEDERA_OPERATOR_KEY is set here: a web process needs none, only the worker does");
  }
  await withPostgres(settings.DATABASE_URL, { connections: 1 }, async (probe) => {
    if (await runStatement(ownsTables(probe))) {
      log.warn("this login owns the tables: use one that is only a member of starboard_app");
    }
  });
}
