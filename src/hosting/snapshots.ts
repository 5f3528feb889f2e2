import { UUID } from "uuidv7";
import { z } from "zod";
import { endOfDay, startOfDay } from "../../actors/day.ts";
import type { WalletDayState } from "../../actors/wallet-day.ts";
import { walletDayId, walletDayVersion } from "../../actors/wallet-day.ts";
import type { WalletDayKey } from "../journal/load.ts";
import { inRedisTime, type Redis, redisScript } from "../store/redis.ts";

/**
 * Wallet-day actors at rest in Redis: a cache that may be lost, stale, foreign or forged at any
 * moment. Nothing rests on it: a state that came from here is never used to refuse a star, and
 * the journal accepts no star that does not follow from its own rows. Snapshots are never
 * migrated: anything odd is thrown away and folded again.
 */
export interface Snapshots {
  /** The state, or null when there is none that fits. Never rejects, never waits long. */
  read(key: WalletDayKey): Promise<WalletDayState | null>;
  /** Writes after a commit, some time soon; an older version never replaces a newer one. */
  write(key: WalletDayKey, state: WalletDayState): void;
  /** Resolves when what was handed in is written or given up. */
  settled(): Promise<void>;
}

/** Bumped when the shape of a state changes: older processes and newer ones then ignore each other's. */
const SCHEMA = 1;
/** The journal answers in a millisecond or two: a cache that is slower is no help. */
const READ_WITHIN_MS = 50;
/** States that wait to be written; beyond them the oldest is given up. */
const WAITING_MAX = 10_000;
const DAY_MS = 86_400_000;

/** `<version>|<json>`; sets unless a state at least as new is there. */
const setIfNewer = redisScript(`
  local there = redis.call('GET', KEYS[1])
  local version = there and tonumber(string.match(there, '^(%d+)|'))
  if version and version >= tonumber(ARGV[1]) and string.find(there, ARGV[4], 1, true) then return 0 end
  redis.call('SET', KEYS[1], ARGV[1] .. '|' .. ARGV[2], 'PXAT', ARGV[3])
  return 1`);

const stateSchema = z.strictObject({
  m: z.literal("wallet-day"),
  s: z.literal(SCHEMA),
  v: z.enum(["fresh", "voting", "spent"]),
  w: z.string(),
  d: z.string(),
  /** Each star's id without hyphens, target, and milliseconds into the day: millions are kept. */
  c: z.array(z.tuple([z.string(), z.string(), z.number().int()])).max(20),
});

export function createSnapshots(redis: Redis): Snapshots {
  const waiting = new Map<string, { key: WalletDayKey; state: WalletDayState }>();
  let writing: Promise<void> = Promise.resolve();

  const flush = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    if (!redis.isReady) return;
    const writes = batch.map(({ key, state }) =>
      setIfNewer(
        redis,
        [redisKey(key)],
        [
          String(walletDayVersion(state)),
          encode(key, state),
          String(endOfDay(key.day) + DAY_MS),
          `"s":${SCHEMA},`,
        ],
      ),
    );
    // A cache entry that could not be written is only missing.
    await Promise.allSettled(writes);
  };

  return {
    async read(key) {
      if (!redis.isReady) return null;
      const text = await inRedisTime(redis.get(redisKey(key)), READ_WITHIN_MS).catch(() => null);
      return text === null ? null : decode(key, text);
    },
    write(key, state) {
      if (waiting.size === 0) {
        // After this tick: the stars of one batch go in one pipeline.
        writing = writing.then(() => new Promise((resolve) => setImmediate(resolve))).then(flush);
      }
      waiting.set(redisKey(key), { key, state });
      if (waiting.size > WAITING_MAX) {
        const [oldest] = waiting.keys();
        if (oldest !== undefined) waiting.delete(oldest);
      }
    },
    settled: () => writing,
  };
}

/** Hash tags keep an actor's keys on one shard of a cluster. */
export function redisKey({ wallet, day }: WalletDayKey): string {
  return `starboard:{${walletDayId(wallet, day)}}`;
}

function encode({ wallet, day }: WalletDayKey, { value, context }: WalletDayState): string {
  return JSON.stringify({
    m: "wallet-day",
    s: SCHEMA,
    v: value,
    w: wallet,
    d: day,
    c: context.stars.map(({ id, target, at }) => [
      id.replaceAll("-", ""),
      target,
      at - startOfDay(day),
    ]),
  });
}

/** Anything that is not this very actor, in this very shape, is no snapshot. */
export function decode(key: WalletDayKey, text: string): WalletDayState | null {
  try {
    const [, version = "", json = ""] = /^(\d+)\|(.*)$/s.exec(text) ?? [];
    const { v, w, d, c } = stateSchema.parse(JSON.parse(json));
    if (w !== key.wallet || d !== key.day || c.length !== Number(version)) return null;
    const stars = c.map(([id, target, at]) => ({
      id: UUID.parse(id).toString(),
      target,
      at: startOfDay(d) + at,
    }));
    return { value: v, context: { wallet: w, day: d, stars } };
  } catch {
    return null;
  }
}
