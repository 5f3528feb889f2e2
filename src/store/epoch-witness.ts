import { UUID } from "../uuid.ts";
import type { KnownDatabase } from "./database-identity.ts";
import { type Redis, readySoon, runCommand } from "./redis.ts";

/**
 * Keeps the epoch that workers wrote last outside of the database too. A copy of the disk that is
 * put back under the same server has that server's identity and none of the later rows: a worker
 * that starts on it can notice only by what is kept elsewhere.
 */
export type EpochWitness = ReturnType<typeof createEpochWitness>;

const KEY = "starboard:journal-epoch";
const KEPT = /^([!-~]+) ([!-~]+)$/;
/** By then all that was on its way when the last worker stopped has long landed or expired. */
const KEPT_MS = 600_000;
const DEADLINE_MS = 1_000;

/** Redis as the witness. It may be away or forget: then a copy is not noticed, and nothing else is lost. */
export function createEpochWitness(redis: Redis) {
  return {
    /** @returns what was kept last; undefined where nothing is known. Never rejects */
    async recall(): Promise<KnownDatabase | undefined> {
      try {
        await readySoon(redis, DEADLINE_MS);
        const text = (await runCommand(redis.get(KEY), DEADLINE_MS)) ?? "";
        const [, identity = "", epoch = ""] = KEPT.exec(text) ?? [];
        // Others may have written there: what is no epoch would fail in Postgres, at each look.
        return UUID.test(epoch) ? { identity, epoch } : undefined;
      } catch {
        return undefined;
      }
    },
    /** Never rejects. */
    async keep({ identity, epoch }: KnownDatabase): Promise<void> {
      if (epoch === undefined) return;
      const kept = redis.set(KEY, `${identity} ${epoch}`, { PX: KEPT_MS });
      await runCommand(kept, DEADLINE_MS).catch(() => undefined);
    },
  };
}
