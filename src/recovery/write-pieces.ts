import type { ExportRelease } from "../journal/export-format.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import type { Recovery } from "./recovery.ts";
import type { RecoveredStar } from "./staged-stars.ts";

/** Writes what comes back, piece by piece and in order; one that writes nothing only counts. */
export class PieceWriter {
  readonly #sql: Sql;
  readonly #size: number;
  readonly #writes: boolean;
  readonly #onWritten: (stars: number) => void;
  #piece: RecoveredStar[] = [];
  recovered = 0;
  conflicts = 0;

  constructor(
    { sql, piece }: Pick<Recovery, "sql" | "piece">,
    writes: boolean,
    onWritten: (stars: number) => void,
  ) {
    this.#sql = sql;
    this.#size = piece;
    this.#writes = writes;
    this.#onWritten = onWritten;
  }

  async star(star: RecoveredStar): Promise<void> {
    this.#piece.push(star);
    if (this.#piece.length >= this.#size) await this.flush();
  }

  /** Attributions of one mint that ended together; what came before them is written first. */
  async release(releases: readonly ExportRelease[]): Promise<void> {
    await this.flush();
    if (!this.#writes) return;
    const rows = JSON.stringify(releases.map(releaseRow));
    await runLong(this.#sql`select recover_release(${rows}::text::json)`);
  }

  async isKnown([first]: readonly ExportRelease[]): Promise<boolean> {
    if (first === undefined) return true;
    const { mint, runId, collection, serial } = first;
    const rows = await runLong(this.#sql`
      select from claim_release where run_id = ${runId} and event_id = ${mint}
        and collection = ${collection} and serial = ${serial}`);
    return rows.length > 0;
  }

  async flush(): Promise<void> {
    const piece = this.#piece;
    this.#piece = [];
    if (piece.length === 0) return;
    if (this.#writes) {
      const [row] = await runLong(this.#sql<[{ recovered: number; conflicts: number }]>`
          select * from recover_stars(${JSON.stringify(piece)}::text::json)`);
      this.recovered += row.recovered;
      this.conflicts += row.conflicts;
    } else {
      const conflicts = piece.filter((star) => star.conflicts_with !== null).length;
      this.recovered += piece.length - conflicts;
      this.conflicts += conflicts;
    }
    this.#onWritten(this.recovered + this.conflicts);
  }
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
