import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalPostgres, startPostgres } from "../../src/local/postgres.ts";
import { type LocalRedis, startRedis } from "../../src/local/redis.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";

/** Real servers for one benchmark: a durable Postgres (fsync on) and a Redis, thrown away after. */
export interface World {
  readonly folder: string;
  readonly postgres: LocalPostgres;
  readonly redis: LocalRedis;
  /** Superuser's pool on the server's first database. */
  readonly admin: Sql;
  /** A migrated database filled by `seed`, to be cloned. */
  template(name: string, seed: (sql: Sql) => Promise<void>, schema?: Schema): Promise<void>;
  /** A database of its own, the same at each call; `drop` it soon, they are large. */
  clone(template: string): Promise<Database>;
  close(): Promise<void>;
}

export interface Database {
  readonly url: string;
  readonly name: string;
  drop(): Promise<void>;
}

/** Makes the tables: this tree's migrations, or an older one's. */
type Schema = (url: string) => Promise<unknown>;

/** Filling a template takes longer than a statement of the service may. */
const SEED_TIMEOUT_MS = 600_000;

/** Starts the servers. As production would run them on this machine, as far as size matters. */
export async function startWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "starboard-bench-"));
  chmodSync(folder, 0o711);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "postgres");
  const first = await startPostgres({ dataDir });
  await tune(first.url);
  await first.close();
  const postgres = await startPostgres({ dataDir });
  const redis = await startRedis({ dataDir: join(folder, "redis") });
  const admin = openPostgres(postgres.url, {
    connections: 1,
    statementTimeoutMs: SEED_TIMEOUT_MS,
  });
  const urlOf = (name: string): string => {
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  let clones = 0;
  return {
    folder,
    postgres,
    redis,
    admin,
    async template(name, seed, schema = migrate) {
      await admin`create database ${admin(name)}`;
      await schema(urlOf(name));
      const sql = openPostgres(urlOf(name), {
        connections: 1,
        statementTimeoutMs: SEED_TIMEOUT_MS,
      });
      await seed(sql);
      await sql`vacuum analyze`;
      await sql.end({ timeout: 5 });
    },
    async clone(template) {
      clones += 1;
      const name = `bench_${clones}`;
      await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`;
      // What copying left to be written must not be written while something is measured.
      await admin`checkpoint`;
      return {
        name,
        url: urlOf(name),
        drop: async () => {
          await admin`drop database if exists ${admin(name)} with (force)`;
        },
      };
    },
    async close() {
      await admin.end({ timeout: 5 });
      await postgres.close();
      await redis.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The defaults of Postgres are those of a machine of 1995; durability stays as it is. */
async function tune(url: string): Promise<void> {
  const sql = openPostgres(url, { connections: 1 });
  for (const setting of SETTINGS) await sql.unsafe(`alter system set ${setting}`);
  await sql.end({ timeout: 5 });
}

const SETTINGS = [
  // No checkpoint within a round: each candidate would meet it at another moment.
  "max_wal_size = '4GB'",
  "checkpoint_timeout = '30min'",
];
