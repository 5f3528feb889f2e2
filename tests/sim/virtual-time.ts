import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { Random } from "./random.ts";

/** A process of the simulation: what its code set going belongs to it, and ends with it. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  /** By the world's time; nothing of it runs before. */
  frozenUntil: number;
  /** When it started, by the world's time: its monotonic timer counts from there. */
  readonly startedAt: number;
  /** How far its machine's clock is from the world's time, milliseconds. */
  machineOff: number;
}

/** Something that will happen. */
interface Happening {
  readonly owner: Owner | null;
  readonly order: number;
  time: number;
  run: (() => void) | null;
}

/**
 * One time for all processes, and everything that waits for it: timers, answers, crashes. One
 * thing happens at a time, and all that follows from it without waiting is over before the next.
 */
export class VirtualTime {
  /** Milliseconds since the epoch. */
  now: number;
  /** Whose code runs; null: the world's own. */
  current: Owner | null = null;
  /** How many things have happened. */
  steps = 0;
  readonly #random: Random;
  readonly #heap: Happening[] = [];
  #order = 0;

  constructor(now: number, random: Random) {
    this.now = now;
    this.#random = random;
  }

  /** @returns what calls it off */
  in(delayMs: number, owner: Owner | null, run: () => void): { cancel(): void } {
    this.#order += 1;
    const happening = { owner, order: this.#order, time: this.now + delayMs, run } as Happening;
    this.#push(happening);
    return {
      cancel() {
        happening.run = null;
      },
    };
  }

  /** A timer is never early, and often late. */
  timer(delayMs: number, owner: Owner | null, run: () => void): { cancel(): void } {
    const least = delayMs >= 1 ? delayMs : 1;
    return this.in(least + (this.#random.chance(0.5) ? this.#random.next() * 2 : 0), owner, run);
  }

  /** Lets things happen until it is over. @throws what any of them throws */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          this.current = null;
          if (isOver()) {
            resolve();
            return;
          }
          this.#happen();
        } catch (error) {
          reject(error);
          return;
        }
        // Promises that are settled are followed to their ends before the next thing happens.
        real.setImmediate(step);
      };
      real.setImmediate(step);
    });
  }

  #happen(): void {
    for (;;) {
      const next = this.#pop();
      if (next === undefined) throw new Error("nothing is left to happen");
      const { owner, run } = next;
      if (run === null || owner?.isAlive === false) continue;
      if (owner !== null && owner.frozenUntil > next.time) {
        next.time = owner.frozenUntil;
        this.#push(next);
        continue;
      }
      this.now = Math.max(this.now, next.time);
      this.current = owner;
      this.steps += 1;
      run();
      return;
    }
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(happening, heap[parent] as Happening)) break;
      heap[at] = heap[parent] as Happening;
      at = parent;
    }
    heap[at] = happening;
  }

  #pop(): Happening | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Happening)) child += 1;
      if (!isBefore(heap[child] as Happening, last)) break;
      heap[at] = heap[child] as Happening;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order);
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now,
  random: Math.random,
  delay: timersPromises.setTimeout,
  randomUUID: crypto.randomUUID,
  randomBytes: crypto.randomBytes,
};

/** A handle as Node's timers have: `unref` keeps nothing alive here either. */
class Handle {
  cancel: () => void = () => undefined;
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return false;
  }
}

/** What a machine's own sources of time and chance answer while the simulation runs. */
interface Sources {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Called when a pool of random words is filled. */
  readonly onFill: () => void;
}

/**
 * Puts virtual time and seeded chance in the place of the machine's, for every module of this
 * thread: timers, the clocks, randomness.
 *
 * @returns what puts the machine's own back
 */
export function takeOverMachine({ time, random, onFill }: Sources): () => void {
  const later = (run: () => void, delayMs = 1, isTimer = true): Handle => {
    const handle = new Handle();
    const owner = time.current;
    const waiting = isTimer ? time.timer(delayMs, owner, run) : time.in(0, owner, run);
    handle.cancel = waiting.cancel;
    return handle;
  };
  const clear = (handle: unknown): void => {
    if (handle instanceof Handle) handle.cancel();
  };
  const repeat = (run: () => void, everyMs = 1): Handle => {
    const handle = new Handle();
    const owner = time.current;
    const next = (): void => {
      handle.cancel = time.timer(everyMs, owner, () => {
        next();
        run();
      }).cancel;
    };
    next();
    return handle;
  };
  replace({
    setTimeout: (run: (...given: unknown[]) => void, delayMs?: number, ...given: unknown[]) =>
      later(() => run(...given), delayMs),
    clearTimeout: clear,
    setInterval: (run: (...given: unknown[]) => void, everyMs?: number, ...given: unknown[]) =>
      repeat(() => run(...given), everyMs),
    clearInterval: clear,
    setImmediate: (run: (...given: unknown[]) => void, ...given: unknown[]) =>
      later(() => run(...given), 0, false),
    clearImmediate: clear,
  });
  const startedAt = time.now;
  Object.defineProperty(performance, "now", {
    configurable: true,
    value: () => time.now - (time.current?.startedAt ?? startedAt),
  });
  Object.defineProperty(performance, "timeOrigin", {
    configurable: true,
    get: () => (time.current?.startedAt ?? startedAt) + (time.current?.machineOff ?? 0),
  });
  Date.now = () => Math.floor(time.now + (time.current?.machineOff ?? 0));
  Math.random = random.next;
  const fill = <T extends NodeJS.TypedArray>(words: T): T => {
    onFill();
    const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(256);
    return words;
  };
  // `getRandomValues` of `node:crypto` has no setter and asks this object.
  Object.defineProperty(crypto.webcrypto, "getRandomValues", { configurable: true, value: fill });
  Object.assign(crypto, {
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomUUID: () => uuidOf(random),
  });
  Object.assign(timersPromises, { setTimeout: delayBy(later) });
  syncBuiltinESMExports();
  return giveMachineBack;
}

function replace(timers: Record<string, unknown>): void {
  Object.assign(globalThis, timers);
}

function giveMachineBack(): void {
  const { dateNow, random, delay, randomUUID, randomBytes, ...timers } = real;
  replace(timers);
  Reflect.deleteProperty(performance, "now");
  Reflect.deleteProperty(performance, "timeOrigin");
  Date.now = dateNow;
  Math.random = random;
  Object.assign(crypto, { randomUUID, randomBytes });
  Reflect.deleteProperty(crypto.webcrypto, "getRandomValues");
  Object.assign(timersPromises, { setTimeout: delay });
  syncBuiltinESMExports();
}

/** `setTimeout` of `node:timers/promises`. */
function delayBy(later: (run: () => void, delayMs?: number) => Handle) {
  return <T>(delayMs: number, value: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        handle.cancel();
        reject(signal?.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      const handle = later(() => {
        signal?.removeEventListener("abort", abort);
        resolve(value);
      }, delayMs);
      signal?.addEventListener("abort", abort, { once: true });
    });
}

/** A version 4 UUID. */
export function uuidOf(random: Random): string {
  const words = [0, 0, 0, 0].map(() => Math.floor(random.next() * 2 ** 32));
  const hex = words.map((word) => word.toString(16).padStart(8, "0")).join("");
  const variant = "89ab"[random.below(4)];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
