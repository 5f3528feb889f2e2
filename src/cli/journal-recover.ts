import { openExportSource } from "../audit/export-source.ts";
import { COLLECTION_SETTINGS } from "../config.ts";
import { counted } from "../counted.ts";
import { exportSettings } from "../journal/export-settings.ts";
import { refuseSwapped } from "../publishing/check-topic.ts";
import { RECOVERY_LOCK } from "../publishing/journal-behind.ts";
import { recover } from "../recovery/recover.ts";
import { PIECE, type Recovered, type Recovery } from "../recovery/recovery.ts";
import { runFirst, type Sql, withPostgres } from "../store/postgres.ts";
import { flag, option } from "./arguments.ts";
import { ARGS, openMirror, urlOf } from "./audit-flags.ts";
import { act, withDatabase } from "./database.ts";
import { command } from "./output.ts";
import { progressBar } from "./progress-bar.ts";
import { readCommandSettings } from "./settings.ts";

export const recoverCommand = command({
  description: "Bring back the stars that the journal lost, from a mirror node and day exports.",
  args: {
    mirror: ARGS.mirror,
    rate: ARGS.rate,
    export: option("Folder of day exports, YYYY-MM-DD.ndjson."),
    "from-url": option("URL of GET /exports where a service still has them."),
    "dry-run": flag("Say what would come back."),
    accept: flag("Write although the stars listed cannot be proved."),
  },
  async work(args) {
    const {
      DATABASE_URL: url,
      EVENT_VOTES_TOPIC_ID: event,
      ASSET_VOTES_TOPIC_ID: asset,
      ...settings
    } = readCommandSettings([
      "DATABASE_URL",
      "EVENT_VOTES_TOPIC_ID",
      "ASSET_VOTES_TOPIC_ID",
      ...COLLECTION_SETTINGS,
      ...(args.mirror === undefined ? (["MIRROR_NODE_URL"] as const) : []),
    ]);
    const mirror = await openMirror(args, settings.MIRROR_NODE_URL);
    const bar = progressBar(process.stderr);
    let recovered: Recovered | undefined;
    try {
      const exports = await openExports(args.export, args["from-url"]);
      const topics = { event, asset };
      const work = async (sql: Sql) => {
        // No message of the other kind is a star's: nothing would seem to be lost.
        await refuseSwapped(sql, topics, runFirst);
        return recover({
          sql,
          mirror,
          settings: { ...exportSettings(settings), topics },
          exports,
          piece: PIECE,
          isDryRun: args["dry-run"],
          accepts: args.accept,
          onProgress: bar.show,
        });
      };
      recovered = await alone(url, work, (held) =>
        args["dry-run"] ? withDatabase(held) : act(HOW, held, endOf),
      );
      const isInDoubt = recovered.unprovable.length > 0;
      if (isInDoubt && !args["dry-run"] && !args.accept) process.exitCode = 1;
      return recovered;
    } finally {
      bar.end();
      await mirror.close();
      // Where it fails, a statement may go on at Postgres, and its connection would keep this process.
      // Where it does not, what is printed may have to wait for its reader.
      if (recovered === undefined) setTimeout(() => process.exit(), ENDS_WITHIN_MS).unref();
    }
  },
  text: recoveredText,
});

/**
 * Runs one recovery of a database at a time, dry ones too: what one has marked, another would forget. So it
 * ends where the connection is cut that holds the lock.
 *
 * @param run given the work, opens the database for it
 * @throws Error in one line while another one is at work there, and when the lock is lost
 */
async function alone<T>(
  url: string,
  work: (sql: Sql) => Promise<T>,
  run: (held: (sql: Sql) => Promise<T>) => Promise<T>,
): Promise<T> {
  let onClose = (): void => undefined;
  const lost = new Promise<never>((_, reject) => {
    onClose = () => reject(new Error(LOCK_LOST));
  });
  // It is closed at the end too, when nothing waits for it any more.
  lost.catch(() => undefined);
  // Kept open as a writer's, the connection holds the lock until this process ends, however it does.
  return withPostgres(url, { connections: 1, writer: true, onClose }, async (sql) => {
    const [row] = await runFirst(
      sql<[{ isAlone: boolean }]>`
        select pg_try_advisory_lock(hashtext(${RECOVERY_LOCK})) as "isAlone"`,
    );
    if (!row.isAlone) throw new Error("another `journal recover` is at work on this database");
    return run((other) => Promise.race([work(other), lost]));
  });
}

const LOCK_LOST =
  "the connection was cut that keeps other recoveries out: run `journal recover` again";

/** Time to print the one line that says why it failed. */
const ENDS_WITHIN_MS = 1_000;

const HOW = { name: "journal.recover", subject: "journal" };

function endOf({ written, recovered, adopted, conflicts }: Recovered) {
  return {
    notice: written ? `${counted(recovered, "star")} recovered.` : "Nothing was written.",
    details: { written, recovered, adopted, conflicts },
  };
}

async function openExports(
  folder: string | undefined,
  url: string | undefined,
): Promise<Recovery["exports"]> {
  if (folder !== undefined && url !== undefined) {
    throw new Error("--export and --from-url exclude each other");
  }
  const place = url === undefined ? folder : urlOf(url);
  if (place === undefined) return null;
  const source = openExportSource(place);
  return { source, days: await source.days() };
}

function recoveredText(report: Recovered): string {
  const { recovered, adopted, conflicts } = report;
  const did = report.written ? "" : "nothing is written; would be: ";
  const days = (what: string, list: readonly string[]): string[] =>
    list.length === 0 ? [] : [`${what}: ${list.join(", ")}`];
  return [
    `${did}${counted(recovered, "star")} recovered, ${adopted} adopted, ${counted(conflicts, "conflict")}`,
    ...days("final with their old hash", report.exact),
    ...days("final with a new hash; the chain breaks after them", report.renewed),
    ...report.ignored.map((line) => `ignored: ${line}`),
    ...report.unprovable.map((line) => `unprovable: ${line}`),
    ...(report.written || report.unprovable.length === 0
      ? []
      : ["--accept writes them as they stand"]),
    "Stars that were accepted and not yet published leave no trace, nor do idempotency keys.",
    "Passes, seasons, XP credits, keys and the catalogue come from the last dump.",
  ].join("\n");
}
