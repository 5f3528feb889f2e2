import { rmSync } from "node:fs";
import { createClient } from "redis";
import { environment } from "../../src/config.ts";
import { startRedis } from "../../src/local/redis.ts";
import { temporaryFolder } from "./folder.ts";
import { openRelay } from "./relay.ts";
import "./set-up.ts";

export interface TestRedis {
  readonly url: string;
  close(): Promise<void>;
}

/** The logical databases of a server that are handed out; 0 keeps the list of them. */
const DATABASES = 15;
/** A test file that crashed gives its database back after this long. */
const CLAIM_SECONDS = 600;

/**
 * An empty Redis for the caller alone. It is a server of its own (ready in
 * 30 ms), because much of Redis is one per server, FLUSHALL to begin with. Only
 * where `STARBOARD_TEST_REDIS_URL` names a server, it is a database of that.
 *
 * @param own a server of its own without regard to the environment, for tests that
 *   flush it, kill it or change its settings
 */
export async function testRedis({
  own = false,
  server = environment().STARBOARD_TEST_REDIS_URL,
} = {}): Promise<TestRedis> {
  return own || !server ? ownServer() : claimDatabase(server);
}

async function ownServer(): Promise<TestRedis> {
  const dataDir = temporaryFolder("test-redis");
  const server = await startRedis({ dataDir });
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
  process.once("exit", remove);
  const close = async (): Promise<void> => {
    await server.close();
    remove();
  };
  return { url: server.url, close };
}

/**
 * Two servers under one address, as where a replica takes over from a primary.
 *
 * @returns with what makes the first one the replica of the second, to which the address leads from
 *   then on; connections to the first one stay open, as most ways of failing over leave them
 */
export async function redisPair() {
  const [first, second] = [await testRedis({ own: true }), await testRedis({ own: true })];
  const [one, other] = [new URL(first.url), new URL(second.url)];
  const relay = await openRelay(Number(one.port));
  const tell = async (url: string, command: readonly string[]): Promise<void> => {
    const client = await createClient({ url }).connect();
    await client.sendCommand(command);
    await client.close();
  };
  await tell(second.url, ["CONFIG", "SET", "requirepass", one.password]);
  const url = new URL(first.url);
  url.port = String(relay.port);
  return {
    url: url.href,
    async failOver(): Promise<void> {
      relay.leadTo(Number(other.port), "kept");
      await tell(first.url, ["REPLICAOF", "127.0.0.1", other.port]);
    },
    async close(): Promise<void> {
      await Promise.all([first.close(), second.close()]);
      relay.cut();
    },
  };
}

async function claimDatabase(server: string): Promise<TestRedis> {
  const claims = await createClient({ url: urlOf(server, 0) }).connect();
  for (let database = 1; database <= DATABASES; database += 1) {
    const key = `starboard-test:database:${database}`;
    const options = { condition: "NX", expiration: { type: "EX", value: CLAIM_SECONDS } } as const;
    if ((await claims.set(key, process.pid, options)) === null) continue;
    const url = urlOf(server, database);
    await flush(url);
    const close = async (): Promise<void> => {
      await flush(url);
      await claims.del(key);
      await claims.close();
    };
    return { url, close };
  }
  await claims.close();
  throw new Error("every database of the test Redis is taken");
}

async function flush(url: string): Promise<void> {
  const client = await createClient({ url }).connect();
  await client.flushDb();
  await client.close();
}

function urlOf(server: string, database: number): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
