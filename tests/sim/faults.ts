import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Faults that strike single calls: how often at most. */
const STRIKING = {
  "journal: cut before": 0.03,
  "journal: answer lost": 0.03,
  "journal: no answer": 0.005,
  "journal: refused": 0.02,
  "journal: slow": 0.02,
  "journal: rolled back": 0.02,
  "journal: statements overlap": 0.9,
  "redis: slow": 0.2,
  "redis: stale": 0.5,
  "redis: forged": 0.3,
  "queue: lost": 0.9,
  "queue: twice": 0.9,
  "mirror: 5xx": 0.1,
  "mirror: 429": 0.05,
  "mirror: slow": 0.03,
  "mirror: half a page": 0.5,
  "mirror: replica lacks a message": 0.05,
  "mirror: moved in mid-vote": 0.3,
  "consensus: busy": 0.3,
  "consensus: dropped": 0.1,
  "consensus: vanished": 0.05,
  "consensus: answer lost": 0.2,
  "consensus: duplicate": 0.05,
  "consensus: expired": 0.05,
  "consensus: no effect": 0.03,
  "consensus: receipt lost": 0.3,
  "consensus: foreign id": 0.005,
  "consensus: other nodes": 0.05,
  "process: crash at a call": 0.002,
} as const;
type Striking = keyof typeof STRIKING;

/** Faults that last for some seconds: how long, and how many seconds apart at least. */
const LASTING = {
  "journal: away": { lastsMs: 6_000, apartMs: 5_000 },
  "redis: away": { lastsMs: 10_000, apartMs: 3_000 },
  "mirror: away": { lastsMs: 6_000, apartMs: 5_000 },
  "consensus: no balance": { lastsMs: 15_000, apartMs: 6_000 },
} as const;
type Lasting = keyof typeof LASTING;

/** Faults that happen at a moment: how many milliseconds apart at least. */
const SUDDEN = {
  "process: crash": 800,
  "process: stands still": 5_000,
  "process: clock jumps": 4_000,
  "redis: flushed": 3_000,
  "journal: its clock jumps": 4_000,
  "journal: its clock gains": 500,
  "journal: goes back": 3_000,
  "day: midnight": 5_000,
  "pass: granted": 500,
  "pass: ended": 1_500,
  "nft: moved": 100,
  "people: at an edge": 300,
  "people: buyers at midnight": 10_000,
} as const;
export type Sudden = keyof typeof SUDDEN;

/** How long a call takes, by what is called: milliseconds, one way. */
const LATENCY = { journal: 2, redis: 1, mirror: 60, consensus: 15, queue: 3 } as const;
export type Called = keyof typeof LATENCY;

/** How many of the kinds a seed has. */
const IS_ON = 0.5;
const LOCK_MS = 40_000;
/** What a mirror node is behind by at most. */
const BEHIND_MS = 60_000;

/**
 * The faults of one seed. Each seed draws which kinds there are and how often, from hardly ever to
 * as often as stated: many different worlds find more than one with everything at once.
 */
export class Faults {
  /** How often each kind struck. */
  readonly counts = new Map<string, number>();
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #rates = new Map<Striking, number>();
  readonly #intervals: readonly (readonly [Sudden | Lasting, number])[];
  readonly #lasting = new Set<Lasting>();
  readonly #latency: Readonly<Record<Called, number>>;
  readonly slowConsensus: number;
  #behindMs: number;
  #isOver = false;

  constructor(random: Random, time: VirtualTime) {
    this.#random = random;
    this.#time = time;
    const draw = (most: number): number =>
      random.chance(IS_ON) ? most * 10 ** random.between(-2, 0) : 0;
    for (const [kind, most] of Object.entries(STRIKING))
      this.#rates.set(kind as Striking, draw(most));
    const apart = Object.entries({ ...LASTING, ...SUDDEN }) as [
      Sudden | Lasting,
      number | { apartMs: number },
    ][];
    this.#intervals = apart.flatMap(([kind, every]) => {
      const least = typeof every === "number" ? every : every.apartMs;
      return random.chance(IS_ON) ? [[kind, least * 10 ** random.between(0, 1)] as const] : [];
    });
    const spread = (most: number): number => most * 10 ** random.between(-1, 0.5);
    const { journal, redis, mirror, consensus, queue } = LATENCY;
    this.#latency = {
      ...{ journal: spread(journal), redis: spread(redis), mirror: spread(mirror) },
      ...{ consensus: spread(consensus), queue: spread(queue) },
    };
    this.slowConsensus = draw(0.3);
    this.#behindMs = random.chance(IS_ON) ? BEHIND_MS * 60 ** -random.next() : 0;
  }

  /** Lets what happens by itself happen, until the faults are over. */
  start(inject: (kind: Sudden) => void): void {
    for (const [kind, everyMs] of this.#intervals) {
      const next = (): void => {
        this.#time.in(everyMs * this.#random.between(0.2, 1.8), null, () => {
          if (this.#isOver) return;
          next();
          if (kind in LASTING) this.last(kind as Lasting);
          else inject(kind as Sudden);
        });
      };
      next();
    }
  }

  /** Lets a fault that lasts begin now. */
  last(kind: Lasting): void {
    this.count(kind);
    this.#lasting.add(kind);
    const { lastsMs } = LASTING[kind];
    this.#time.in(lastsMs * this.#random.next(), null, () => this.#lasting.delete(kind));
  }

  /** Whether a fault strikes this call. */
  strikes(kind: Striking): boolean {
    const rate = this.#rates.get(kind) ?? 0;
    if (rate === 0 || this.#isOver || !this.#random.chance(rate)) return false;
    this.count(kind);
    return true;
  }

  /** Whether this seed has that kind. */
  isPlanned(kind: Sudden | Lasting): boolean {
    return this.#intervals.some(([each]) => each === kind);
  }

  isOn(kind: Lasting): boolean {
    return this.#lasting.has(kind);
  }

  /** One way, milliseconds. */
  latency(called: Called): number {
    const usual = this.#latency[called];
    return (
      usual *
      (this.#random.chance(0.02) ? this.#random.between(1, 20) : this.#random.between(0.3, 1.5))
    );
  }

  mirrorBehindMs(): number {
    return this.#behindMs;
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** From now on everything answers, soon. */
  end(): void {
    this.#isOver = true;
    this.#lasting.clear();
    this.#behindMs = Math.min(this.#behindMs, 2_000);
  }

  /** As long as a process stands still that was stopped: longer than its leases. */
  stillMs(): number {
    return this.#random.between(50, LOCK_MS);
  }
}
