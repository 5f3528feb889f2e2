import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { environment } from "../config.ts";
import { closeRedis, connectRedis } from "../store/redis.ts";
import { type LocalServer, runServer, type ServerKind } from "./local-server.ts";
import { keepSecret } from "./secret-file.ts";

export interface RedisOptions {
  /** Ours alone. Holds the data, its password (0600), lock and log. */
  readonly dataDir: string;
  /** Where `redis-server` is looked for; default: the `PATH` of this process. */
  readonly path?: string | undefined;
}

export interface LocalRedis extends LocalServer {
  /** With the password. */
  readonly url: string;
  /** `js-redis-server` keeps its data in memory and is too slow for a busy queue. */
  readonly kind: "redis-server" | "js-redis-server";
}

/** Nothing may be evicted, because jobs are among the keys (contract, section 6). */
const CONFIGURATION = [
  "bind 127.0.0.1",
  "daemonize no",
  "appendonly yes",
  "appendfsync everysec",
  'save ""',
  "maxmemory-policy noeviction",
];

/**
 * The package's own command listens on every interface and knows no password.
 * So it is started by this: on the loopback alone, the password set in the very
 * step in which it begins to listen.
 */
const JS_REDIS = `
  const { Server } = require("node:net");
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port) { return listen.call(this, port, "127.0.0.1"); };
  const [, file, port, passwordFile] = process.argv;
  require(file).createRedisServer({ port: Number(port) }).then(({ state }) => {
    state.requirepass = require("node:fs").readFileSync(passwordFile, "utf8");
  });
`;

/**
 * Runs a Redis on a folder: the machine's own `redis-server` where there is one,
 * else the one from npm. It listens on 127.0.0.1 alone and asks for a random
 * password. It ends with this process, even by `kill -9`; one that was left
 * running is stopped first.
 *
 * @throws Error when the folder is in use or the server does not come up
 */
export async function startRedis(options: RedisOptions): Promise<LocalRedis> {
  const folder = resolve(options.dataDir);
  mkdirSync(join(folder, "data"), { recursive: true, mode: 0o700 });
  const passwordFile = join(folder, "password");
  const password = keepSecret(passwordFile);
  const urlAt = (port: number): string => `redis://:${password}@127.0.0.1:${port}`;
  const folders = (options.path ?? environment().PATH ?? "").split(delimiter).filter(Boolean);
  // The server runs in a folder of its own; and an empty PATH means the one that it runs in.
  const env = { PATH: folders.map((each) => resolve(each)).join(delimiter) };
  const isInstalled =
    env.PATH !== "" && spawnSync("redis-server", ["--version"], { env }).status === 0;
  const server = await runServer(
    {
      name: "Redis",
      stopSignals: ["SIGTERM", "SIGKILL"],
      launch: isInstalled
        ? launchRedis(folder, password, env)
        : launchJsRedis(folder, passwordFile),
      isReady: (port) => answers(urlAt(port)),
    },
    folder,
  );
  return {
    ...server,
    url: urlAt(server.port),
    kind: isInstalled ? "redis-server" : "js-redis-server",
  };
}

function launchRedis(
  folder: string,
  password: string,
  env: { readonly PATH: string },
): ServerKind["launch"] {
  const file = join(folder, "redis.conf");
  // In a file, because every user of the machine can read a command line.
  const lines = [...CONFIGURATION, `requirepass ${password}`, ""];
  writeFileSync(file, lines.join("\n"), { mode: 0o600 });
  return (port) => ({
    file: "redis-server",
    args: [file, "--port", String(port)],
    cwd: join(folder, "data"),
    env,
  });
}

function launchJsRedis(folder: string, passwordFile: string): ServerKind["launch"] {
  const file = createRequire(import.meta.url).resolve("js-redis-server");
  return (port) => ({
    file: process.execPath,
    args: ["--eval", JS_REDIS, file, String(port), passwordFile],
    cwd: join(folder, "data"),
    env: {},
  });
}

/** Whether our Redis answers there: it knows the password, and has read its data. */
async function answers(url: string): Promise<boolean> {
  try {
    await closeRedis(await connectRedis(url));
    return true;
  } catch {
    return false;
  }
}
