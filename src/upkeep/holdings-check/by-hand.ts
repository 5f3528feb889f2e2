import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { TerminalError } from "../../errors.ts";
import { checkedMintRow, epochMs, releasedNft } from "../../reads/console-holdings.ts";
import { every } from "../../service.ts";
import { type Redis, runCommand } from "../../store/redis.ts";
import { createHoldingsCheck, type HoldingsCheckDeps } from "./check.ts";

const keptDryRun = z.object({
  state: z.enum(["running", "done", "failed"]),
  operator: z.string(),
  startedAt: epochMs,
  report: z
    .object({
      mints: z.array(checkedMintRow).readonly(),
      releases: z.array(releasedNft).readonly(),
    })
    .nullable(),
});

/** The newest dry run of all processes. */
export type KeptDryRun = Readonly<z.output<typeof keptDryRun>>;

/**
 * The check as an operator runs it: first a dry run, then the real one. Closing it ends a run
 * early and in order.
 */
export type HoldingsCheckByHand = ReturnType<typeof checkByHand>;

const KEY = "starboard:console:holdings-dry-run";
/** A running one is written again this often; one whose process died is forgotten soon. */
const REFRESH_EVERY_MS = 5_000;
const RUNNING_KEPT_SECONDS = 20;
/** Long enough to decide on it; NFTs move on. */
const DONE_KEPT_SECONDS = 3_600;
const ANSWER_WITHIN_MS = 1_000;
/** Small ledgers are checked within this: the operator sees the end at once. */
const PATIENCE_MS = 2_000;

export function checkByHand(given: HoldingsCheckDeps & { readonly redis: Redis }) {
  const { redis, clock, log } = given;
  const check = createHoldingsCheck(given);
  const underWay = new Map<"dry" | "run", Promise<unknown>>();

  const keep = async (run: KeptDryRun): Promise<void> => {
    const EX = run.state === "running" ? RUNNING_KEPT_SECONDS : DONE_KEPT_SECONDS;
    await runCommand(redis.set(KEY, JSON.stringify(run), { EX }), ANSWER_WITHIN_MS);
  };
  /** Goes on in the background; a failure goes to the log, and to the operator who still waits. */
  const start = (
    kind: "dry" | "run",
    work: () => Promise<unknown>,
  ): Promise<"done" | "started"> => {
    const done = work().finally(() => underWay.delete(kind));
    underWay.set(kind, done);
    done.catch((error: unknown) =>
      log.warn({ err: error, kind }, "a holdings check started by an operator failed"),
    );
    const patience = delay(PATIENCE_MS, "started" as const, { ref: false });
    return Promise.race([done.then(() => "done" as const), patience]);
  };
  return {
    /**
     * @returns null also for what others may have written there
     * @throws RetryableError `UNAVAILABLE` when Redis is out of reach
     */
    async lastDryRun(): Promise<KeptDryRun | null> {
      const kept = await runCommand(redis.get(KEY), ANSWER_WITHIN_MS);
      return keptDryRun.nullable().catch(null).parse(parsed(kept));
    },
    /**
     * Starts one, and waits a moment for it.
     *
     * @throws TerminalError `INVALID_REQUEST` while this process makes one; RetryableError
     */
    async startDryRun(operator: string) {
      if (underWay.has("dry")) {
        const why = "a dry run is under way; wait until it has ended";
        throw new TerminalError("INVALID_REQUEST", why);
      }
      const running = { state: "running", operator, startedAt: clock.now(), report: null } as const;
      await start("dry", async () => {
        await keep(running);
        const refresh = every(REFRESH_EVERY_MS, () => keep(running));
        try {
          const report = await check.runDry();
          await refresh.close();
          await keep({ ...running, state: "done", report });
        } catch (error) {
          await refresh.close();
          await keep({ ...running, state: "failed" }).catch(() => undefined);
          throw error;
        }
      });
    },
    /** Starts a real run, and waits a moment for it; where any process makes one, that is the answer. */
    async startRun() {
      const { id, done } = await check.startRun();
      const state = done === null ? ("under way" as const) : await start("run", () => done);
      return { id, state };
    },
    async close() {
      await check.close();
      await Promise.allSettled(underWay.values());
    },
  };
}

function parsed(json: string | null): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    return null;
  }
}
