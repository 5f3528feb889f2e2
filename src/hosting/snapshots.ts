import { z } from "zod";
import { DAY_MS, dayOf, endOfDay } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import type { DayStar, WalletDayKey, WalletDayState } from "../../actors/wallet-day.ts";
import { batcher } from "../batcher.ts";
import { bounds } from "../bounds.ts";
import { type DayVersion, isAt } from "../journal/load.ts";
import { type Redis, runCommand } from "../store/redis.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";

/**
 * Snapshots of wallet-day actors in Redis: the way back into memory after a restart, after passivation
 * and from another process. A snapshot is the facts of the day, so restoring it is the same fold as
 * the journal's. It counts only at the very version that the journal names, under the same machine
 * and rules; anything odd is no snapshot, and the journal is folded instead. So it may be lost,
 * stale, ahead, foreign or forged at any moment.
 */
export type Snapshots = ReturnType<typeof createSnapshots>;

/** Bumped when the machine or the shape changes: older and newer processes then ignore each other's. */
const SCHEMA = 2;
/** The journal answers in a millisecond or two: a cache that is slower is no help. */
const READ_WITHIN_MS = 50;
/** One command's worth; in Redis it holds up other commands for about a millisecond. */
const FIELDS_PER_COMMAND = 1_000;

/** `[schema, rules, wallet, [[id, target, at], …]]` */
const snapshotSchema = z.tuple([
  z.literal(SCHEMA),
  z.number(),
  z.string(),
  z.array(z.tuple([z.uuid(), z.string(), z.number().int()])),
]);

/** @param readWithinMs how long a read waits for Redis */
export function createSnapshots(redis: Redis, readWithinMs = READ_WITHIN_MS) {
  /** By day, then by wallet. */
  let waiting = new Map<string, Map<string, WalletDayState>>();
  let count = 0;
  let writing: Promise<unknown> = Promise.resolve();

  const flush = async (): Promise<void> => {
    const days = waiting;
    waiting = new Map();
    count = 0;
    const writes = [...days].flatMap(([day, states]) => [
      redis.hSet(snapshotKey(day), [...states].map(encode)),
      redis.pExpireAt(snapshotKey(day), endOfDay(day) + DAY_MS),
    ]);
    // A snapshot that could not be written is only missing.
    await Promise.allSettled(writes);
  };
  const readOne = batcher(
    async (keys: readonly WalletDayKey[]) => {
      const found = new Map<WalletDayKey, string | null>();
      await Promise.all(
        [...new Set(keys.map(({ day }) => day))].map(async (day) => {
          const ofDay = keys.filter((key) => key.day === day);
          const wallets = ofDay.map(({ wallet }) => wallet);
          const texts = await runCommand(redis.hmGet(snapshotKey(day), wallets), readWithinMs);
          for (const [n, key] of ofDay.entries()) found.set(key, texts[n] ?? null);
        }),
      );
      return keys.map((key) => found.get(key) ?? null);
    },
    { keysMax: FIELDS_PER_COMMAND },
  );

  return {
    /** The day's stars at exactly this version, or null. Never rejects, never waits long. */
    async read(key: WalletDayKey, version: DayVersion): Promise<readonly DayStar[] | null> {
      const text = await readOne(key).catch(() => null);
      const stars = text === null ? null : decode(key, text);
      return stars !== null && stars.length === version.used && isAt(version, stars) ? stars : null;
    },
    /** Writes after a commit, some time soon; all of a tick in one command. */
    write({ wallet, day }: WalletDayKey, state: WalletDayState): void {
      if (count >= bounds.snapshotsWaitingMax) return;
      if (count === 0) {
        // After this tick: the stars of one batch go in one command.
        writing = writing.then(yieldToEventLoop).then(flush);
      }
      count += 1;
      const states = waiting.get(day) ?? new Map<string, WalletDayState>();
      waiting.set(day, states.set(wallet, state));
    },
    /** Resolves when every snapshot given so far is written or dropped. */
    settled: async (): Promise<void> => void (await writing),
  };
}

/** One hash holds a day's wallets. */
export function snapshotKey(day: string): string {
  return `starboard:{wallet-day/${day}}`;
}

function encode([wallet, { context }]: readonly [string, WalletDayState]): [string, string] {
  const stars = context.stars.map(({ id, target, at }) => [id, target, at]);
  return [wallet, JSON.stringify([SCHEMA, rulesOn(context.day).version, wallet, stars])];
}

/** Anything that is not this very actor, in this very shape and under today's rules, is no snapshot. */
function decode({ wallet, day }: WalletDayKey, text: string): readonly DayStar[] | null {
  try {
    const [, rules, ofWallet, stars] = snapshotSchema.parse(JSON.parse(text));
    if (ofWallet !== wallet || rules !== rulesOn(day).version) return null;
    if (stars.some(([, , at]) => dayOf(at) !== day)) return null;
    return stars.map(([id, target, at]) => ({ id, target, at }));
  } catch {
    return null;
  }
}
