import { rmSync } from "node:fs";
import { createClient } from "redis";
import { environment } from "../../src/config.ts";
import { startRedis } from "../../src/local/redis.ts";
import { temporaryFolder } from "./folder.ts";

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
