import { newStarId } from "../../src/journal/star-id.ts";
import { acceptLoss } from "../../src/publishing/journal-behind.ts";
import { sessionHash } from "../../src/voting/session.ts";
import { Clients } from "./clients.ts";
import { Faults, type Sudden } from "./faults.ts";
import { directPool } from "./journal/model.ts";
import type { Journal } from "./journal/statement.ts";
import { Tables } from "./journal/tables.ts";
import { defect, Judge, Violation } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { Nfts } from "./nfts.ts";
import { JournalPort, type PortParts, RedisPort, WakePort } from "./ports.ts";
import { type Process, Processes } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import { BEGINNING, DAY_MS, TARGET_KEYS, TARGETS, TOPICS, tokenOf } from "./setting.ts";
import { Trace } from "./trace.ts";
import { takeOverMachine, uuidOf, VirtualTime } from "./virtual-time.ts";

/** After the faults: a star is accepted, and everything is published. */
const VOTE_WITHIN_MS = 20_000;
const PUBLISH_WITHIN_MS = 1_200_000;
const WALLETS_LOOKED_AT = 5;
/** Copies of the journal that may take its place. */
const COPIES = 6;
const SEASONS_MAX = 40;
/** Passes are granted for seasons that begin or end within so long of now. */
const NEAR_MS = 20_000;

/** What one run came to. */
export interface Outcome {
  readonly votes: number;
  readonly accepted: number;
  readonly published: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly steps: number;
  /** How long it took in the world, milliseconds. */
  readonly worldMs: number;
  /** Names the run: the same seed, number of votes and code give the same. */
  readonly trace: string;
  readonly violation: Violation | null;
}

/** Runs one world from its seed to its end. Never rejects for what the service does. */
export async function simulate(seed: number, votes: number): Promise<Outcome> {
  return new World(seed, votes).run();
}

class World {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #faults: Faults;
  readonly #journal: Journal;
  readonly #port: JournalPort;
  readonly #redis: RedisPort;
  readonly #judge: Judge;
  readonly #processes: Processes;
  readonly #clients: Clients;
  readonly #nfts: Nfts;
  readonly #votes: number;
  /** Postgres' clock against the world's, milliseconds. */
  #databaseOff = 0;
  #copies: Tables[] = [];
  #isOver = false;
  #violation: Violation | null = null;

  constructor(seed: number, votes: number) {
    const random = createRandom(seed);
    const time = new VirtualTime(BEGINNING, random);
    const trace = new Trace(() => time.now);
    const faults = new Faults(random, time);
    this.#random = random;
    this.#time = time;
    this.#trace = trace;
    this.#faults = faults;
    this.#votes = votes;
    this.#journal = {
      tables: new Tables(),
      now: () => Math.floor(time.now + this.#databaseOff),
      identity: "first",
      newUuid: () => uuidOf(random),
    };
    const note = (what: string, detail?: () => unknown) => trace.note(what, detail);
    const fail = (violation: Violation): void => {
      this.#violation ??= violation;
    };
    const parts: PortParts = {
      ...{ time, random, faults, note },
      crash: (owner) => this.#processes.kill(owner as Process),
      remember: (owner, epoch) => {
        (owner as Process).epoch = epoch;
      },
    };
    const count = Math.max(6, Math.ceil(votes / random.pick([3, 6, 12])));
    const wallets = Array.from({ length: count }, (_, n) => 1_001 + n);
    const nfts = new Nfts(random, time, wallets);
    const ofWorld = { journal: this.#journal, now: () => time.now, targets: TARGETS };
    const judge = new Judge({ ...ofWorld, topics: TOPICS, fail });
    const ledger = new Ledger({
      ...parts,
      onMessage(message) {
        const { topicId, sequenceNumber, bytes } = message;
        note(`message ${topicId} ${sequenceNumber}`, () => bytes.toString());
        judge.message(message);
      },
      holdings: (wallet, token) => nfts.heldBy(Number(wallet.slice("0.0.".length)), token),
      onHoldings(wallet, askedAt, serials) {
        judge.read(Number(wallet.slice("0.0.".length)), askedAt, serials);
        if (faults.strikes("mirror: moved in mid-vote")) nfts.move();
      },
    });
    this.#nfts = nfts;
    this.#judge = judge;
    this.#port = new JournalPort(parts, this.#journal);
    this.#redis = new RedisPort(parts, TARGET_KEYS);
    const wake = new WakePort(parts);
    this.#processes = new Processes({
      ...parts,
      outside: () => ({ journal: this.#port, redis: this.#redis, wake, ledger }),
      onContradiction: (error) => fail(defect("machine and journal contradict", error)),
    });
    const processes = this.#processes;
    this.#clients = new Clients({ ...parts, processes, judge, fail }, wallets);
    this.#furnish(wallets);
  }

  /** The catalogue, sessions, seasons and passes. */
  #furnish(wallets: readonly number[]): void {
    const { tables } = this.#journal;
    for (const [key, row] of TARGETS) tables.targets.set(key, row);
    for (const wallet of wallets) tables.sessions.set(sessionHash(tokenOf(wallet)), wallet);
    this.#setSeasons();
    for (let n = 0; n < wallets.length / 10; n += 1) this.#grantPass();
  }

  /** One season after another: two, or so many that passes begin and end under votes all the time. */
  #setSeasons(): void {
    const { seasons } = this.#journal.tables;
    const count = this.#random.chance(0.5) ? 2 : SEASONS_MAX;
    let startsAt = BEGINNING - DAY_MS;
    let endsAt = BEGINNING + this.#random.between(0, 120_000);
    for (let n = 1; n < count; n += 1) {
      seasons.set(`season ${n}`, { startsAt, endsAt });
      startsAt = endsAt;
      endsAt += this.#random.between(500, 20_000);
    }
    seasons.set(`season ${count}`, { startsAt, endsAt: BEGINNING + 400 * DAY_MS });
  }

  async run(): Promise<Outcome> {
    let isFilled = false;
    const giveBack = takeOverMachine({
      time: this.#time,
      random: this.#random,
      onFill: () => {
        isFilled = true;
      },
    });
    const onRejection = (reason: unknown): void => {
      this.#violation ??= defect("a rejection that is not handled", reason);
    };
    process.on("unhandledRejection", onRejection);
    try {
      // The module's pool of random words outlives a run: what is left of it is used up.
      while (!isFilled) newStarId(0);
      await this.#play();
    } catch (error) {
      this.#violation ??= defect("a timer threw", error);
    } finally {
      process.off("unhandledRejection", onRejection);
      giveBack();
    }
    const { asked: votes, accepted } = this.#clients;
    return {
      ...{ votes, accepted, published: this.#journal.tables.places.size },
      ...{ faults: this.#faults.counts, steps: this.#time.steps },
      worldMs: this.#time.now - BEGINNING,
      trace: this.#trace.hash(),
      violation: this.#violation,
    };
  }

  async #play(): Promise<void> {
    const clients = this.#clients;
    this.#processes.startAll();
    this.#faults.start((kind) => this.#inject(kind));
    if (this.#faults.isPlanned("journal: goes back")) {
      this.#keepCopies();
      this.#operate();
    }
    this.#time.in(3_000, null, () => clients.voteUntil(this.#votes));
    await this.#until(() => clients.asked >= this.#votes && !clients.isWaiting);
    this.#trace.note("the faults end");
    this.#faults.end();
    for (const each of this.#processes.all) each.frozenUntil = 0;
    await this.#voteOnceMore();
    const late = Math.max(this.#time.now, ...this.#startsAhead()) + PUBLISH_WITHIN_MS;
    await this.#until(() => this.#isAtRest() || this.#time.now > late);
    if (!this.#isAtRest()) this.#violation ??= new Violation(`P7: ${this.#whatWaits()}`);
    this.#isOver = true;
    this.#judge.finish();
  }

  #until(isSo: () => boolean): Promise<void> {
    return this.#time.run(() => this.#violation !== null || isSo());
  }

  #inject(kind: Sudden): void {
    this.#faults.count(kind);
    this.#trace.note(kind);
    const random = this.#random;
    const anyone = random.pick(this.#processes.all);
    switch (kind) {
      case "process: crash":
        this.#processes.kill(anyone);
        break;
      case "process: stands still":
        anyone.frozenUntil = this.#time.now + this.#faults.stillMs();
        this.#judge.standsStill(anyone.frozenUntil);
        break;
      case "process: clock jumps":
        this.#processes.jump(anyone);
        break;
      case "redis: flushed":
        this.#redis.flush();
        break;
      case "journal: its clock jumps":
        this.#jumpClock();
        break;
      case "journal: goes back":
        this.#goBack();
        break;
      case "day: midnight":
        this.#passNight();
        break;
      case "pass: granted":
        this.#grantPass();
        break;
      case "pass: ended":
        this.#endPass();
        break;
      case "nft: moved":
        this.#nfts.move();
        break;
    }
  }

  #jumpClock(): void {
    // Set back, it dates a lost star's successor by the same rule to the same millisecond.
    const least = this.#faults.isPlanned("journal: goes back") ? 0 : -30_000;
    this.#databaseOff += this.#random.between(least, 30_000);
    this.#judge.clockJumped();
  }

  /** The hours until shortly before midnight pass, in which workers went on renewing epochs. */
  #passNight(): void {
    const now = this.#journal.now();
    const skipped = DAY_MS - (now % DAY_MS) - this.#random.between(0, 3_000);
    if (skipped <= 0) return;
    this.#databaseOff += skipped;
    this.#judge.clockJumped();
    const { epochs } = this.#journal.tables;
    for (const [id, at] of epochs) epochs.set(id, Math.floor(at + skipped));
  }

  #grantPass(): void {
    const { tables } = this.#journal;
    const wallet = this.#random.pick(this.#clients.wallets);
    const now = this.#journal.now();
    const near = [...tables.seasons].filter(
      ([, { startsAt, endsAt }]) => startsAt < now + NEAR_MS && endsAt > now - NEAR_MS,
    );
    const [season] = this.#random.pick(near);
    const own = tables.passes.get(wallet) ?? [];
    if (own.includes(season)) return;
    tables.passes = new Map(tables.passes).set(wallet, [...own, season]);
  }

  #endPass(): void {
    const { tables } = this.#journal;
    if (tables.passes.size === 0) return;
    const passes = new Map(tables.passes);
    passes.delete(this.#random.pick([...passes.keys()]));
    tables.passes = passes;
  }

  /** Copies of the journal, as dumps and a replica that lags behind would be. */
  #keepCopies(): void {
    if (this.#isOver) return;
    this.#copies = [...this.#copies.slice(1 - COPIES), this.#journal.tables.copy()];
    this.#time.in(this.#random.between(500, 5_000), null, () => this.#keepCopies());
  }

  /** An older copy takes the journal's place: a dump is restored, a replica promoted, a disk rolled back. */
  #goBack(): void {
    if (this.#copies.length === 0) return;
    const noticed = this.#copies.filter((copy) => this.#isNoticed(copy));
    const isSameServer = noticed.length > 0 && this.#random.chance(0.7);
    const copy = this.#random.pick(isSameServer ? noticed : this.#copies);
    this.#copies = this.#copies.slice(0, this.#copies.indexOf(copy) + 1);
    this.#journal.tables = copy.copy();
    if (!isSameServer) this.#journal.identity = uuidOf(this.#random);
    this.#port.generation += 1;
    this.#judge.wentBack(this.#journal.tables.stars);
    for (const each of this.#processes.all) {
      this.#time.in(this.#random.between(0, 1_000), each, () => each.onClose?.());
    }
    // An operator who puts a disk back stops everything.
    if (!isSameServer || this.#random.chance(0.5)) return;
    for (const each of this.#processes.all) this.#processes.kill(each);
  }

  /**
   * A disk that was rolled back is the same database. Epochs alone show it, to processes that know
   * a newer one, and to a Redis that keeps it: no worker notices a way back within one epoch.
   */
  #isNoticed(copy: Tables): boolean {
    if (this.#faults.isPlanned("redis: flushed") || this.#faults.isPlanned("redis: away"))
      return false;
    const known = [this.#redis.epoch, ...this.#processes.all.map(({ epoch }) => epoch)];
    return known.every((epoch) => epoch != null && !copy.epochs.has(epoch));
  }

  /** The operator goes on without the stars that the journal lost, as the runbook says. */
  #operate(): void {
    if (this.#isOver) return;
    acceptLoss(directPool(this.#journal)).catch((error: unknown) => {
      this.#violation ??= defect("accept-loss", error);
    });
    this.#time.in(this.#random.between(1_000, 5_000), null, () => this.#operate());
  }

  /** A star of each of some wallets that have votes left is accepted. */
  async #voteOnceMore(): Promise<void> {
    const late = this.#time.now + VOTE_WITHIN_MS;
    let left = WALLETS_LOOKED_AT;
    for (let n = 0; n < WALLETS_LOOKED_AT; n += 1) {
      const wallet = this.#random.pick(this.#clients.wallets);
      const look = (): void => {
        if (this.#hasVoted(wallet)) left -= 1;
        else this.#time.in(500, null, look);
      };
      this.#time.in(this.#random.between(0, 500), null, look);
    }
    await this.#until(() => left === 0 || this.#time.now > late);
    if (left === 0) return;
    const what = `${left} wallets cannot star ${VOTE_WITHIN_MS} ms after the faults`;
    this.#violation ??= new Violation(`P17: ${what}`);
  }

  /** @returns whether the wallet has a star since the faults ended, or no vote left; else it tries */
  #hasVoted(wallet: number): boolean {
    const { tables, now } = this.#journal;
    const today = new Date(now()).toISOString().slice(0, 10);
    const used = tables.walletDays.get(`${wallet}/${today}`)?.length ?? 0;
    const limit = tables.passInForce(wallet, now()) === null ? 5 : 20;
    const key = `after-${today}`;
    if (used >= limit || tables.keys.has(`${wallet}/${key}`)) return true;
    this.#clients.ask({ wallet, target: { type: "event", id: "forever" }, key });
    return false;
  }

  /** A wrong clock may have dated an id ahead, that no node takes before: its star waits so long. */
  #startsAhead(): readonly number[] {
    return [...this.#journal.tables.waiting.values()].flatMap(({ transactionId }) =>
      transactionId === null ? [] : [Number(transactionId.split("@")[1]) * 1_000],
    );
  }

  #isAtRest(): boolean {
    return this.#journal.tables.waiting.size === 0 && !this.#clients.isWaiting;
  }

  #whatWaits(): string {
    const { waiting } = this.#journal.tables;
    const [row] = waiting.values();
    return `${waiting.size} stars wait, such as ${JSON.stringify(row)}`;
  }
}
