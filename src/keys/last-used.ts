import type { Clock } from "../clock.ts";
import { every } from "../service.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

const FLUSH_EVERY_MS = 5_000;
/** More keys than are ever issued by hand; beyond it, news of further ones is dropped. */
const KEYS_MAX = 10_000;

/**
 * Collects when keys were used and writes it down now and then.
 *
 * @param onFailure called with writes that failed; nothing is lost but time
 */
export function lastUsed(sql: Sql, clock: Clock, onFailure: (error: unknown) => void) {
  let used = new Map<string, number>();
  const flush = async (): Promise<void> => {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    try {
      await write(sql, batch);
    } catch (error) {
      used = new Map([...batch, ...used]);
      throw error;
    }
  };
  const flushing = every(FLUSH_EVERY_MS, flush, { onFailure });
  return {
    note(keyId: string): void {
      if (used.size < KEYS_MAX || used.has(keyId)) used.set(keyId, clock.now());
    },
    /** Writes what is collected; on failure it stays collected. */
    flush,
    async close(): Promise<void> {
      await flushing.close();
      await flush().catch(onFailure);
    },
  };
}

/** Locks in the order of ids: two processes that write at once wait, they do not deadlock. */
async function write(sql: Sql, used: ReadonlyMap<string, number>): Promise<void> {
  await runStatement(sql`
    with used as (
      select * from unnest(${[...used.keys()]}::uuid[], ${[...used.values()]}::bigint[]) as used (id, at)
    ), locked as (
      select api_key.id from api_key join used using (id) order by api_key.id for update of api_key
    )
    update api_key set last_used_at = greatest(last_used_at, used.at)
    from used join locked using (id) where api_key.id = used.id`);
}
