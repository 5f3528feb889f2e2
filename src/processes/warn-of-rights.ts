import type { Settings } from "../config.ts";
import type { Logger } from "../log.ts";
import { openPostgres, ownsTables, runStatement } from "../store/postgres.ts";

/**
 * Says at the start of `serve` what it was given and does not need. Both are for the worker and the
 * migrator: a web process that is taken over should hold neither.
 */
export async function warnOfRights(
  settings: Pick<Settings, "HEDERA_OPERATOR_KEY"> & { readonly DATABASE_URL: string },
  log: Logger,
): Promise<void> {
  if (settings.HEDERA_OPERATOR_KEY !== undefined) {
    log.warn("HEDERA_OPERATOR_KEY is set here: a web process needs none, only the worker does");
  }
  const probe = openPostgres(settings.DATABASE_URL, { connections: 1 });
  try {
    if (await runStatement(ownsTables(probe))) {
      log.warn("this login owns the tables: use one that is only a member of starboard_app");
    }
  } finally {
    await probe.end({ timeout: 1 });
  }
}
