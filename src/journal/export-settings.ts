import type { z } from "zod";
import type { Day } from "../../actors/day.ts";
import { type CollectionSetting, ConfigurationError, type Settings, type With } from "../config.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { exportHeader } from "./export-format.ts";

const noted = exportHeader.pick({
  network: true,
  topics: true,
  collections: true,
  excludedWallets: true,
  xpPerStar: true,
});
export type ExportSettings = z.output<typeof noted>;

/** Notes the settings under which a worker works today: the day's header has them, whenever it becomes final. */
export async function noteSettings(sql: Sql, settings: ExportSettings): Promise<void> {
  await runStatement(sql`
    insert into export_setting (day, settings)
    select today.day, today.settings
    from (select utc_day(now_ms()) as day, ${JSON.stringify(settings)}::text as settings) as today
    where not exists (select from export_setting known
      where known.day = today.day and known.settings = today.settings)
    on conflict (day) do update set settings = excluded.settings`);
}

export function exportSettings(settings: With<CollectionSetting>): ExportSettings {
  return {
    network: settings.HEDERA_NETWORK,
    topics: {
      event: settings.EVENT_VOTES_TOPIC_ID ?? null,
      asset: settings.ASSET_VOTES_TOPIC_ID ?? null,
    },
    collections: {
      a: { id: settings.COLLECTION_A_ID, key: settings.COLLECTION_A_KEY },
      b: { id: settings.COLLECTION_B_ID, key: settings.COLLECTION_B_KEY },
    },
    excludedWallets: [...settings.EXCLUDED_WALLETS],
    xpPerStar: settings.XP_PER_STAR,
  };
}

/** What a journal keeps from its first final day on. */
export type LastingSettings = Partial<Pick<Settings, "HEDERA_NETWORK" | CollectionSetting>>;

/**
 * Compares settings with the newest final export. NFTs that have counted are known by collection A
 * or B and their serial alone, so those of another collection would be taken for them; and an audit
 * reads one network and one pair of collections.
 *
 * @throws ConfigurationError naming the first setting that is another
 */
export async function checkLastingSettings(sql: Sql, settings: LastingSettings): Promise<void> {
  const [row] = await sql<{ header: string }[]>`
    select header from export_day order by day desc limit 1`;
  if (row === undefined) return;
  const { network, collections } = exportHeader.parse(JSON.parse(row.header));
  const kept = {
    HEDERA_NETWORK: network,
    COLLECTION_A_ID: collections.a.id,
    COLLECTION_A_KEY: collections.a.key,
    COLLECTION_B_ID: collections.b.id,
    COLLECTION_B_KEY: collections.b.key,
  };
  for (const name of Object.keys(kept) as (keyof typeof kept)[]) {
    if (settings[name] === undefined || settings[name] === kept[name]) continue;
    throw new ConfigurationError(
      `${name} is ${settings[name]}, and ${kept[name]} in this database's exports: it cannot change`,
    );
  }
}

/**
 * The settings of a day; where no worker saw it, those of the last day before it that one saw. Not so of a
 * day that came back: a worker saw it, and what it noted was lost. A part of a select.
 */
export function settingsOf(sql: Sql, day: Day) {
  return sql`(select settings from export_setting known
    where known.day = ${day}
      or known.day < ${day} and not exists (select from recovered_day where recovered_day.day = ${day})
    order by known.day desc limit 1)`;
}

/** Reads what `settingsOf` selects. */
export function parseNoted(text: string | null): ExportSettings | null {
  return text === null ? null : noted.parse(JSON.parse(text));
}
