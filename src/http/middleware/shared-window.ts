import { batcher } from "../../batcher.ts";
import { bounds } from "../../bounds.ts";
import type { Clock } from "../../clock.ts";
import { type Redis, redisScript, runCommand } from "../../store/redis.ts";
import { AHEAD_MAX_MS, localWindow, type Verdict, type WindowSize } from "./sliding-window.ts";

export interface CountedVerdict extends Verdict {
  readonly countedBy: "redis" | "process";
}

export interface SharedWindowOptions extends WindowSize {
  /** Part of the keys: windows of different names know nothing of each other. */
  readonly name: string;
  readonly clock: Clock;
  /** Absent: this process counts alone. */
  readonly redis?: Redis | undefined;
  /** How many processes share the limit while Redis counts nothing; 1 when absent. */
  readonly processes?: (() => number) | undefined;
}

/** After Redis let one request wait to the end of its time, the next do not ask for a while. */
const REDIS_PAUSE_MS = 1_000;
/** Requests are older than this only when Redis has answered, or was given up. */
const SETTLED_MS = 1_000;
/** A key must outlive its newest entry by the difference between the clocks. */
const EXPIRY_SLACK_MS = 1_000;

/** Clients known to be far from their limit. One that is forgotten waits for one more answer. */
const ROOMY_MAX = 10_000;
/** One call is on its way while the other is made ready or read. */
const BATCHING = { keysMax: 1_000, callsMax: 2 };

/**
 * The instants of accepted requests in a list, newest first, at most `limit` of them: one round
 * trip for all that a client asked in one tick, O(1) each but for what has expired. Entries leave
 * in the order in which they came, so clocks that differ a little make the limit a little stricter,
 * never looser. Those of before a clock was set back leave at once.
 */
const SLIDE = redisScript(`
local key, now, window, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
while (tonumber(redis.call('lindex', key, 0) or nil) or now) > now + ${AHEAD_MAX_MS} do
  redis.call('lpop', key)
end
local oldest = tonumber(redis.call('lindex', key, -1) or nil)
while oldest and now - oldest >= window do
  redis.call('rpop', key)
  oldest = tonumber(redis.call('lindex', key, -1) or nil)
end
local count = redis.call('llen', key)
local accepted = math.max(0, math.min(tonumber(ARGV[4]), limit - count))
for _ = 1, accepted do redis.call('lpush', key, now) end
if accepted > 0 then
  redis.call('pexpire', key, window + ${EXPIRY_SLACK_MS})
  count, oldest = count + accepted, oldest or now
end
return { accepted, math.max(0, limit - count), oldest and oldest + window - now or 0 }
`);

/**
 * Counts a client's requests over all processes that share a Redis. This process counts its
 * own as well: it is what still limits when Redis is away or was emptied, and a client that it
 * refuses costs Redis nothing. While Redis is away, and for one window after, each process lets an
 * equal share of the limit through; also for one window once Redis is seen to have forgotten what
 * this process counted.
 */
export function sharedWindow(options: SharedWindowOptions) {
  const { name, limit, windowMs, clock, redis, processes = () => 1 } = options;
  const own = localWindow(options);
  let pausedUntil = 0;

  const canAsk = (): boolean => redis?.isReady === true && performance.now() >= pausedUntil;
  const share = (): number => Math.max(1, Math.floor(limit / processes()));
  let isShareUntil = 0;
  /** What Redis has not counted only its own process knows, until it has left the window. */
  const ownLimit = (): number => {
    if (!canAsk()) isShareUntil = clock.now() + windowMs;
    const leftMs = isShareUntil - clock.now();
    // Further away than a window: the clock was set back since.
    return leftMs > 0 && leftMs <= windowMs ? share() : limit;
  };
  const ask = async (client: string, requests: number): Promise<Answer | undefined> => {
    if (redis === undefined || !canAsk()) return undefined;
    const now = clock.now();
    // Without the newest, which Redis may not have answered, and those that another clock lets go.
    const known = own.count(client, now - windowMs + SETTLED_MS, now - SETTLED_MS);
    // The braces are a hash tag: on a cluster all keys of a client share a slot.
    const key = `starboard:rate:${name}:{${client}}`;
    try {
      const run = SLIDE(
        redis,
        [key],
        [String(now), String(windowMs), String(limit), String(requests)],
      );
      const answer = asAnswer(await runCommand(run, bounds.limitDeadlineMs));
      const isForgotten = limit - answer.remaining - answer.accepted < known;
      // What was counted without Redis leaves the window within this time.
      if (!isForgotten || ownLimit() < limit) return answer;
      isShareUntil = clock.now() + windowMs;
      return undefined;
    } catch {
      pausedUntil = performance.now() + REDIS_PAUSE_MS;
      return undefined;
    }
  };

  /** All that one client asks at once is one question: they are distinguished by their turn. */
  const askAll = async (clients: readonly string[]) => {
    const { turns, turnOf } = turnsOf(clients);
    const answers = new Map(
      await Promise.all(
        [...turns].map(
          async ([client, requests]) => [client, await ask(client, requests)] as const,
        ),
      ),
    );
    return clients.map((client, index) => verdictOf(answers.get(client), turnOf[index] ?? 0));
  };
  const askTogether = batcher(askAll, BATCHING);

  const room = rememberRoom(limit);
  const byProcess = (verdict: Verdict): CountedVerdict => ({ countedBy: "process", ...verdict });

  return {
    limit,
    windowMs,
    /** Accepts and counts, or refuses. Never fails, never waits longer than its deadline. */
    async take(client: string): Promise<CountedVerdict> {
      const mine = own.take(client, clock.now(), ownLimit());
      const ours = mine.accepted && canAsk() ? await askTogether(client) : undefined;
      room.note(client, ours?.remaining ?? 0);
      if (ours?.accepted) return ours;
      if (mine.accepted) own.giveBack(client);
      if (ours !== undefined) return ours;
      return byProcess(mine.accepted ? own.take(client, clock.now(), ownLimit()) : mine);
    },
    /** What `take` would answer, without counting. */
    async look(client: string): Promise<CountedVerdict> {
      const mine = own.look(client, clock.now(), ownLimit());
      const ours = mine.accepted ? await ask(client, 0) : undefined;
      if (ours === undefined) {
        return byProcess(mine.accepted ? own.look(client, clock.now(), ownLimit()) : mine);
      }
      return { ...ours, accepted: ours.remaining > 0, countedBy: "redis" };
    },
    /** Whether all processes together had counted less than half its limit when last asked. */
    hasRoom: room.has,
  };
}

/** How often each client asks, and which of its requests each one is, from 0. */
function turnsOf(clients: readonly string[]) {
  const turns = new Map<string, number>();
  const turnOf = clients.map((client) => {
    const turn = turns.get(client) ?? 0;
    turns.set(client, turn + 1);
    return turn;
  });
  return { turns, turnOf };
}

/** Who had more than half of the limit left when last counted by all processes. */
function rememberRoom(limit: number) {
  const roomy = new Set<string>();
  return {
    has: (client: string): boolean => roomy.has(client),
    note(client: string, remaining: number): void {
      if (remaining * 2 < limit) roomy.delete(client);
      else {
        if (roomy.size >= ROOMY_MAX) roomy.clear();
        roomy.add(client);
      }
    },
  };
}

interface Answer {
  /** How many of the requests asked about. */
  readonly accepted: number;
  /** After all of them. */
  readonly remaining: number;
  readonly waitMs: number;
}

/** @param turn of the request among those asked about, from 0 */
function verdictOf(answer: Answer | undefined, turn: number): CountedVerdict | undefined {
  if (answer === undefined) return undefined;
  const { accepted, remaining, waitMs } = answer;
  const later = Math.max(0, accepted - turn - 1);
  return {
    accepted: turn < accepted,
    remaining: remaining + later,
    waitMs,
    countedBy: "redis",
  };
}

function asAnswer(reply: unknown): Answer {
  const [accepted, remaining, waitMs] = Array.isArray(reply) ? reply.map(Number) : [];
  if (accepted === undefined || remaining === undefined || waitMs === undefined) {
    throw new TypeError("the rate limit script answered something else");
  }
  return { accepted, remaining, waitMs };
}
