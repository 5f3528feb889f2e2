import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Postgrator from "postgrator";
import { openPostgres, type Sql } from "./postgres.ts";

/** One file of `migrations/` as it was applied. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
}

/** Any number: the same one in every process, so that two migrators wait for each other. */
const ADVISORY_LOCK = 7_827_262;
const MIGRATION_TIMEOUT_MS = 600_000;

/**
 * Applies what is missing of `migrations/`, each file in its own transaction. Safe to run
 * twice and side by side: the second waits for the first and finds nothing to do.
 *
 * @returns the files applied by this call, in order
 * @throws Error naming the file when one fails or an applied one was edited since
 */
export async function migrate(url: string): Promise<readonly AppliedMigration[]> {
  const pool = openPostgres(url, { connections: 1, statementTimeoutMs: MIGRATION_TIMEOUT_MS });
  const connection = await pool.reserve();
  try {
    await connection`select pg_advisory_lock(${ADVISORY_LOCK})`;
    const postgrator = new Postgrator({
      driver: "pg",
      migrationPattern: join(migrationsFolder(), "*.sql"),
      schemaTable: "schema_version",
      execQuery: async (query: string) => ({ rows: [...(await connection.unsafe(query))] }),
      execSqlScript: async (script: string) => {
        // One simple query is one transaction: a file applies whole or not at all.
        await connection.unsafe(script);
      },
    });
    const applied = await postgrator.migrate();
    const [clock] = await connection<{ day: string }[]>`select utc_day(now_ms()) as day`;
    if (clock !== undefined) await ensureStarPartitions(connection, clock.day);
    return applied.map(({ version, name }) => ({ version, name }));
  } finally {
    await connection`select pg_advisory_unlock(${ADVISORY_LOCK})`.catch(() => undefined);
    connection.release();
    await pool.end({ timeout: 1 });
  }
}

/** Makes the journal's partitions for the month of `day` and the one after it. */
export async function ensureStarPartitions(sql: Sql, day: string): Promise<void> {
  await sql`select ensure_star_partition(${day}), ensure_star_partition((${day}::date + interval '1 month')::date)`;
}

/**
 * Compares the database's schema with the files of this build.
 *
 * @returns `current`, `old` (run `starboard migrate`), or `newer` (a later build migrated:
 *   allowed, because migrations only add)
 */
export async function schemaState(sql: Sql): Promise<"current" | "old" | "newer"> {
  const files = await readdir(migrationsFolder());
  const newest = Math.max(
    ...files.map((file) => Number.parseInt(file, 10)).filter(Number.isFinite),
  );
  const [there] = await sql<
    { table: string | null }[]
  >`select to_regclass('schema_version')::text as table`;
  if (!there?.table) return "old";
  const [row] = await sql<
    { version: number | null }[]
  >`select max(version)::int as version from schema_version`;
  const version = row?.version ?? 0;
  if (version === newest) return "current";
  return version < newest ? "old" : "newer";
}

/** `migrations/` at the project's root, from source and from `dist` alike. */
function migrationsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "migrations", "001.do.catalogue.sql"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("the migrations folder is missing");
    folder = parent;
  }
  return join(folder, "migrations");
}
