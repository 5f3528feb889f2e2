import { ConfigurationError, type Settings } from "../config.ts";
import type { Logger } from "../log.ts";
import { ownsTables, runStatement, withPostgres } from "../store/postgres.ts";
import { processCommand } from "./process-command.ts";
import { startWeb } from "./web.ts";
import { checkAddresses, WEB_SETTINGS } from "./web-connections.ts";

/** `starboard serve`: one web process, of any number. */
export const subcommand = processCommand({
  command: "serve",
  role: "web",
  needed: WEB_SETTINGS,
  checkSettings(settings) {
    checkAddresses(settings);
    // The system chooses port 0's number when it is bound, and what wallets sign has to name it before.
    if (settings.PORT === 0 && settings.PUBLIC_URL === undefined)
      throw new ConfigurationError("PUBLIC_URL is missing: PORT 0 is any free one");
  },
  async start(settings, { log, queue, queueUrl }) {
    await warnOfRights(settings, log);
    return startWeb(settings, { log, wake: queue.wake, queueUrl });
  },
});

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
