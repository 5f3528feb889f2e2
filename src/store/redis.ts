import { createHash } from "node:crypto";
import { createClient } from "redis";
import { RetryableError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { every } from "../service.ts";
import { withDeadline } from "../with-deadline.ts";

/**
 * Redis holds nothing that may not be lost: snapshots, limits, wake-ups. So a client here
 * never throws out of turn, never queues while the server is away, and never makes a
 * caller wait longer than the caller says.
 */
export type Redis = ReturnType<typeof newClient>;

const CONNECT_TIMEOUT_MS = 2_000;
/** Short enough that a server that came back is used within 5 s. */
const RECONNECT_EVERY_MS_MAX = 1_000;
/** At most this many commands wait for replies; beyond it they are refused at once. */
const COMMANDS_WAITING_MAX = 10_000;
const PING_EVERY_MS = 1_000;
/** Two silent pings: the connection is half-open or the server is frozen. */
const PINGS_MISSED_MAX = 2;
const CLOSE_WITHIN_MS = 1_000;
const REPLICA_LOOK_EVERY_MS = 3_000;
/** Never set: deleting it shows whether the server takes writes. */
const NO_KEY = "starboard:none";

/**
 * Opens a client and connects in the background, as often as needed: commands fail at once while
 * the server is away and work again within seconds after it is back.
 *
 * @param url `redis://…`
 */
export function openRedis(url: string, log: Logger): Redis {
  const redis = plainClient(url);
  let away = false;
  redis.on("error", (error: unknown) => {
    // One line per outage, not one per attempt.
    if (!away) log.warn({ err: error }, "redis is away");
    away = true;
  });
  connect(redis);
  watchConnection(redis, log);
  leaveReplicas(redis, () => {
    if (away) log.info("redis is back");
    away = false;
  });
  return redis;
}

/**
 * Connects again where the server has become a replica: it keeps its connections and refuses every
 * write, and by then its address leads to the one that took over. Ends with the client.
 *
 * @param onWell called at every look at a server that is no replica
 */
export function leaveReplicas(
  client: Pick<Redis, "isOpen" | "isReady" | "del" | "sendCommand">,
  onWell?: () => void,
): void {
  const looking = every(REPLICA_LOOK_EVERY_MS, async () => {
    if (!client.isOpen) return void looking.close();
    if (!client.isReady) return;
    const refusal = await client.del(NO_KEY).then(() => "", String);
    // The server ends the connection, and the client opens it as after any cut.
    if (/\bREADONLY\b/.test(refusal)) await client.sendCommand(["QUIT"]);
    else if (client.isReady) onWell?.();
  });
}

/**
 * Connects once; for those who want to know now whether Redis answers.
 *
 * @returns a client that answered; the caller closes it
 * @throws Error of the connection, or when nothing came within 2 s
 */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = plainClient(url, false);
  redis.on("error", () => undefined);
  try {
    const answering = redis.connect().then(() => redis.ping());
    await withDeadline(answering, CONNECT_TIMEOUT_MS);
    return redis;
  } catch (error) {
    if (redis.isOpen) redis.destroy();
    throw error;
  }
}

/** Waits for a client's connection, but no longer than this. */
export async function readySoon(redis: Redis, withinMs: number): Promise<void> {
  if (redis.isReady) return;
  await new Promise<void>((resolve) => {
    const ready = (): void => {
      clearTimeout(timer);
      redis.off("ready", ready);
      resolve();
    };
    const timer = setTimeout(ready, withinMs);
    redis.once("ready", ready);
  });
}

/**
 * What Redis does when its memory is full; anything but `noeviction` loses queued work in silence.
 *
 * @throws RetryableError `UNAVAILABLE` when Redis is out of reach
 */
export async function evictionPolicy(redis: Redis, deadlineMs: number): Promise<string> {
  const memory = await runCommand(redis.info("memory"), deadlineMs);
  return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? "noeviction";
}

/** Fails where Redis takes no writes: a full one, or a replica, still answers reads. */
export async function probeWrites(redis: Redis, deadlineMs: number): Promise<void> {
  const expiration = { type: "EX", value: 60 } as const;
  await runCommand(redis.set("starboard:ready", "1", { expiration }), deadlineMs);
}

/** Closes a client, waiting a second at most for replies under way. Safe to call twice. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (!redis.isOpen) return;
  if (redis.isReady) await runCommand(redis.close(), CLOSE_WITHIN_MS).catch(() => undefined);
  if (redis.isOpen) redis.destroy();
}

/**
 * Waits for a reply until a deadline: a frozen server answers nothing.
 *
 * @throws RetryableError `UNAVAILABLE` when time is up or Redis is out of reach
 */
export async function runCommand<T>(reply: Promise<T>, deadlineMs: number): Promise<T> {
  try {
    return await withDeadline(reply, deadlineMs, () => new Error("Redis did not answer in time"));
  } catch (error) {
    throw new RetryableError("UNAVAILABLE", "Redis is out of reach", 1, error);
  }
}

/**
 * A Lua script that travels once: later calls send its hash alone.
 *
 * @returns a function that runs it, in one round trip; keys and arguments are strings
 */
export function redisScript(
  lua: string,
): (redis: Redis, keys: string[], values: string[]) => Promise<unknown> {
  const sha1 = createHash("sha1").update(lua).digest("hex");
  return async (redis, keys, values) => {
    const given = { keys, arguments: values };
    try {
      return await redis.evalSha(sha1, given);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) {
        return await redis.eval(lua, given);
      }
      throw error;
    }
  };
}

const makePattern = () => createClient({ maintNotifications: "disabled" });
let pattern: ReturnType<typeof makePattern> | undefined;

/**
 * A client of its own, copied from one that is never connected: the library builds the class of all
 * commands anew wherever options differ from the last ones, which held a starting process up for a
 * tenth of a second each time.
 */
export function newClient(
  options: NonNullable<Parameters<ReturnType<typeof makePattern>["duplicate"]>[0]>,
) {
  pattern ??= makePattern();
  return pattern.duplicate(options);
}

function plainClient(url: string, reconnects = true): Redis {
  return newClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_WAITING_MAX,
    // Its own timeout ends with the write; ours (`runCommand`) covers the reply, at a fraction of the cost.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) =>
        reconnects && Math.min(50 * 2 ** retries, RECONNECT_EVERY_MS_MAX),
    },
  });
}

function connect(redis: Redis): void {
  // Rejects only when the client was closed meanwhile; failures are "error" events.
  redis.connect().catch(() => undefined);
}

/** A cut cable sends no error: without this, TCP would take minutes to notice. */
function watchConnection(redis: Redis, log: Logger): void {
  let missed = 0;
  const watching = every(PING_EVERY_MS, async () => {
    if (!redis.isOpen) return void watching.close();
    if (!redis.isReady) return;
    const answered = await runCommand(redis.ping(), PING_EVERY_MS).then(
      () => true,
      () => false,
    );
    missed = answered ? 0 : missed + 1;
    if (missed < PINGS_MISSED_MAX || !redis.isOpen) return;
    missed = 0;
    log.warn("redis does not answer, connecting again");
    redis.destroy();
    connect(redis);
  });
}
