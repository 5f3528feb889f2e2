import { defineCommand } from "citty";
import { checkLastingSettings } from "../journal/export-settings.ts";
import { MirrorClient } from "../ledger/mirror/node.ts";
import { createLogger } from "../log.ts";
import { followDatabaseClock } from "../store/database-clock.ts";
import { runStatement } from "../store/postgres.ts";
import { createHoldingsCheck } from "../upkeep/holdings-check/check.ts";
import {
  type CheckReport,
  isComplete,
  type MintReport,
  reportRun,
} from "../upkeep/holdings-check/progress.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const run = command({
  description: "Check now which NFTs that count on forever mints are no longer held.",
  async work() {
    const report = await checkNow();
    // What was deferred still counts, and is not looked at again before the daily check.
    if (!isComplete(report)) process.exitCode = 1;
    return report;
  },
  text: ({ day, mints }) =>
    [`Holdings check of ${day}`, summary(mints), removals(mints), deferrals(mints)]
      .filter((part) => part !== "")
      .join("\n\n"),
});

export const subcommand = defineCommand({ subCommands: { run } });

const HOW = { name: "holdings.run", subject: "all forever mints" };

function endOf({ mints }: CheckReport) {
  const of = (part: "removed" | "deferred") =>
    mints.reduce((sum, mint) => sum + mint[part].length, 0);
  return { notice: `${of("removed")} removed, ${of("deferred")} left open.` };
}

async function checkNow(): Promise<CheckReport> {
  const settings = readCommandSettings([
    "DATABASE_URL",
    "MIRROR_NODE_URL",
    "COLLECTION_A_ID",
    "COLLECTION_B_ID",
  ]);
  const { COLLECTION_A_ID, COLLECTION_B_ID } = settings;
  const log = createLogger(settings.LOG_LEVEL, "holdings-check");
  return withDatabase(async (sql) => {
    await runStatement(checkLastingSettings(sql, { COLLECTION_A_ID, COLLECTION_B_ID }));
    const clock = await followDatabaseClock(sql, log);
    const mirror = new MirrorClient({ urls: settings.MIRROR_NODE_URL, log, isLasting: true });
    const collections = { A: COLLECTION_A_ID, B: COLLECTION_B_ID };
    try {
      const check = createHoldingsCheck({ sql, mirror, clock, log, collections });
      const work = async () => reportRun(sql, await check.runNow());
      return await act({ ...HOW, on: sql }, work, endOf);
    } finally {
      clock.stop();
      await mirror.close();
    }
  });
}

function summary(mints: readonly MintReport[]): string {
  return table(mints, {
    mint: "id",
    removed: ({ removed }) => removed.length,
    kept: "kept",
    deferred: ({ deferred }) => deferred.length,
  });
}

function removals(mints: readonly MintReport[]): string {
  const all = mints.flatMap(({ id, removed }) => removed.map((one) => ({ ...one, mint: id })));
  if (all.length === 0) return "";
  return table(all, {
    mint: "mint",
    wallet: "wallet",
    NFT: ({ collection, serial }) => `${collection} #${serial}`,
    weight: ({ weight }) => -weight,
    "+5 now by": ({ spare }) => (spare === null ? null : `B #${spare}`),
    "held by": ({ evidence }) => (evidence.deleted ? "deleted" : evidence.owner),
    seen: ({ evidence }) => evidence.readAt,
  });
}

function deferrals(mints: readonly MintReport[]): string {
  const all = mints.flatMap(({ id, deferred }) => deferred.map((one) => ({ ...one, mint: id })));
  if (all.length === 0) return "";
  return table(all, {
    mint: "mint",
    wallet: "wallet",
    deferred: ({ collection, serial }) =>
      `${collection} ${serial === null ? "(all)" : `#${serial}`}`,
    reason: "reason",
  });
}
