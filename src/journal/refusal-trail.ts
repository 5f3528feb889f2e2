import { type Redis, runCommand } from "../store/redis.ts";

/** A star that was refused: it left nothing in the journal. */
export interface RefusedStar {
  readonly at: number;
  readonly wallet: string;
  /** `<type>/<id>` */
  readonly target: string;
  readonly code: string;
}

/** As the trail returns it: with an id that rises over all processes. */
export interface TrailedRefusal extends RefusedStar {
  readonly id: string;
}

/**
 * The newest refusals of all processes, for operators to see. Best effort throughout: they are
 * sent in batches that no request waits for, some are left out when there are too many, and all are
 * gone with Redis. Nothing is ever decided by them.
 */
export type RefusalTrail = ReturnType<typeof createRefusalTrail>;

const KEY = "starboard:refusals";
/** Some 150 bytes each: two megabytes in Redis at most. */
const KEPT_MAX = 10_000;
const SEND_EVERY_MS = 250;
/** A process sends no more than this in one go; a flood of refusals shows as a part of it. */
const BATCH_MAX = 100;
const READ_MAX = 500;
const DEADLINE_MS = 500;

export function createRefusalTrail(redis: Redis) {
  let waiting: RefusedStar[] = [];
  const send = (): void => {
    const batch = waiting;
    waiting = [];
    const options = {
      TRIM: { strategy: "MAXLEN", strategyModifier: "~", threshold: KEPT_MAX },
    } as const;
    for (const { at, wallet, target, code } of batch) {
      const fields = { at: String(at), wallet, target, code };
      redis.xAdd(KEY, "*", fields, options).catch(() => undefined);
    }
  };
  const read = async (
    ask: () => Promise<readonly Entry[] | null>,
  ): Promise<readonly TrailedRefusal[]> => {
    const found = await runCommand(ask(), DEADLINE_MS).catch(() => null);
    const trailed = (found ?? []).map(({ id, message }) => ({ id, ...readFields(message) }));
    // Others may have written there: what has no instant cannot be shown.
    return trailed.filter(({ at }) => !Number.isNaN(new Date(at).getTime()));
  };
  return {
    note(refused: RefusedStar): void {
      if (waiting.length >= BATCH_MAX) return;
      if (waiting.length === 0) setTimeout(send, SEND_EVERY_MS).unref();
      waiting.push(refused);
    },
    /** Refusals after an id (or since an instant, epoch ms, as `<ms>-0`), oldest first; none when Redis is away. */
    after: (id: string) => read(() => redis.xRange(KEY, `(${id}`, "+", { COUNT: READ_MAX })),
    /** The newest ones, newest first. */
    newest: (limit: number) => read(() => redis.xRevRange(KEY, "+", "-", { COUNT: limit })),
  };
}

interface Entry {
  readonly id: string;
  readonly message: Readonly<Record<string, string>>;
}

function readFields({ at, wallet, target, code }: Entry["message"]): RefusedStar {
  return { at: Number(at), wallet: wallet ?? "", target: target ?? "", code: code ?? "" };
}
