import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { openAuditMirror } from "../audit/audit-mirror.ts";
import { importCatalog } from "../catalogue/import-catalog.ts";
import { grantPass } from "../catalogue/premium.ts";
import { addSeason, listSeasons } from "../catalogue/seasons.ts";
import type { Clock } from "../clock.ts";
import type { CollectionSetting, With } from "../config.ts";
import { exportSettings } from "../journal/export-settings.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { MirrorClient } from "../ledger/mirror/node.ts";
import { demoDirectory, demoProposals } from "../local/demo-directory.ts";
import type { DemoLedger } from "../local/demo-ledger.ts";
import type { Ledger } from "../local/hedera/ledger.ts";
import { createLogger, type Logger, silentLogger } from "../log.ts";
import { recover } from "../recovery/recover.ts";
import { PIECE } from "../recovery/recovery.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { createHoldingsCheck } from "../upkeep/holdings-check/check.ts";
import { SELLER, SOLD_ON } from "./past-stars.ts";

const SEASON = { name: "Harvest season", daysBefore: 20, days: 90 } as const;
/** A wallet that people choose from, and voters. */
const PASSES = { wallet: 4, voters: [2, 5, 11] } as const;
/** Requests a second: the mirror node is ours. */
const NO_LIMIT = 10_000;

type DemoSettings = With<"MIRROR_NODE_URL" | CollectionSetting>;

interface DemoPlace {
  /** As the owner of the schema. */
  readonly sql: Sql;
  readonly settings: DemoSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Gives a first start something to look at, before any process asks for it.
 *
 * @param own the ledger of this machine with the demo's inhabitants; undefined on one of somebody else
 */
export async function fillDemo(
  given: Omit<DemoPlace, "log">,
  own: { readonly demo: DemoLedger; readonly ledger: Ledger } | undefined,
): Promise<void> {
  await fillEmptyDirectory(given, own?.demo);
  if (own === undefined) return;
  const place = { ...given, log: createLogger(given.settings.LOG_LEVEL, "demo") };
  await bringBackPast(place, own.demo);
  await sellCountedNft(place, own.demo, own.ledger);
}

/**
 * Fills an empty directory: records, one that waits for approval, a season, passes. A directory
 * with records of its own gets none of the demo's.
 *
 * @param demo whose wallets get passes
 */
async function fillEmptyDirectory(
  { sql, settings, clock }: Omit<DemoPlace, "log">,
  demo: DemoLedger | undefined,
): Promise<void> {
  if (!(await isDirectoryEmpty(sql))) return;
  const now = clock.now();
  if ((await listSeasons(sql)).length === 0) {
    const startsAt = startOfDay(dayOf(now)) - SEASON.daysBefore * DAY_MS;
    const endsAt = startsAt + SEASON.days * DAY_MS;
    const { id: seasonId } = await addSeason(sql, { name: SEASON.name, startsAt, endsAt });
    const { wallets = [], voters = [] } = demo ?? {};
    const withPass = [wallets[PASSES.wallet], ...PASSES.voters.map((index) => voters[index])];
    for (const wallet of withPass) {
      if (wallet !== undefined) await grantPass(sql, { wallet: wallet.id, seasonId });
    }
  }
  const { EVENT_SOURCES: eventSources = [], COLLECTION_A_ID: a, COLLECTION_B_ID: b } = settings;
  const directory = demoDirectory(now, [a, b]);
  const events = directory.events.map((event) =>
    eventSources.includes(event.source ?? "") ? event : { ...event, source: null },
  );
  await importCatalog(sql, { ...directory, events }, { approve: true, eventSources });
  await importCatalog(sql, demoProposals(), { approve: false, eventSources });
}

/** Whether nothing can be starred yet. */
export async function isDirectoryEmpty(sql: Sql): Promise<boolean> {
  const [row] = await runStatement(sql<{ empty: boolean }[]>`
    select not exists (select from event) and not exists (select from token)
      and not exists (select from collection) and not exists (select from project) as empty`);
  return row?.empty ?? false;
}

/**
 * Brings the stars on the ledger's topics into an empty journal, by the code of `journal recover`:
 * rules, claims, totals and exports follow from the public record. It goes on where a start was killed.
 */
async function bringBackPast({ sql, settings, log }: DemoPlace, demo: DemoLedger): Promise<void> {
  if (!(await lacksPast(sql))) return;
  const mirror = openAuditMirror({
    urls: settings.MIRROR_NODE_URL,
    log: silentLogger,
    requestsPerSecond: NO_LIMIT,
  });
  try {
    const { written, unprovable } = await recover({
      sql,
      mirror,
      settings: {
        ...exportSettings(settings),
        topics: { event: demo.eventTopic, asset: demo.assetTopic },
      },
      exports: null,
      piece: PIECE,
      isDryRun: false,
      accepts: false,
      onProgress: () => undefined,
    });
    if (!written) log.warn({ unprovable }, "the ledger has stars that the journal lacks");
  } finally {
    await mirror.close();
  }
}

/** Whether no start has brought the past back, or one that was killed has left a part of it out. */
async function lacksPast(sql: Sql): Promise<boolean> {
  const [row] = await runStatement(sql<{ lacks: boolean }[]>`
    select not exists (select from star) or (
      exists (select from recovery_message)
      -- Of a journal that has sent a message of its own, an operator recovers the rest.
      and not exists (select from publish_attempt)) as lacks`);
  return row?.lacks ?? false;
}

/**
 * Lets a voter sell an NFT that counts on a forever mint, once, and checks the holdings as an
 * operator may at any time: so the demo shows what the daily check does.
 */
async function sellCountedNft(
  { sql, settings, clock, log }: DemoPlace,
  demo: DemoLedger,
  ledger: Ledger,
): Promise<void> {
  const seller = demo.voters[SELLER];
  const buyer = demo.wallets[1];
  if (seller === undefined || buyer === undefined) return;
  const [claim] = await runStatement(sql<{ serial: number }[]>`
    select serial from serial_claim
    where event_id = ${SOLD_ON} and day is null and collection = 'A' and released_at is null
      and wallet = ${entityNumber(seller.id)}
      and not exists (select from claim_release where event_id = ${SOLD_ON})
    order by serial limit 1`);
  if (claim === undefined) return;
  await ledger.transfer(demo.collectionA, claim.serial, buyer.id);
  const mirror = new MirrorClient({ urls: settings.MIRROR_NODE_URL, log });
  const collections = { A: demo.collectionA, B: demo.collectionB };
  try {
    await createHoldingsCheck({ sql, mirror, clock, log, collections }).runNow();
  } finally {
    await mirror.close();
  }
}
