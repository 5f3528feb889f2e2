import { batcher } from "../batcher.ts";
import type { FollowedClock } from "../clock.ts";
import {
  type DataRevision,
  parseRevision,
  REVISION_BATCHING,
  REVISION_WITHIN_MS,
} from "../store/data-revision.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { hashOf, isKey } from "./key-form.ts";

/** What is known of a key that a request brought. */
export type KeyVerdict =
  | {
      readonly state: "valid";
      readonly keyId: string;
      /** Read together with the key, so after the request arrived. */
      readonly revision: DataRevision;
    }
  | { readonly state: "revoked"; readonly keyId: string }
  | { readonly state: "unknown" };

/** @throws RetryableError `UNAVAILABLE` when the database is: no answer, never a guess */
export type VerifyKey = (key: string) => Promise<KeyVerdict>;

/**
 * Checks keys against the database, each time: nothing is remembered, so a revoked key
 * stops at once. The checks of one tick share a statement, which also says how the data
 * stand; what has a wrong checksum was never issued and costs none.
 *
 * @param onUse called with the id of each valid key that was used
 * @param clock compared with the database's time on the way, so that no holder of a key reads the
 *   counters of a day that is over
 */
export function keyVerifier(
  sql: Sql,
  onUse: (keyId: string) => void,
  clock?: Pick<FollowedClock, "now" | "compare">,
): VerifyKey {
  const load = async (keys: readonly string[]): Promise<readonly KeyRow[]> => {
    const askedAt = clock?.now() ?? 0;
    const rows = await loadKeys(sql, keys);
    const [first] = rows;
    if (first !== undefined) await clock?.compare(first.now, askedAt);
    return rows;
  };
  const loadOne = batcher(load, REVISION_BATCHING);
  const judge = (row: KeyRow | undefined): KeyVerdict => {
    if (row === undefined || row.id === null) return { state: "unknown" };
    if (row.revoked) return { state: "revoked", keyId: row.id };
    onUse(row.id);
    return { state: "valid", keyId: row.id, revision: row.revision };
  };
  return async (key) => (isKey(key) ? judge(await loadOne(key)) : { state: "unknown" });
}

interface KeyRow {
  readonly id: string | null;
  readonly revoked: boolean;
  readonly revision: DataRevision;
  readonly now: number;
}

/**
 * One row per key, in their order; a key that several requests brought is looked up once. The
 * index compares hashes, so timing reveals nothing of a key.
 */
async function loadKeys(sql: Sql, keys: readonly string[]): Promise<readonly KeyRow[]> {
  const unique = [...new Set(keys)];
  const hashes = unique.map((key) => hashOf(key).toString("hex"));
  const rows = await runStatement(
    sql<(Omit<KeyRow, "revision"> & { readonly revision: string })[]>`
      select api_key.id, api_key.revoked_at is not null as revoked,
        (select data_revision()) as revision, now_ms() as now
      from unnest(${hashes}::text[]) with ordinality as asked (hash, position)
      left join api_key on api_key.hash = decode(asked.hash, 'hex')
      order by asked.position`,
    REVISION_WITHIN_MS,
  );
  const revision = parseRevision(rows[0]?.revision ?? "{}");
  const found = new Map(
    rows.map(({ id, revoked, now }, index) => [unique[index], { id, revoked, revision, now }]),
  );
  return keys.flatMap((key) => found.get(key) ?? []);
}
