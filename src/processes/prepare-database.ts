import { ConfigurationError } from "../config.ts";
import type { Logger } from "../log.ts";
import { schemaState } from "../store/migrate.ts";
import { appRole, inTime, openPostgres } from "../store/postgres.ts";

/**
 * Looks at the database once, with the login's own rights.
 *
 * @returns the restricted role to work as, undefined where this login has none
 * @throws ConfigurationError when the schema is older than this build
 */
export async function prepareDatabase(url: string, log: Logger): Promise<string | undefined> {
  const probe = openPostgres(url, { connections: 1 });
  try {
    if ((await inTime(schemaState(probe))) === "old") {
      throw new ConfigurationError(
        "the database's schema is older than this build: run `starboard migrate`",
      );
    }
    const role = await appRole(probe);
    if (role === undefined) {
      log.warn("no role starboard_app for this login: triggers alone guard the journal");
    }
    return role;
  } finally {
    await probe.end({ timeout: 1 });
  }
}
