import type { Sql } from "../../src/store/postgres.ts";
import type { Redis } from "../../src/store/redis.ts";
import type { Faults } from "./faults.ts";
import { poolOf, type Sent } from "./journal/model.ts";
import type { Journal, Rows } from "./journal/statement.ts";
import { StatementError } from "./journal/tables.ts";
import type { Random } from "./random.ts";
import type { Owner, VirtualTime } from "./virtual-time.ts";

/** The server's own limit of a statement. */
const STATEMENT_TIMEOUT_MS = 1_800;
/** A process that reads the clock waits no longer for it, and errs by less. */
const CLOCK_WITHIN_MS = 1_000;

export interface PortParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  /** Writes into the trace of the run. */
  readonly note: (what: string, detail?: () => unknown) => void;
  /** The process dies on the spot. */
  readonly crash: (owner: Owner) => void;
  /** Called with the newest epoch that a process learns. */
  readonly remember: (owner: Owner, epoch: string | null) => void;
  /** Called when a process has read the database's clock, with when that was. */
  readonly knowClock: (owner: Owner, readAt: number) => void;
}

/** Postgres, as processes reach it: statements may get lost on the way there, and answers on the way back. */
export class JournalPort {
  readonly #parts: PortParts;
  readonly #journal: Journal;
  /** Raised when the server is another one: what was under way there is over. */
  generation = 0;

  constructor(parts: PortParts, journal: Journal) {
    this.#parts = parts;
    this.#journal = journal;
  }

  /** @param onClose called when a connection of the pool ends */
  pool(owner: Owner, onClose?: () => void): Sql {
    return poolOf((sent) => this.#send(owner, sent, onClose));
  }

  #send(owner: Owner, { name, given, run }: Sent, onClose?: () => void): Promise<Rows> {
    const { time, random, faults, note, crash } = this.#parts;
    const journal = this.#journal;
    const generation = this.generation;
    const sentAt = time.now;
    return new Promise((resolve, reject) => {
      if (!owner.isAlive) return;
      const fail = (code: string, delayMs = faults.latency("journal")): void => {
        note(`${owner.name} ${name} ${code}`);
        time.in(delayMs, owner, () => {
          if (code.startsWith("CONNECTION")) onClose?.();
          reject(new StatementError(code, code));
        });
      };
      const isGone = (): boolean => faults.isOn("journal: away") || this.generation !== generation;
      const isLost = faults.strikes("journal: answer lost");
      const isSilent = faults.strikes("journal: no answer");
      const dies = faults.strikes("process: crash at a call");
      const answer = (settle: () => void, what: string): void => {
        note(`${owner.name} ${name} ${what}`, () => given);
        if (dies && owner.isAlive) {
          crash(owner);
          return;
        }
        if (isSilent) return;
        if (isLost) {
          fail("CONNECTION_CLOSED");
          return;
        }
        time.in(faults.latency("journal"), owner, () => {
          if (!isGone()) return settle();
          onClose?.();
          reject(new StatementError("CONNECTION_CLOSED", "CONNECTION_CLOSED"));
        });
      };
      const attempt = (step: () => void): void => {
        if (isGone()) {
          fail("CONNECTION_CLOSED");
          return;
        }
        try {
          step();
        } catch (error) {
          if (!(error instanceof StatementError)) throw error;
          answer(() => reject(error), error.code);
        }
      };
      const execute = (): void =>
        attempt(() => {
          const write = run(journal);
          const end = (): void =>
            attempt(() => {
              const rows = write();
              const doneAt = time.now;
              answer(() => {
                if (name === "clock" && time.now - sentAt < CLOCK_WITHIN_MS)
                  this.#parts.knowClock(owner, doneAt);
                const [row] = rows as readonly { readonly epoch?: string | null }[];
                if (row?.epoch !== undefined) this.#parts.remember(owner, row.epoch);
                resolve(rows);
              }, String(rows.length));
            });
          if (!faults.strikes("journal: statements overlap")) return end();
          time.in(faults.latency("journal"), null, end);
        });
      if (dies && random.chance(0.5)) return crash(owner);
      if (faults.isOn("journal: away")) return fail("ECONNREFUSED", 1);
      if (faults.strikes("journal: cut before")) return fail("CONNECTION_CLOSED");
      if (faults.strikes("journal: refused")) return fail(random.pick(["53300", "57P03"]));
      if (faults.strikes("journal: rolled back")) return fail("40P01");
      if (!faults.strikes("journal: slow")) {
        time.in(faults.latency("journal"), null, execute);
        return;
      }
      const delayMs = random.between(100, 6_000);
      // Slow on the way there, it is done late; slow at the server, it is given up there.
      const isGivenUp = random.chance(0.5) && delayMs > STATEMENT_TIMEOUT_MS;
      if (isGivenUp) return fail("57014", STATEMENT_TIMEOUT_MS);
      time.in(delayMs, null, execute);
    });
  }
}

/** Redis, as processes reach it: it may forget, be away, or lie about snapshots. */
export class RedisPort {
  readonly #parts: PortParts;
  readonly #now = new Map<string, Map<string, string>>();
  readonly #before = new Map<string, Map<string, string>>();
  readonly #targets: readonly string[];
  /** Plain keys. */
  readonly #texts = new Map<string, string>();

  /** @param targets keys of what a forger may say was starred */
  constructor(parts: PortParts, targets: readonly string[]) {
    this.#parts = parts;
    this.#targets = targets;
  }

  flush(): void {
    this.#now.clear();
    this.#texts.clear();
  }

  /** The epoch that a worker kept last. */
  get epoch(): string | undefined {
    return [...this.#texts.values()][0]?.split(" ")[1];
  }

  client(owner: Owner): Redis {
    const { faults } = this.#parts;
    const call = <T>(answer: () => T): Promise<T> => this.#call(owner, answer);
    // The members that src uses; the client's own type has hundreds.
    return {
      get isReady() {
        return !faults.isOn("redis: away");
      },
      hSet: (key: string, fields: readonly (readonly [string, string])[]) =>
        call(() => {
          for (const [field, text] of fields) this.#write(key, field, text);
        }),
      hmGet: (key: string, fields: readonly string[]) =>
        call(() => fields.map((field) => this.#read(key, field))),
      pExpireAt: () => call(() => true),
      get: (key: string) => call(() => this.#texts.get(key) ?? null),
      set: (key: string, text: string) => call(() => void this.#texts.set(key, text)),
      once: () => undefined,
      off: () => undefined,
    } as unknown as Redis;
  }

  #call<T>(owner: Owner, answer: () => T): Promise<T> {
    const { time, random, faults } = this.#parts;
    return new Promise((resolve, reject) => {
      const isSlow = faults.strikes("redis: slow");
      const thereMs = isSlow ? random.between(20, 300) : faults.latency("redis");
      time.in(thereMs, null, () => {
        if (faults.isOn("redis: away")) {
          time.in(1, owner, () => reject(new Error("Redis is away")));
          return;
        }
        const value = answer();
        time.in(faults.latency("redis"), owner, () => resolve(value));
      });
    });
  }

  #write(key: string, field: string, text: string): void {
    const now = this.#now.get(key) ?? new Map<string, string>();
    const before = this.#before.get(key) ?? new Map<string, string>();
    const earlier = now.get(field);
    if (earlier !== undefined) before.set(field, earlier);
    this.#now.set(key, now.set(field, text));
    this.#before.set(key, before);
  }

  #read(key: string, field: string): string | null {
    const { faults } = this.#parts;
    const isStale = faults.strikes("redis: stale");
    const text = (isStale ? this.#before : this.#now).get(key)?.get(field) ?? null;
    if (text === null || !faults.strikes("redis: forged")) return text;
    return this.#forge(text);
  }

  /** Another history at the very same version, or rubbish. */
  #forge(text: string): string {
    const { random } = this.#parts;
    if (random.chance(0.1)) return text.slice(0, random.below(text.length));
    const [schema, rules, wallet, stars] = JSON.parse(text) as [
      number,
      number,
      string,
      [string, string, number][],
    ];
    const forged = stars.map(([id, , at]) => [id, random.pick(this.#targets), at]);
    return JSON.stringify([schema, rules, wallet, forged]);
  }
}

/** Wake-ups from web processes to workers: some are lost, some come twice. */
export class WakePort {
  readonly #parts: PortParts;
  #handlers: { readonly owner: Owner; readonly wake: () => void }[] = [];

  constructor(parts: PortParts) {
    this.#parts = parts;
  }

  queueOf(owner: Owner): { onWake(handler: () => void): void } {
    return {
      onWake: (wake) => {
        this.#handlers = this.#handlers.filter((each) => each.owner.isAlive);
        this.#handlers.push({ owner, wake });
      },
    };
  }

  wake(): void {
    const { time, random, faults } = this.#parts;
    const awake = this.#handlers.filter(({ owner }) => owner.isAlive);
    if (awake.length === 0 || faults.strikes("queue: lost")) return;
    const times = faults.strikes("queue: twice") ? 2 : 1;
    for (let n = 0; n < times; n += 1) {
      const { owner, wake } = random.pick(awake);
      time.in(faults.latency("queue"), owner, wake);
    }
  }
}
