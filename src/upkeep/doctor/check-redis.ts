import type { Settings } from "../../config.ts";
import {
  closeRedis,
  connectRedis,
  evictionPolicy,
  probeWrites,
  type Redis,
} from "../../store/redis.ts";
import { type Finding, reasonOf, unset, well, wrong } from "../finding.ts";

const DEADLINE_MS = 2_000;

/** Redis: whether it answers, takes writes, and never evicts. */
export async function checkRedis({ REDIS_URL }: Settings): Promise<Finding> {
  if (REDIS_URL === undefined) return unset("REDIS_URL");
  let redis: Redis;
  try {
    redis = await connectRedis(REDIS_URL);
  } catch (error) {
    return wrong(
      `does not answer: ${reasonOf(error)}`,
      "start Redis, and see that REDIS_URL names its host, port and password",
    );
  }
  try {
    return await judge(redis);
  } finally {
    await closeRedis(redis);
  }
}

async function judge(redis: Redis): Promise<Finding> {
  const policy = await evictionPolicy(redis, DEADLINE_MS);
  if (policy !== "noeviction") {
    return wrong(
      `maxmemory-policy is ${policy}: queued work may be evicted`,
      "`config set maxmemory-policy noeviction`, and the same in its configuration file",
    );
  }
  try {
    await probeWrites(redis, DEADLINE_MS);
  } catch (error) {
    return wrong(
      `takes no writes: ${reasonOf(error)}`,
      "give it more memory, or set REDIS_URL to the primary",
    );
  }
  return well("answers, takes writes and never evicts");
}
