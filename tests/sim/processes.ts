import { setTimeout as delay } from "node:timers/promises";
import { bounds } from "../../src/bounds.ts";
import { followClock } from "../../src/clock.ts";
import { RetryableError } from "../../src/errors.ts";
import { createHoldingsReader } from "../../src/holdings/read-holdings.ts";
import { createSnapshots } from "../../src/hosting/snapshots.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { watchJournal } from "../../src/publishing/journal-watch.ts";
import { startPublisher } from "../../src/publishing/publisher.ts";
import { every } from "../../src/service.ts";
import { createEpochWitness, settleInWithoutStars } from "../../src/store/database-identity.ts";
import { readDatabaseClock } from "../../src/store/postgres.ts";
import { createHoldingsCheck } from "../../src/upkeep/holdings-check/check.ts";
import type { CastStarDeps } from "../../src/voting/cast-star.ts";
import { createEngine } from "../../src/voting/engine.ts";
import type { Ledger } from "./ledger.ts";
import type { JournalPort, RedisPort, WakePort } from "./ports.ts";
import type { Random } from "./random.ts";
import { COLLECTIONS, TOPICS } from "./setting.ts";
import type { Owner, VirtualTime } from "./virtual-time.ts";

const WEBS = 3;
const WORKERS = 2;
/** The first stars may be cast before there is a worker. */
const WORKERS_LATE_MS = 12_000;
/** As `web-connections.ts` waits before it serves. */
const FIRST_STATE_MS = 2_000;
const KEYS = { a: "alpha", b: "beta" } as const;
const CLOCK_OFF_MS = 600_000;
const CHECK_EVERY_MS = 5_000;
const metrics = createMetrics();

/** A process of the service. */
export interface Process extends Owner {
  readonly kind: "web" | "worker";
  readonly slot: number;
  /** Of a web process that has started. */
  casting?: CastStarDeps;
  /** Called when the connections of its pool for casting end. */
  onClose?: () => void;
  /** The newest epoch of the journal that it has seen. */
  epoch?: string | null;
  /** When it last read the database's clock, by the world's time. */
  clockReadAt?: number;
  /** What clients wait for: each is called when the process dies. */
  readonly asked: Set<() => void>;
}

export interface ProcessesParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly note: (what: string) => void;
  /** How much of the nights was passed over. */
  readonly nightsMs: () => number;
  readonly onContradiction: (error: Error) => void;
  /** Called with what must never be thrown. */
  readonly onDefect: (what: string, error: unknown) => void;
  readonly outside: () => {
    readonly journal: JournalPort;
    readonly redis: RedisPort;
    readonly wake: WakePort;
    readonly ledger: Ledger;
  };
}

/** The processes of the service, and what starts them again when they die. */
export class Processes {
  readonly #parts: ProcessesParts;
  readonly #all: Process[] = [];
  /** None starts before this instant of the world. */
  restUntil = 0;

  constructor(parts: ProcessesParts) {
    this.#parts = parts;
  }

  get all(): readonly Process[] {
    return this.#all;
  }

  /** Web processes that take requests. */
  get serving(): readonly Process[] {
    return this.#all.filter(({ isAlive, casting }) => isAlive && casting !== undefined);
  }

  startAll(): void {
    const { time, random } = this.#parts;
    for (let slot = 0; slot < WEBS; slot += 1) this.#start("web", slot);
    const afterMs = random.chance(0.5) ? random.between(0, WORKERS_LATE_MS) : 0;
    for (let slot = 0; slot < WORKERS; slot += 1)
      time.in(afterMs, null, () => this.#startRested("worker", slot));
  }

  #startRested(kind: Process["kind"], slot: number): void {
    const restMs = this.restUntil - this.#parts.time.now;
    if (restMs <= 0) this.#start(kind, slot);
    else this.#parts.time.in(restMs, null, () => this.#startRested(kind, slot));
  }

  #start(kind: Process["kind"], slot: number): void {
    const { time, random, note } = this.#parts;
    const born: Process = {
      name: `${kind}${slot}`,
      ...{ kind, slot, isAlive: true, frozenUntil: 0, startedAt: time.now, asked: new Set() },
      machineOff: random.chance(0.5) ? random.between(-CLOCK_OFF_MS, CLOCK_OFF_MS) : 0,
    };
    this.#all[kind === "web" ? slot : WEBS + slot] = born;
    note(`${born.name} starts`);
    this.as(born, () => {
      const launched = kind === "web" ? this.#launchWeb(born) : this.#launchWorker(born);
      launched.catch(() => this.kill(born));
    });
  }

  /** Runs code as that process does. */
  as(owner: Owner, run: () => void): void {
    const { time } = this.#parts;
    const { current } = time;
    time.current = owner;
    run();
    time.current = current;
  }

  /** SIGKILL: nothing of the process happens any more, and another one takes its place. */
  kill(gone: Process): void {
    const { time, random, note } = this.#parts;
    if (!gone.isAlive) return;
    gone.isAlive = false;
    note(`${gone.name} dies`);
    time.in(random.between(200, 1_500), null, () => this.#startRested(gone.kind, gone.slot));
    for (const lose of gone.asked) lose();
  }

  /** The machine's clock of a process is another one. */
  jump(of: Process): void {
    of.machineOff = this.#parts.random.between(-CLOCK_OFF_MS, CLOCK_OFF_MS);
  }

  /** As `web-connections.ts` and `web.ts` of `src/processes` put the parts together. */
  async #launchWeb(born: Process): Promise<void> {
    const { journal: port, redis, wake, ledger } = this.#parts.outside();
    const sql = port.pool(born);
    const writer = port.pool(born, () => born.onClose?.());
    const clock = await followClock(
      () => readDatabaseClock(sql),
      () => undefined,
    );
    await settleInWithoutStars(sql);
    const mirror = ledger.mirrorFor(born);
    const topics = Object.values(TOPICS);
    const { payer } = ledger.topicFor(born);
    const journal = watchJournal({
      ...{ sql, mirror, topics, payer, log: silentLogger },
      onCaughtUp: () => engine.casting.host.dropAll(),
    });
    await Promise.race([journal.firstState, delay(FIRST_STATE_MS)]);
    const holdings = createHoldingsReader({
      ...{ mirror, clock, excludedWallets: [], deadlineMs: bounds.holdingsDeadlineMs },
      ...{ collectionA: COLLECTIONS.A, collectionB: COLLECTIONS.B },
    });
    const engine = createEngine({
      ...{ sql, writer, clock, collectionKeys: KEYS, readHoldings: holdings.read },
      hasTaken: holdings.hasTaken,
      snapshots: createSnapshots(redis.client(born)),
      onAccepted: () => wake.wake(),
      onContradiction: this.#parts.onContradiction,
    });
    born.onClose = () => {
      engine.casting.host.dropAll();
      journal.lookAgain();
    };
    born.casting = { ...engine.casting, admitStar: () => journal.admitStar() };
  }

  /** As `worker.ts` of `src/processes` puts the publishing and the daily check together. */
  async #launchWorker(born: Process): Promise<void> {
    const { journal, redis, wake, ledger } = this.#parts.outside();
    const sql = journal.pool(born);
    const clock = await followClock(
      () => readDatabaseClock(sql),
      () => undefined,
    );
    await startPublisher({
      sql,
      witness: createEpochWitness(redis.client(born)),
      topic: ledger.topicFor(born),
      mirror: ledger.mirrorFor(born),
      topics: TOPICS,
      queue: wake.queueOf(born),
      log: silentLogger,
      metrics,
    });
    const mirror = ledger.mirrorFor(born, this.#parts.nightsMs);
    const given = { sql, mirror, clock, log: silentLogger, collections: COLLECTIONS };
    const check = createHoldingsCheck(given);
    // In place of the queue that wakes one worker a day, and again while parts are open.
    every(CHECK_EVERY_MS, async () => void (await check.runDue()), {
      onFailure: (error) => {
        if (!(error instanceof RetryableError)) this.#parts.onDefect("the daily check", error);
      },
    });
  }
}
