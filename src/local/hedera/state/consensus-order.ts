import { coerceError } from "../../../errors.ts";
import { LedgerRefusal } from "../refusal.ts";
import { nanosOfMs } from "../timestamps.ts";
import type { LedgerEvent } from "./events.ts";
import { emptyState, evolve } from "./evolve.ts";
import { openLedgerFile } from "./ledger-file.ts";
import type { Step } from "./state.ts";

/**
 * The one order in which everything happens. A step runs when its turn comes; what it adds
 * is in the file before the state shows it and before its caller gets an answer.
 */
export type ConsensusOrder = ReturnType<typeof openOrder>;

interface Waiting {
  readonly timer: NodeJS.Timeout;
  reject(error: Error): void;
}

/**
 * @param clock the time, in epoch milliseconds
 * @param folder where the file is; without one the ledger lives in memory alone
 * @throws Error when the file is in use or damaged
 */
export function openOrder(clock: () => number, folder?: string) {
  const state = emptyState();
  const replay = (events: readonly LedgerEvent[]): void => {
    for (const event of events) evolve(state, event);
  };
  const file = folder === undefined ? undefined : openLedgerFile(folder, replay);
  const waiting = new Set<Waiting>();
  let ended = false;
  let aheadMs = 0;
  const now = (): number => {
    const reachedMs = Number(state.lastConsensus / 1_000_000n);
    aheadMs = Math.max(aheadMs, reachedMs - clock());
    return clock() + aheadMs;
  };
  const perform = <T>(step: Step<T>): T => {
    const events: LedgerEvent[] = [];
    const [time, last] = [nanosOfMs(now()), state.lastConsensus];
    // Just after the last step where time stood still.
    const at = time > last ? time : last + 1n;
    const answer = step({ at, state, add: (event) => void events.push(event) });
    if (events.length > 0) file?.append(events);
    replay(events);
    return answer;
  };
  return {
    /**
     * The ledger's time, epoch milliseconds. It never goes back, as the network's does not: where
     * the clock is set back it goes on from the last step.
     */
    now,
    /** Everything up to the last step; only steps change it. */
    state,
    /** It was closed: nothing more is taken. */
    get ended(): boolean {
      return ended;
    },
    /**
     * Runs a step when its turn comes.
     *
     * @param afterMs earliest turn, from now
     * @returns what the step answered
     * @throws LedgerRefusal when the step refused, `PLATFORM_NOT_ACTIVE` when the order has
     *   ended; Error when the file could not be written, and nothing has happened then
     */
    take: <T>(step: Step<T>, afterMs = 0): Promise<T> =>
      new Promise((resolve, reject) => {
        const run = (): void => {
          try {
            resolve(perform(step));
          } catch (error) {
            reject(coerceError(error));
          }
        };
        if (ended) return reject(endOfOrder());
        if (afterMs <= 0) return run();
        const timer = setTimeout(() => {
          waiting.delete(entry);
          run();
        }, afterMs);
        const entry: Waiting = { timer, reject };
        waiting.add(entry);
      }),
    async close(): Promise<void> {
      if (ended) return;
      ended = true;
      for (const { timer, reject } of waiting) {
        clearTimeout(timer);
        reject(endOfOrder());
      }
      waiting.clear();
      await file?.close();
    },
  };
}

function endOfOrder(): LedgerRefusal {
  return new LedgerRefusal("PLATFORM_NOT_ACTIVE", "this ledger was closed");
}
