import { dirname, join } from "node:path";
import Postgrator from "postgrator";
import { ConfigurationError } from "../config.ts";
import { loadOnce } from "../load-once.ts";
import { ownFile } from "../this-build.ts";
import { runStatement, type Sql, withPostgres } from "./postgres.ts";

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
}

/** Any number: the same one in every process, so that two migrators wait for each other. */
const ADVISORY_LOCK = 7_827_262;
const MIGRATION_TIMEOUT_MS = 600_000;
const SCHEMA_TABLE = "schema_version";
const MAKE_ANEW =
  "go on with the build that made it, or create an empty one (`createdb <name>`), set DATABASE_URL to it and run `starboard migrate`";

/** The database holds other migrations than this build's; there is no way to upgrade it. */
export class OtherBuildError extends ConfigurationError {
  /** @param makeAnew what to do, with the command */
  constructor(makeAnew = MAKE_ANEW) {
    super(
      `this database was made by another build of Starboard and cannot be upgraded: ${makeAnew}`,
    );
  }
}

/**
 * Applies what is missing of `migrations/`, each file in its own transaction. Safe to run
 * twice and side by side: the second waits for the first and finds nothing to do.
 *
 * @param makeAnew how the user gets an empty database, should this one be of another build
 * @returns the files applied by this call, in order
 * @throws OtherBuildError when a file was applied in another form than this build's
 * @throws ConfigurationError where the database cannot hold every character
 * @throws Error of the server when a file fails
 */
export function migrate(url: string, makeAnew?: string): Promise<readonly AppliedMigration[]> {
  const statementTimeoutMs = MIGRATION_TIMEOUT_MS;
  return withPostgres(url, { connections: 1, statementTimeoutMs }, (pool) =>
    applyMissing(pool, makeAnew),
  );
}

async function applyMissing(pool: Sql, makeAnew?: string): Promise<readonly AppliedMigration[]> {
  // In postgres.js 3.4.9 `reserve` never gets a connection that it opens itself without asking
  // for types; a statement opens it. It has a deadline, because the driver tries without end where a
  // proxy takes connections for a server that is away.
  await runStatement(pool`select`);
  const connection = await pool.reserve();
  try {
    await connection`select pg_advisory_lock(${ADVISORY_LOCK})`;
    await refuseOtherEncoding(connection);
    if ((await schemaState(connection)) === "other") throw new OtherBuildError(makeAnew);
    const postgrator = new Postgrator({
      // The dialect alone: every statement runs through postgres.js, by the two functions below.
      driver: "pg",
      migrationPattern: migrationPattern(),
      schemaTable: SCHEMA_TABLE,
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
  }
}

/** SQL_ASCII is no encoding: it keeps the bytes of UTF-8 as they come. Any other lacks characters. */
async function refuseOtherEncoding(sql: Sql): Promise<void> {
  const [other] = await sql<{ encoding: string }[]>`
    select encoding from current_setting('server_encoding') as encoding
    where encoding not in ('UTF8', 'SQL_ASCII')`;
  if (other === undefined) return;
  throw new ConfigurationError(
    `this database's encoding is ${other.encoding}, which lacks characters of UTF-8: ` +
      "create one with `createdb --encoding UTF8 --template template0 <name>`, " +
      "set DATABASE_URL to it and run `starboard migrate`",
  );
}

/** Makes the journal's partitions for the month of `day` and the one after it. */
export async function ensureStarPartitions(sql: Sql, day: string): Promise<void> {
  await sql`select ensure_star_partition(${day}), ensure_star_partition((${day}::date + interval '1 month')::date)`;
}

/**
 * Compares the database's schema with the files of this build.
 *
 * @returns `current`, `old` (run `starboard migrate`), `newer` (a later build migrated: allowed,
 *   because migrations only add), or `other` (an applied file differs from this build's)
 */
export async function schemaState(sql: Sql): Promise<"current" | "old" | "newer" | "other"> {
  const [there] = await sql<{ isOurs: boolean }[]>`
    select count(*) filter (where attname in ('version', 'md5')) = 2 as "isOurs"
    from pg_attribute where attrelid = to_regclass(${SCHEMA_TABLE}) group by attrelid`;
  if (there === undefined) return "old";
  // Tools of other products call their table so too.
  if (!there.isOurs) return "other";
  const rows = await sql<{ version: number; md5: string | null }[]>`
    select version::int, md5 from ${sql(SCHEMA_TABLE)} where version > 0`;
  const applied = new Map(rows.map(({ version, md5 }) => [version, md5]));
  const files = await migrationFiles();
  if (files.some(({ version, md5 }) => (applied.get(version) ?? md5) !== md5)) return "other";
  if (files.some(({ version }) => !applied.has(version))) return "old";
  return applied.size > files.length ? "newer" : "current";
}

/** The files of this build with their checksums, read once. */
const migrationFiles = loadOnce(() =>
  new Postgrator({ driver: "pg", migrationPattern: migrationPattern() }).getMigrations(),
);

/** The files of `migrations/` at the project's root, from source and from `dist` alike. */
function migrationPattern(): string {
  return join(dirname(ownFile("migrations/001.do.catalogue.sql")), "*.sql");
}
