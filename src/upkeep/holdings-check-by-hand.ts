import { setTimeout as delay } from "node:timers/promises";
import { TerminalError } from "../errors.ts";
import { inTime } from "../store/postgres.ts";
import { inRedisTime, type Redis } from "../store/redis.ts";
import { createHoldingsCheck, type HoldingsCheckDeps } from "./holdings-check.ts";
import { type DryReport, dryRun } from "./holdings-check-dry-run.ts";

/** The newest dry run, whichever process made it. Instants are epoch milliseconds. */
export interface KeptDryRun {
  readonly state: "running" | "done" | "failed";
  readonly operator: string;
  readonly begunAt: number;
  readonly endedAt: number | null;
  readonly report: DryReport | null;
}

/** The check as an operator runs it: dry at first, then in earnest. */
export interface HoldingsCheckByHand {
  /** @throws RetryableError `UNAVAILABLE` when Redis is out of reach */
  lastDryRun(): Promise<KeptDryRun | null>;
  /**
   * Begins one, and waits a moment for it.
   *
   * @throws TerminalError `INVALID_REQUEST` while this process makes one; RetryableError
   */
  beginDryRun(operator: string): Promise<void>;
  /**
   * Begins a run in earnest, and waits a moment for it.
   *
   * @returns whether it has come to its end
   * @throws TerminalError `INVALID_REQUEST` while any process makes one; RetryableError
   */
  beginRun(): Promise<"done" | "begun">;
  /** Ends what is under way early and in order. */
  close(): Promise<void>;
}

const KEY = "starboard:console:holdings-dry-run";
/** A running one tells of itself this often; a process that died is forgotten soon. */
const TELL_EVERY_MS = 5_000;
const RUNNING_KEPT_SECONDS = 20;
/** Long enough to decide on it; NFTs move on. */
const DONE_KEPT_SECONDS = 3_600;
const ANSWER_WITHIN_MS = 1_000;
/** Small ledgers are checked within this: whoever asked sees the end at once. */
const PATIENCE_MS = 2_000;

export function checkByHand(
  given: HoldingsCheckDeps & { readonly redis: Redis },
): HoldingsCheckByHand {
  const { redis, sql, clock, log } = given;
  const closing = new AbortController();
  const check = createHoldingsCheck(given);
  const underWay = new Map<"dry" | "run", Promise<void>>();

  const keep = async (run: KeptDryRun): Promise<void> => {
    const EX = run.state === "running" ? RUNNING_KEPT_SECONDS : DONE_KEPT_SECONDS;
    await inRedisTime(redis.set(KEY, JSON.stringify(run), { EX }), ANSWER_WITHIN_MS);
  };
  /** Goes on in the background; a failure is told by the log, and to those still waiting. */
  const begin = async (kind: "dry" | "run", work: () => Promise<void>): Promise<boolean> => {
    if (underWay.has(kind)) throw busy();
    const done = work().finally(() => underWay.delete(kind));
    underWay.set(kind, done);
    done.catch((error: unknown) => log.warn({ err: error, kind }, "a check by hand broke off"));
    return Promise.race([done.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
  };
  const judge = async (running: KeptDryRun): Promise<void> => {
    const timer = setInterval(() => keep(running).catch(() => undefined), TELL_EVERY_MS).unref();
    try {
      const report = await dryRun({ ...given, signal: closing.signal });
      clearInterval(timer);
      await keep({ ...running, state: "done", endedAt: clock.now(), report });
    } catch (error) {
      clearInterval(timer);
      await keep({ ...running, state: "failed", endedAt: clock.now() }).catch(() => undefined);
      throw error;
    }
  };
  return {
    async lastDryRun() {
      const text = await inRedisTime(redis.get(KEY), ANSWER_WITHIN_MS);
      return text === null ? null : (JSON.parse(text) as KeptDryRun);
    },
    async beginDryRun(operator) {
      if (underWay.has("dry")) throw busy();
      const running = {
        state: "running",
        operator,
        begunAt: clock.now(),
        endedAt: null,
        report: null,
      } as const;
      await keep(running);
      await begin("dry", () => judge(running));
    },
    async beginRun() {
      const [other] = await inTime(sql`
        select id from holdings_check_run where state = 'running' and lease_until > now_ms() limit 1`);
      if (other !== undefined) throw busy();
      const isDone = await begin("run", async () => {
        await check.runNow();
      });
      return isDone ? "done" : "begun";
    },
    async close() {
      closing.abort();
      await check.close();
      await Promise.allSettled(underWay.values());
    },
  };
}

function busy(): TerminalError {
  return new TerminalError("INVALID_REQUEST", "a check is under way; wait until it has ended");
}
