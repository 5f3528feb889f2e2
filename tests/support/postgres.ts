import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { environment } from "../../src/config.ts";
import { type LocalPostgres, startPostgres } from "../../src/local/postgres.ts";
import { temporaryFolder } from "./folder.ts";
import { memoryFolder } from "./memory-folder.ts";
import "./set-up.ts";

/** Connections for administration close after so long without use. */
const UNUSED_SECONDS = 0.2;

export interface TestDatabase {
  readonly url: string;
  /** A small pool on it; ended by `close`. */
  readonly sql: Sql;
  /** Drops the database, also while clients are connected. */
  close(): Promise<void>;
}

/**
 * A fresh database of its own on a test server: the one that
 * `STARBOARD_TEST_DATABASE_URL` names (a superuser's), else a
 * throw-away one that ends with this process.
 *
 * @param migrated with all of `migrations/` applied; cloned, so it costs the same
 */
export async function testDatabase({ migrated = false } = {}): Promise<TestDatabase> {
  const server = await testServer();
  const name = `starboard_test_${randomUUID().replaceAll("-", "")}`;
  const admin = administration(server);
  const template = migrated ? await migratedTemplate(server) : "template0";
  const owner = migrated ? admin`owner ${admin(OWNER)}` : admin``;
  // Copying files takes a third of the time that writing each page to the log takes.
  await admin`
    create database ${admin(name)} ${owner} template ${admin(template)} strategy file_copy`;
  const url = urlOf(server, name);
  const sql = connect(url, 4);
  return { url, sql, close: () => dropDatabase({ server, name, sql }) };
}

async function dropDatabase(given: { server: string; name: string; sql: Sql }): Promise<void> {
  await given.sql.end({ timeout: 1 });
  const admin = administration(given.server);
  await admin`drop database if exists ${admin(given.name)} with (force)`;
}

const administrations = new Map<string, Sql>();

/**
 * Connections that create and drop databases, kept while they are needed again soon: a new one for
 * each takes both sides as long as the copy. Unused, they keep no process up.
 */
function administration(server: string): Sql {
  const kept = administrations.get(server);
  if (kept !== undefined) return kept;
  const admin = connect(server, 2, { idle_timeout: UNUSED_SECONDS });
  administrations.set(server, admin);
  return admin;
}

let ownServer: Promise<LocalPostgres> | undefined;

/** A URL with which databases can be created. */
async function testServer(): Promise<string> {
  const given = environment().STARBOARD_TEST_DATABASE_URL;
  if (given !== undefined && given !== "") return given;
  ownServer ??= startThrowAway();
  return (await ownServer).url;
}

/**
 * Starts a Postgres whose data need not survive; it goes when this process does. A test file that
 * the runner started has a place for it; else it is in memory, where there is room.
 */
export async function startThrowAway(): Promise<LocalPostgres> {
  const isWatched = environment().STARBOARD_TEST_FOLDER !== undefined;
  const inMemory = isWatched ? undefined : memoryFolder();
  const dataDir = inMemory ?? temporaryFolder("test-postgres");
  const server = await startPostgres({ dataDir, disposable: true });
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
  const close = async (): Promise<void> => {
    await server.close();
    remove();
  };
  // The server does not keep this process alive, so its end is the time to close.
  process.once("beforeExit", close);
  process.once("exit", remove);
  return { ...server, close };
}

/** Owns migrated databases and their tables, without a superuser's rights. */
export const OWNER = "starboard_owner";

const templates = new Map<string, Promise<string>>();

/** The name of a database with all migrations applied, made once per server and set of migrations. */
function migratedTemplate(server: string): Promise<string> {
  const known = templates.get(server);
  if (known !== undefined) return known;
  const template = makeTemplate(server);
  templates.set(server, template);
  return template;
}

async function makeTemplate(server: string): Promise<string> {
  const name = `starboard_template_${hashOfMigrations()}`;
  const draft = `${name}_draft`;
  // One session of its own. A reserved one of the pool may never come: postgres.js 3.4.9 answers no
  // `reserve` that is asked while a connection closes for want of use.
  const admin = connect(server, 1);
  try {
    // Session lock: test files run side by side, and `create database` allows no transaction.
    await admin`select pg_advisory_lock(hashtext(${name}))`;
    const [found] = await admin`select from pg_database where datname = ${name}`;
    if (found === undefined) {
      const { migrate } = await import("../../src/store/migrate.ts");
      await admin`drop database if exists ${admin(draft)} with (force)`;
      for (const role of ["starboard_app", "starboard_reader", OWNER]) {
        await admin`create role ${admin(role)}`.catch(() => undefined);
      }
      await admin`create database ${admin(draft)} owner ${admin(OWNER)} template template0`;
      await migrate(`${urlOf(server, draft)}?role=${OWNER}`);
      // Renamed last: a template of that name is whole.
      await admin`alter database ${admin(draft)} rename to ${admin(name)}`;
    }
    return name;
  } finally {
    // Gives the lock back.
    await admin.end({ timeout: 1 });
  }
}

function hashOfMigrations(): string {
  const folder = join(import.meta.dirname, "../../migrations");
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) {
    hash.update(file).update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex").slice(0, 12);
}

function connect(url: string, max: number, options: { idle_timeout?: number } = {}): Sql {
  return postgres(url, { max, onnotice: () => undefined, ...options });
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
