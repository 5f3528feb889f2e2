import { createMintSnapshots } from "../hosting/mint-snapshots.ts";
import { createSnapshots } from "../hosting/snapshots.ts";
import { silentLogger } from "../log.ts";
import { closeRedis, openRedis, readySoon } from "../store/redis.ts";

const READY_WITHIN_MS = 1_000;

/**
 * Runs something with the actors at rest in Redis. One that is away has none: the journal answers.
 * A file of its own, because the Redis client takes longer to load than all the rest of a command.
 */
export async function withRestingActors<T>(
  url: string,
  work: (resting: ReturnType<typeof restingActors>) => Promise<T>,
): Promise<T> {
  const redis = openRedis(url, silentLogger);
  try {
    await readySoon(redis, READY_WITHIN_MS);
    return await work(restingActors(redis));
  } finally {
    await closeRedis(redis);
  }
}

function restingActors(redis: ReturnType<typeof openRedis>) {
  return { snapshots: createSnapshots(redis), mintSnapshots: createMintSnapshots(redis) };
}
