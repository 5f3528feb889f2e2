import type { ExportRelease } from "../journal/export-format.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { runLong } from "../store/postgres.ts";
import type { Recovery } from "./recovery.ts";
import type { RecoveredStar } from "./staged-stars.ts";

/** Writes what comes back, piece by piece and in order; one that writes nothing only counts. */
export type PieceWriter = ReturnType<typeof pieceWriter>;

/** @param onWritten called after each piece with how many stars there were so far */
export function pieceWriter(
  { sql, piece: size }: Pick<Recovery, "sql" | "piece">,
  writes: boolean,
  onWritten: (stars: number) => void,
) {
  let piece: RecoveredStar[] = [];
  const counts = { recovered: 0, conflicts: 0 };
  const write = async (stars: readonly RecoveredStar[]): Promise<typeof counts> => {
    if (!writes) {
      const conflicts = stars.filter((star) => star.conflicts_with !== null).length;
      return { recovered: stars.length - conflicts, conflicts };
    }
    const [row] = await runLong(sql<[typeof counts]>`
      select * from recover_stars(${JSON.stringify(stars)}::text::json)`);
    return row;
  };
  const flush = async (): Promise<void> => {
    const stars = piece;
    piece = [];
    if (stars.length === 0) return;
    const { recovered, conflicts } = await write(stars);
    counts.recovered += recovered;
    counts.conflicts += conflicts;
    onWritten(counts.recovered + counts.conflicts);
  };
  return {
    counts,
    flush,
    async star(star: RecoveredStar): Promise<void> {
      piece.push(star);
      if (piece.length >= size) await flush();
    },
    /** Attributions of one mint that ended together; what came before them is written first. */
    async release(releases: readonly ExportRelease[]): Promise<void> {
      await flush();
      if (!writes) return;
      const rows = JSON.stringify(releases.map(releaseRow));
      await runLong(sql`select recover_release(${rows}::text::json)`);
    },
    async isKnown({ mint, runId, collection, serial }: ExportRelease): Promise<boolean> {
      const rows = await runLong(sql`
        select from claim_release where run_id = ${runId} and event_id = ${mint}
          and collection = ${collection} and serial = ${serial}`);
      return rows.length > 0;
    },
  };
}

/** A row of `claim_release`, with the day of its check. */
function releaseRow(release: ExportRelease) {
  return {
    event_id: release.mint,
    seq: release.mintOrder,
    run_id: release.runId,
    check_day: release.checkDay,
    collection: release.collection,
    serial: release.serial,
    wallet: entityNumber(release.wallet),
    star_id: release.starId,
    weight: release.weight,
    spare: release.spare,
    held_b: release.heldB,
    owner: release.owner,
    deleted: release.deleted,
    listed_at: Date.parse(release.listedAt),
    read_at: Date.parse(release.readAt),
    released_at: Date.parse(release.releasedAt),
  };
}
