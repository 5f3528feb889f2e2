import { execFile, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../src/local/free-port.ts";
import { serverUser } from "../../src/local/server-user.ts";

/** Postgres' own programs, which the embedded server comes without. */
const NEEDED = ["initdb", "pg_ctl", "psql", "pg_dump", "pg_restore", "pg_basebackup"];

/** @returns their folder, by `pg_config`; undefined where one of them is missing */
export function findPrograms(): string | undefined {
  const { status, stdout } = spawnSync("pg_config", ["--bindir"], { encoding: "utf8" });
  const folder = status === 0 ? stdout.trim() : undefined;
  return folder !== undefined && NEEDED.every((name) => readdirSync(folder).includes(name))
    ? folder
    : undefined;
}

/** The folder of the programs, or the end of this process with a clear word: nothing was proved. */
export function requirePrograms(): string {
  const found = findPrograms();
  if (found !== undefined) return found;
  process.stderr.write(
    `nothing was proved: needs pg_config and ${NEEDED.join(", ")} (postgresql's packages)\n`,
  );
  process.exit(2);
}

/** A server on a data folder of its own, which it keeps over its starts. */
export interface PostgresServer {
  readonly port: number;
  readonly data: string;
  /** Of its superuser; without a password. */
  urlOf(database: string): string;
  start(): Promise<void>;
  /** As the system stops it: connections are ended, everything is written. */
  stop(): Promise<void>;
  /** `kill -9` of all its processes: the machine is gone. */
  crash(): void;
}

/** Servers below one folder, run as the user that may run them. */
export interface PostgresServers {
  readonly folder: string;
  /** Who owns the servers' files; undefined: this process' own user. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly programs: string;
  /** A folder that servers may write. */
  makeFolder(name: string): string;
  /** Runs one of Postgres' programs as the servers' user. */
  run(program: string, args: readonly string[]): Promise<void>;
  /** A new server, started. @param settings lines of its `postgresql.conf` */
  create(name: string, settings?: readonly string[]): Promise<PostgresServer>;
  /** The server of a data folder that is there, or will be. */
  at(data: string): Promise<PostgresServer>;
  /** Stops what runs, and removes the folder. */
  close(): void;
}

/** @param folder empty, and open to other users */
export function openServers(folder: string, programs: string): PostgresServers {
  chmodSync(folder, 0o755);
  const user = serverUser(folder);
  const all: PostgresServer[] = [];
  const run = async (name: string, args: readonly string[]): Promise<void> => {
    await promisify(execFile)(join(programs, name), args, { cwd: folder, ...user });
  };
  const makeFolder = (name: string): string => {
    const made = join(folder, name);
    mkdirSync(made, { mode: 0o700 });
    if (user !== undefined) chownSync(made, user.uid, user.gid);
    return made;
  };
  const at = async (data: string): Promise<PostgresServer> => {
    const port = await freePort();
    const server: PostgresServer = {
      port,
      data,
      urlOf: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
      async start() {
        const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
        const log = join(data, "server.log");
        await run("pg_ctl", ["-D", data, "-w", "-t", "120", "-o", options, "-l", log, "start"]);
      },
      stop: () => run("pg_ctl", ["-D", data, "-w", "-m", "fast", "stop"]),
      crash() {
        const [line = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
        for (const pid of [Number(line), ...childrenOf(Number(line))]) killIfThere(pid);
      },
    };
    all.push(server);
    return server;
  };
  return {
    folder,
    user,
    programs,
    makeFolder,
    run,
    at,
    async create(name, settings = []) {
      const data = makeFolder(name);
      const auth = ["--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"];
      await run("initdb", ["-D", data, "-U", "postgres", ...auth]);
      appendFileSync(join(data, "postgresql.conf"), settings.map((each) => `${each}\n`).join(""));
      const server = await at(data);
      await server.start();
      return server;
    },
    close() {
      for (const { data } of all) {
        // A server that does not run, or was never made, needs no stop.
        const stop = ["-D", data, "-m", "immediate", "stop"];
        spawnSync(join(programs, "pg_ctl"), stop, { cwd: folder, stdio: "ignore", ...user });
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(parent)], {
    encoding: "utf8",
  });
  return stdout.split("\n").map(Number).filter(Boolean);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
