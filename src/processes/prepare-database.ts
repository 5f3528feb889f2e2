import { ConfigurationError, type Settings } from "../config.ts";
import { checkLastingSettings, type LastingSettings } from "../journal/export-settings.ts";
import type { Logger } from "../log.ts";
import { refuseSwapped } from "../publishing/check-topic.ts";
import { OtherBuildError, schemaState } from "../store/migrate.ts";
import { appRole, runFirst, withPostgres } from "../store/postgres.ts";

/**
 * Looks at the database once, with the login's own rights.
 *
 * @returns the restricted role to work as, undefined where this login has none
 * @throws ConfigurationError when the schema is older than this build, or of another one, or a
 *   setting is another than the journal's: of the two topics, too
 */
export function prepareDatabase(
  settings: LastingSettings &
    Partial<Pick<Settings, "EVENT_VOTES_TOPIC_ID" | "ASSET_VOTES_TOPIC_ID">> & {
      readonly DATABASE_URL: string;
    },
  log: Logger,
): Promise<string | undefined> {
  return withPostgres(settings.DATABASE_URL, { connections: 1 }, async (probe) => {
    const schema = await runFirst(schemaState(probe));
    if (schema === "other") throw new OtherBuildError();
    if (schema === "old") {
      throw new ConfigurationError(
        "the database's schema is older than this build: run `starboard migrate`",
      );
    }
    await runFirst(checkLastingSettings(probe, settings));
    const { EVENT_VOTES_TOPIC_ID: event, ASSET_VOTES_TOPIC_ID: asset } = settings;
    await refuseSwapped(probe, { event, asset }, runFirst);
    const role = await runFirst(appRole(probe));
    if (role === undefined) {
      log.warn("no role starboard_app for this login: triggers alone guard the journal");
    }
    return role;
  });
}
