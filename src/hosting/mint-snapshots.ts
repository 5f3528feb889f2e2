import type { Claims } from "../../actors/nft-accounting.ts";
import type { Attribution, MintAttributions } from "../journal/fold-mint.ts";
import type { MintStamp } from "../journal/mint-stamp.ts";
import { accountNumber, type StarRecord, walletOf } from "../journal/star-record.ts";
import { inRedisTime, type Redis, redisScript } from "../store/redis.ts";

/**
 * Forever mints at rest in Redis, kept up to date star by star: a mint of 100,000 wallets is
 * never written whole for one of them. As with every snapshot nothing rests on it: it is stamped
 * with its number of stars, its weight and the last release of the daily check, and one whose
 * stamp is not the journal's (a write was lost, the check took something away) is read anew.
 */
export interface MintSnapshots {
  /** Adds an accepted star, some time soon; `totalVotes` is the mint's weight after it. */
  add(star: StarRecord, claims: Claims, totalVotes: number): void;
  /** The mint, when it is there and has this stamp; else null. Never rejects. */
  read(mint: string, stamp: MintStamp): Promise<MintAttributions | null>;
  /** Replaces what is there; `release` is of a stamp read before the state. */
  replace(mint: string, state: MintAttributions, release: number): Promise<void>;
  /** Resolves when what was added is written or given up. */
  settled(): Promise<void>;
}

/** Bumped when the shape changes: older and newer processes then ignore each other's. */
const SHAPE = "forever-mint 1";
const KEPT_SECONDS = 30 * 86_400;
/** A hundred thousand fields come over in a tenth of a second. */
const READ_WITHIN_MS = 1_000;
/** Fields of one command: Lua unpacks no more than some thousands. */
const FIELDS_PER_CALL = 1_000;

/** Adds to what is there; begins it only with a mint's first star, which alone is complete. */
const addStar = redisScript(`
  local shape = redis.call('HGET', KEYS[1], 'shape')
  if shape ~= ARGV[1] and ARGV[2] ~= 'first' then return 0 end
  if shape ~= ARGV[1] then redis.call('DEL', KEYS[1]); redis.call('HSET', KEYS[1], 'shape', ARGV[1], 'release', 0) end
  redis.call('HINCRBY', KEYS[1], 'stars', 1)
  redis.call('HINCRBY', KEYS[1], 'weight', ARGV[3])
  for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  return 1`);

export function createMintSnapshots(redis: Redis): MintSnapshots {
  let writing: Promise<unknown> = Promise.resolve();
  return {
    add(star, claims, totalVotes) {
      if (!redis.isReady) return;
      const fields = fieldsOf(star, claims);
      // A whale's star that does not fit is missed: the stamp then says so.
      if (fields.length > FIELDS_PER_CALL) return;
      const { target, weight, breakdown } = star;
      // A first star brings its base, so nobody else's weight is in the total.
      const place = breakdown.base === 1 && totalVotes === weight ? "first" : "later";
      const values = [SHAPE, place, String(weight), String(KEPT_SECONDS), ...fields];
      writing = Promise.all([
        writing,
        addStar(redis, [mintKey(target.id)], values).catch(() => undefined),
      ]);
    },
    async read(mint, stamp) {
      if (!redis.isReady) return null;
      const all = await inRedisTime(redis.hGetAll(mintKey(mint)), READ_WITHIN_MS).catch(() => null);
      return all === null ? null : decodeMint(all, stamp);
    },
    async replace(mint, state, release) {
      if (!redis.isReady) return;
      await replaceMint(redis, mint, { ...state, release }).catch(() => undefined);
    },
    settled: async () => void (await writing),
  };
}

/** Hash tags keep an actor's keys on one shard of a cluster. */
export function mintKey(mint: string): string {
  return `starboard:{forever-mint/${mint}}`;
}

function fieldsOf({ id, wallet, breakdown }: StarRecord, claims: Claims): string[] {
  const value = `${accountNumber(wallet)} ${id}`;
  return [
    ...(breakdown.base === 1 ? [`base/${accountNumber(wallet)}`] : []),
    ...claims.a.map((serial) => `A/${serial}`),
    ...(claims.b === null ? [] : [`B/${claims.b}`]),
  ].flatMap((field) => [field, value]);
}

async function replaceMint(
  redis: Redis,
  mint: string,
  state: MintAttributions & Pick<MintStamp, "release">,
): Promise<void> {
  const key = mintKey(mint);
  const draft = `${key}:draft`;
  const fields = [...state.attributions].map(
    ([field, { wallet, starId }]) => [field, `${accountNumber(wallet)} ${starId}`] as const,
  );
  await redis.del(draft);
  const { stars, weight, release } = state;
  const writes = [redis.hSet(draft, { shape: SHAPE, stars, weight, release })];
  for (let at = 0; at < fields.length; at += FIELDS_PER_CALL) {
    const chunk = Object.fromEntries(fields.slice(at, at + FIELDS_PER_CALL));
    writes.push(redis.hSet(draft, chunk));
  }
  await Promise.all(writes);
  await redis.expire(draft, KEPT_SECONDS);
  await redis.rename(draft, key);
}

/** Anything that is not this mint with this stamp is no snapshot. */
function decodeMint(
  { shape, stars, weight, release, ...fields }: Readonly<Record<string, string>>,
  stamp: MintStamp,
): MintAttributions | null {
  const isStamped =
    Number(stars) === stamp.stars &&
    Number(weight) === stamp.weight &&
    Number(release) === stamp.release;
  if (shape !== SHAPE || !isStamped) return null;
  const attributions = new Map<string, Attribution>();
  for (const [field, value] of Object.entries(fields)) {
    const { wallet, starId } = /^(?<wallet>\d{1,12}) (?<starId>\S{36})$/.exec(value)?.groups ?? {};
    if (!/^(A|B|base)\/\d{1,16}$/.test(field) || wallet === undefined || starId === undefined) {
      return null;
    }
    attributions.set(field, { wallet: walletOf(Number(wallet)), starId });
  }
  return { stars: stamp.stars, weight: stamp.weight, attributions };
}
