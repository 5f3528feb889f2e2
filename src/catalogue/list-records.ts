import postgres from "postgres";
import { withInstants } from "../../actors/day.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import { type RecordType, recordColumns } from "./record-type.ts";

/**
 * A record as a catalogue file has it, with `approvedAt`; instants RFC 3339. Of an export,
 * everything but `approvedAt` can be imported again.
 */
export type ListedRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly approvedAt: string | null;
};

/** All records of a type, approved or not, in the order of their ids. */
export async function listRecords(sql: Sql, type: RecordType): Promise<readonly ListedRecord[]> {
  const columns = ["id", ...recordColumns[type], "created_at", "approved_at"];
  const rows = await runLong(
    sql<ListedRecord[]>`select ${sql(columns)} from ${sql(type)} order by id collate "C"`,
  );
  // The types lose sight of the fields where each is renamed by its entry.
  return rows.map((row) => withInstants(inFile(row)) as unknown as ListedRecord);
}

/** A row with its columns under the names of a catalogue file: `image_url` is `imageUrl`. */
function inFile(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [postgres.toCamel(column), value]),
  );
}
