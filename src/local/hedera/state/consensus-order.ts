import { setTimeout as pause } from "node:timers/promises";
import { coerceError, RetryableError } from "../../../errors.ts";
import { isOutage } from "../../../store/postgres.ts";
import { LedgerRefusal } from "../refusal.ts";
import { nanosOfMs } from "../timestamps.ts";
import { noRows, type Rows } from "./rows.ts";
import { forgetHandled, nextConsensus, type State, type Step, type Turn } from "./state.ts";
import type { LedgerStore } from "./store.ts";

/**
 * The one order in which everything happens. Steps run one after the other against the
 * state in memory; a batch of them is written by one statement; only then do their callers
 * hear of it. So whatever anyone has been told is in Postgres.
 */
export interface ConsensusOrder {
  /** The state as of the last step; read it, never change it outside a step. */
  readonly state: State;
  /** Steps that wait or are being written. */
  readonly depth: number;
  /** Another process has opened this ledger, or this one was closed: nothing more is taken. */
  readonly ended: boolean;
  /**
   * Runs a step when its turn comes.
   *
   * @param afterMs earliest turn, from now
   * @returns what the step answered, once it is durable
   * @throws LedgerRefusal when the step refused, `PLATFORM_NOT_ACTIVE` when the order has ended
   */
  take<T>(step: Step<T>, afterMs?: number): Promise<T>;
  /** Takes nothing more, and waits for the batch being written. */
  close(): Promise<void>;
}

/** One statement of a few hundred rows takes milliseconds; larger ones only add delay. */
const BATCH_STEPS_MAX = 256;
/** How often a database that is away is asked again. */
const RETRY_MS = 200;

interface Waiting {
  /** Runs the step; what it returns tells the caller, once the batch is durable. */
  run(turn: Turn): () => void;
  reject(error: Error): void;
}

/** @param now the time, in epoch milliseconds */
export async function openOrder(store: LedgerStore, now: () => number): Promise<ConsensusOrder> {
  return new Order(store, now, await store.load(nanosOfMs(now())));
}

class Order implements ConsensusOrder {
  readonly #store: LedgerStore;
  readonly #now: () => number;
  readonly #delayed = new Map<Waiting, NodeJS.Timeout>();
  #ready: Waiting[] = [];
  #writing = 0;
  #running: Promise<void> | undefined;
  /** How many of the next steps go one by one, to find the one Postgres refuses. */
  #single = 0;
  state: State;
  ended = false;

  constructor(store: LedgerStore, now: () => number, state: State) {
    this.#store = store;
    this.#now = now;
    this.state = state;
  }

  get depth(): number {
    return this.#ready.length + this.#delayed.size + this.#writing;
  }

  take<T>(step: Step<T>, afterMs = 0): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run: Waiting["run"] = (turn) => {
        const answer = step(turn);
        return () => resolve(answer);
      };
      const waiting: Waiting = { run, reject };
      if (this.ended) reject(endOfOrder());
      else if (afterMs <= 0) this.#admit(waiting);
      else {
        const admit = () => this.#admit(waiting);
        this.#delayed.set(waiting, setTimeout(admit, afterMs));
      }
    });
  }

  async close(): Promise<void> {
    this.ended = true;
    await this.#running;
    this.#abandon();
  }

  #admit(waiting: Waiting): void {
    this.#delayed.delete(waiting);
    this.#ready.push(waiting);
    if (this.#running === undefined) this.#running = this.#drain();
  }

  async #drain(): Promise<void> {
    // The rest of this tick's steps may join the batch.
    await Promise.resolve();
    while (this.#ready.length > 0 && !this.ended) {
      const one = this.#single > 0;
      if (one) this.#single -= 1;
      await this.#write(this.#ready.splice(0, one ? 1 : BATCH_STEPS_MAX));
    }
    if (this.ended) this.#abandon();
    // In the same instant as the last look at the queue, or a step arriving now would wait.
    this.#running = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const previous = this.state.lastConsensus;
    const rows = noRows();
    this.#writing = batch.length;
    const done = batch.map((waiting) => this.#perform(waiting, rows));
    const tell = (): void => {
      for (const settle of done) settle();
    };
    const empty = Object.values(rows).every((list) => list.length === 0);
    if (empty) this.state.lastConsensus = previous;
    const last = this.state.lastConsensus;
    try {
      if (empty || (await this.#store.commit({ rows, previous, state: this.state }))) tell();
      else await this.#recover({ batch, last, tell, error: undefined });
    } catch (error) {
      await this.#recover({ batch, last, tell, error: coerceError(error) });
    } finally {
      this.#writing = 0;
    }
    forgetHandled(this.state, nanosOfMs(this.#now()));
  }

  #perform(waiting: Waiting, rows: Rows): () => void {
    const { state } = this;
    const before = state.lastConsensus;
    state.lastConsensus = nextConsensus(before, this.#now());
    try {
      return waiting.run({ at: state.lastConsensus, state, rows });
    } catch (error) {
      // A refused step took no place in the order.
      state.lastConsensus = before;
      return () => waiting.reject(coerceError(error));
    }
  }

  /**
   * A batch may have been written although its answer was lost; the head says which. If it
   * was not, its steps run again on the state read back.
   */
  async #recover(failed: {
    batch: readonly Waiting[];
    last: bigint;
    tell: () => void;
    error: Error | undefined;
  }): Promise<void> {
    const { epoch } = this.state;
    const state = await this.#readBack();
    if (state === undefined) return this.#end(failed.batch);
    this.state = state;
    if (state.epoch !== epoch) return this.#end(failed.batch);
    if (state.lastConsensus === failed.last) return failed.tell();
    const { error, batch } = failed;
    const outage = error === undefined || error instanceof RetryableError || isOutage(error);
    const [only] = batch;
    if (!outage && batch.length === 1 && only !== undefined) return only.reject(error);
    this.#ready.unshift(...batch);
    if (!outage) this.#single = batch.length;
  }

  async #readBack(): Promise<State | undefined> {
    while (!this.ended) {
      try {
        return await this.#store.load(nanosOfMs(this.#now()));
      } catch {
        await pause(RETRY_MS);
      }
    }
    return undefined;
  }

  #end(batch: readonly Waiting[]): void {
    this.ended = true;
    for (const waiting of batch) waiting.reject(endOfOrder());
    this.#abandon();
  }

  #abandon(): void {
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    const left = [...this.#ready, ...this.#delayed.keys()];
    this.#ready = [];
    this.#delayed.clear();
    for (const waiting of left) waiting.reject(endOfOrder());
  }
}

function endOfOrder(): LedgerRefusal {
  return new LedgerRefusal("PLATFORM_NOT_ACTIVE", "this ledger was closed or opened elsewhere");
}
