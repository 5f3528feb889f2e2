import { execFile } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { coerceError } from "../errors.ts";
import { type LocalServer, runServer, type ServerKind } from "./local-server.ts";
import { findPostgres, preparePostgres } from "./native-postgres.ts";
import type { ProcessReference } from "./process-identity.ts";
import { keepSecret } from "./secret-file.ts";
import { enterableFolder, openForServer, serverUser } from "./server-user.ts";

export interface PostgresOptions {
  /** Ours alone. Holds the cluster, its password (0600), lock and log. */
  readonly dataDir: string;
  /** Faster, because its data need not survive a crash of the machine. */
  readonly disposable?: boolean | undefined;
  /** Taken at the first start where it is free; any when absent. */
  readonly port?: number | undefined;
}

export interface LocalPostgres extends LocalServer {
  /** Of the database `starboard`, with the superuser's name and password. */
  readonly url: string;
}

const DATABASE = "starboard";
const SUPERUSER = "postgres";

/** Open to this machine alone; durable, because that is Postgres' own default. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  // A socket's path may hold 107 bytes, a project's folder more; TCP has no such limit.
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "128MB",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
} as const;

/** Test processes share one, more of them the more cores there are, with up to 20 connections each. */
const DISPOSABLE = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "500",
} as const;

/**
 * Runs a real Postgres on a folder, with a database `starboard` in it. It
 * listens on 127.0.0.1 alone and asks for a random password (SCRAM), which is
 * kept in the folder and is part of the URL. It ends with this process, even by
 * `kill -9`; one that was left running is stopped first.
 *
 * @throws Error when the folder is in use, no Postgres runs on this platform, or
 *   it does not come up
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const { disposable = false, port } = options;
  const folder = resolve(options.dataDir);
  mkdirSync(folder, { recursive: true });
  openForServer(folder);
  const cluster = findCluster(folder);
  const server = await runServer({ ...postgresKind(cluster, disposable), port }, folder);
  try {
    await createDatabase(urlOf(cluster, server.port, "postgres"));
  } catch (error) {
    await server.close();
    throw error;
  }
  return { ...server, url: urlOf(cluster, server.port, DATABASE) };
}

type Cluster = ReturnType<typeof findCluster>;

function findCluster(dataDir: string) {
  const owner = serverUser(join(dataDir, "data"));
  const folder = enterableFolder(dataDir, owner);
  const data = join(folder, "data");
  const user = serverUser(data);
  const programs = preparePostgres(findPostgres(), user, folder);
  return { folder, data, user, programs, password: keepSecret(join(dataDir, "password")) };
}

function postgresKind(cluster: Cluster, disposable: boolean): ServerKind {
  const { data, user, programs } = cluster;
  const settings = { ...SETTINGS, ...(disposable ? DISPOSABLE : {}) };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return {
    name: "Postgres",
    // Fast: rolls back what is open and writes everything. Immediate: leaves that to recovery.
    stopSignals: ["SIGINT", "SIGQUIT", "SIGKILL"],
    prepare: () => createCluster(cluster, disposable),
    launch: (port) => ({
      file: programs.postgres,
      args: ["-D", data, "-p", String(port), ...flags],
      cwd: data,
      env: { LC_ALL: "C" },
      user,
    }),
    isReady: (_port, pid) => Promise.resolve(isReady(data, pid)),
    clearAfter: (dead) => disown(data, dead),
  };
}

/** Makes the cluster elsewhere first: what carries the name `data` is whole. */
async function createCluster(cluster: Cluster, disposable: boolean): Promise<void> {
  const { folder, data, user, programs, password } = cluster;
  if (existsSync(data)) return;
  const draft = join(folder, "data.new");
  const passwordFile = join(folder, "password.new");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) {
    for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
  }
  try {
    const args = [
      ...["--pgdata", draft, "--username", SUPERUSER, "--pwfile", passwordFile],
      ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"],
      // Sorts by code point on every machine, with any locales of its own.
      ...["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
      ...(disposable ? ["--no-sync"] : []),
    ];
    const env = { LC_ALL: "C", TZ: "UTC" };
    await promisify(execFile)(programs.initdb, args, { cwd: folder, env, ...user });
    renameSync(draft, data);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The postmaster writes its process id first and its state on line 8. */
function isReady(data: string, pid: number): boolean {
  const lines = readPidFile(data);
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

/**
 * A postmaster that was killed leaves its process id behind, and the next one
 * refuses to start where a zombie or a stranger answers to it. Ours in its place
 * says that it is free: Postgres skips its parent there, and goes on to check that no
 * process of the dead one still uses its memory.
 */
function disown(data: string, dead: ProcessReference): void {
  const [first, ...others] = readPidFile(data);
  if (Number(first) !== dead.pid) return;
  writeFileSync(join(data, "postmaster.pid"), [process.pid, ...others].join("\n"));
}

function readPidFile(data: string): readonly string[] {
  try {
    return readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return [];
  }
}

function urlOf({ password }: Cluster, port: number, database: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}

async function createDatabase(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    const [found] = await sql`select from pg_database where datname = ${DATABASE}`;
    if (found === undefined) await sql`create database ${sql(DATABASE)}`;
  } catch (error) {
    throw new Error(`the database ${DATABASE} cannot be made: ${coerceError(error).message}`, {
      cause: error,
    });
  } finally {
    await sql.end();
  }
}
