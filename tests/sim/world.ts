import { dayOf } from "../../actors/day.ts";
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
import {
  BEGINNING,
  COLLECTIONS,
  DAY_MS,
  TARGET_KEYS,
  TARGETS,
  TOPICS,
  tokenOf,
} from "./setting.ts";
import { Trace } from "./trace.ts";
import { takeOverMachine, uuidOf, VirtualTime } from "./virtual-time.ts";

/** After the faults: a star is accepted, and everything is published. */
const VOTE_WITHIN_MS = 20_000;
const PUBLISH_WITHIN_MS = 1_200_000;
const WALLETS_LOOKED_AT = 5;
/** Copies of the journal that may take its place, at most. */
const COPIES = 6;
/** A transaction's whole time, and what a mirror node may be behind. */
const REST_MS = 200_000;
const SEASONS_MAX = 40;
/** Passes are granted for seasons that begin or end within so long of now. */
const NEAR_MS = 20_000;
/** Who votes around one edge of a season or day, and how many buy at one midnight. */
const AT_AN_EDGE = 6;
const SHORTLY_MS = 200;
const BUYERS = 40;
const MINT = { type: "event", id: "forever" } as const;
/** Long enough for all to know the clock once the hours before it have passed. */
const BEFORE_LAST_NIGHT_MS = 20_000;
const SOLD_BEFORE_MS = 6_000;

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
  /** How much of the nights was passed over, in which ledger and database went on. */
  #nightsMs = 0;
  #copies: Tables[] = [];
  /** One dump is all there is, or there are several copies. */
  readonly #copiesKept: number;
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
    this.#copiesKept = random.chance(0.5) ? 1 : COPIES;
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
      knowClock: (owner, readAt) => {
        (owner as Process).clockReadAt = readAt;
      },
    };
    const count = Math.max(6, Math.ceil(votes / random.pick([3, 6, 12])));
    const wallets = Array.from({ length: count }, (_, n) => 1_001 + n);
    const nightsMs = () => this.#nightsMs;
    const nfts = new Nfts(random, time, { wallets, nightsMs });
    const ofWorld = { journal: this.#journal, now: () => time.now, targets: TARGETS };
    const ownerOf = nfts.ownerOf.bind(nfts);
    const judge = new Judge({ ...ofWorld, topics: TOPICS, ownerOf, fail });
    const ledger = new Ledger({
      ...parts,
      onMessage(message) {
        const { topicId, sequenceNumber, bytes } = message;
        note(`message ${topicId} ${sequenceNumber}`, () => bytes.toString());
        judge.message(message);
      },
      holdings: (wallet, token) => nfts.heldBy(Number(wallet.slice("0.0.".length)), token),
      serials: (token) => nfts.serials(collectionOf(token)),
      ownerOf: (token, serial) => nfts.ownerOf(collectionOf(token), serial),
      onHoldings() {
        if (faults.strikes("mirror: moved in mid-vote")) nfts.move();
      },
      onHeard: (wallet, serials) => judge.read(Number(wallet.slice("0.0.".length)), serials),
    });
    this.#nfts = nfts;
    this.#judge = judge;
    this.#port = new JournalPort(parts, this.#journal);
    this.#redis = new RedisPort(parts, TARGET_KEYS);
    const wake = new WakePort(parts);
    this.#processes = new Processes({
      ...parts,
      nightsMs,
      outside: () => ({ journal: this.#port, redis: this.#redis, wake, ledger }),
      onContradiction: (error) => fail(defect("machine and journal contradict", error)),
      onDefect: (what, error) => fail(defect(what, error)),
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
    const random = this.#random;
    const isTurning = this.#faults.isPlanned("people: at an edge") || random.chance(0.5);
    const [count, firstMs] = isTurning ? [SEASONS_MAX, 10_000] : [2, 120_000];
    let startsAt = BEGINNING - DAY_MS;
    let endsAt = BEGINNING + Math.floor(random.between(0, firstMs));
    for (let n = 1; n < count; n += 1) {
      seasons.set(`season ${n}`, { startsAt, endsAt });
      startsAt = endsAt;
      endsAt += Math.floor(100 * 200 ** random.next());
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
    const isOver = () =>
      clients.asked >= this.#votes && this.#time.now >= this.#processes.restUntil;
    await this.#until(() => isOver() && !clients.isWaiting);
    this.#trace.note("the faults end");
    this.#faults.end();
    for (const each of this.#processes.all) each.frozenUntil = 0;
    await this.#voteOnceMore();
    await this.#passLastNight();
    const late = Math.max(this.#time.now, ...this.#startsAhead()) + PUBLISH_WITHIN_MS;
    await this.#until(() => this.#isAtRest() || this.#time.now > late);
    if (!this.#isAtRest()) this.#violation ??= new Violation(this.#whatWaits());
    this.#isOver = true;
    this.#judge.finish();
  }

  #until(isSo: () => boolean): Promise<void> {
    return this.#time.run(() => this.#violation !== null || isSo());
  }

  #inject(kind: Sudden): void {
    // All stands still: clocks that went on jumping would leave the ledger's far behind.
    if (this.#time.now < this.#processes.restUntil) return;
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
      case "journal: its clock gains":
        // Less than processes notice at once. Where a star may be lost, two of them would date it and
        // its successor to the same millisecond.
        if (!this.#faults.isPlanned("journal: goes back"))
          this.#databaseOff += this.#random.between(5, 99);
        break;
      case "journal: goes back":
        this.#goBack();
        break;
      case "day: midnight":
        this.#passNight(this.#random.between(0, 3_000));
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
      case "people: at an edge":
        this.#voteAtEdge();
        break;
      case "people: buyers at midnight":
        this.#buyAtMidnight();
        break;
    }
  }

  #jumpClock(): void {
    // Set back, it dates a lost star's successor by the same rule to the same millisecond.
    const least = this.#faults.isPlanned("journal: goes back") ? 0 : -30_000;
    this.#databaseOff += this.#random.between(least, 30_000);
    this.#judge.clockJumped();
  }

  /** Hours pass, in which workers went on renewing epochs; seasons to come end as much later. */
  #passNight(beforeMs: number, days = 0): void {
    const now = this.#journal.now();
    const skipped = (days + 1) * DAY_MS - (now % DAY_MS) - beforeMs;
    if (skipped <= 0) return;
    this.#databaseOff += skipped;
    this.#nightsMs += skipped;
    this.#judge.clockJumped();
    const { epochs, seasons } = this.#journal.tables;
    for (const [id, at] of epochs) epochs.set(id, Math.floor(at + skipped));
    const later = (instant: number): number =>
      instant > now ? instant + Math.floor(skipped) : instant;
    for (const [id, { startsAt, endsAt }] of seasons) {
      seasons.set(id, { startsAt: later(startsAt), endsAt: later(endsAt) });
    }
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

  /** Stars within the milliseconds before and after a season or a day turns, of wallets with passes. */
  #voteAtEdge(): void {
    const now = this.#journal.now();
    const { seasons, passes } = this.#journal.tables;
    const turns = [...seasons.values()].map(({ startsAt }) => startsAt).filter((at) => at > now);
    const edge = Math.min(now + DAY_MS - (now % DAY_MS), ...turns);
    if (edge > now + NEAR_MS) return;
    const bearers = [...passes.keys()];
    for (let n = 0; n < AT_AN_EDGE; n += 1) {
      const wallet = this.#random.pick(bearers.length > 0 ? bearers : this.#clients.wallets);
      // Known to the processes by then.
      this.#voteIn(this.#random.next() * (edge - now), { wallet });
      // The clock may gain until then.
      this.#time.in(Math.max(0, edge - now - SHORTLY_MS), null, () => {
        this.#voteIn(edge - this.#journal.now() + this.#random.between(-10, 40), { wallet });
      });
    }
  }

  #voteIn(delayMs: number, given: Parameters<Clients["vote"]>[0]): void {
    const clients = this.#clients;
    this.#time.in(Math.max(0, delayMs), null, () => {
      if (clients.asked < this.#votes) clients.vote(given);
    });
  }

  #buyAtMidnight(): void {
    for (const [wallet, afterMs] of this.#sellAtMidnight(this.#random.between(0, 3_000))) {
      this.#voteIn(afterMs, { wallet, target: MINT });
    }
  }

  /**
   * Shortly before a midnight NFTs that count on a forever mint are sold.
   *
   * @returns their buyers, and when each of them stars it: in the first second of the day
   */
  #sellAtMidnight(beforeMs: number, days = 0): readonly (readonly [number, number])[] {
    const { claims } = this.#journal.tables;
    const counting = [...claims.keys()].flatMap((key) => {
      const [, collection, serial] = /^forever\/\/([AB])\/(\d+)$/.exec(key) ?? [];
      return serial === undefined ? [] : [{ collection: collection as "A" | "B", serial }];
    });
    this.#passNight(beforeMs, days);
    const untilMidnight = DAY_MS - (this.#journal.now() % DAY_MS);
    return counting.slice(0, BUYERS).map(({ collection, serial }) => {
      const wallet = this.#random.pick(this.#clients.wallets);
      // After the check of the day before, which would end them first.
      this.#time.in(Math.max(0, untilMidnight - SOLD_BEFORE_MS), null, () =>
        this.#nfts.sell(collection, Number(serial), wallet),
      );
      return [wallet, untilMidnight + this.#random.between(0, 1_000)];
    });
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
    const { stars, home } = this.#journal.tables;
    // One of before any web process ran holds nothing, and is put under none that runs.
    if (stars.size > 0 || home !== null) this.#copies.push(this.#journal.tables.copy());
    // The oldest with stars stays: where workers start late, it is of before they knew the topics.
    const [oldest] = this.#copies;
    if (this.#copies.length > this.#copiesKept)
      this.#copies.splice(oldest?.stars.size === 0 ? 0 : 1, 1);
    this.#time.in(this.#random.between(500, 5_000), null, () => this.#keepCopies());
  }

  /** An older copy takes the journal's place: a dump is restored, a replica promoted, a disk rolled back. */
  #goBack(): void {
    if (this.#copies.length === 0) return;
    // Where all stands still meanwhile, nothing is on its way any more, and no worker need notice.
    const isAtRest = this.#random.chance(0.4);
    const noticed = isAtRest ? this.#copies : this.#copies.filter((each) => this.#isNoticed(each));
    const isSameServer = noticed.length > 0 && (isAtRest || this.#random.chance(0.7));
    const copy = this.#random.pick(isSameServer ? noticed : this.#copies);
    this.#copies = this.#copies.slice(0, this.#copies.indexOf(copy) + 1);
    this.#journal.tables = copy.copy();
    if (!isSameServer) this.#journal.identity = uuidOf(this.#random);
    this.#port.generation += 1;
    this.#judge.wentBack(this.#journal.tables);
    for (const each of this.#processes.all) {
      this.#time.in(this.#random.between(0, 1_000), each, () => each.onClose?.());
    }
    if (!isAtRest && this.#random.chance(0.5)) return;
    // An operator who puts a disk back, or moves to another server, stops everything, and mostly starts
    // with an empty Redis there.
    if (isAtRest || (!isSameServer && this.#random.chance(0.8))) this.#redis.flush();
    if (isAtRest) this.#rest();
    for (const each of this.#processes.all) this.#processes.kill(each);
  }

  /** All stands still, and starts again together; the mirror node may answer later than the others. */
  #rest(): void {
    this.#processes.restUntil = this.#time.now + REST_MS;
    if (this.#random.chance(0.2)) return;
    this.#time.in(REST_MS - SHORTLY_MS, null, () => this.#faults.last("mirror: away"));
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
  #voteOnceMore(): Promise<void> {
    const { wallets } = this.#clients;
    const some = Array.from({ length: WALLETS_LOOKED_AT }, () => this.#random.pick(wallets));
    return this.#voteWithin(some.map((wallet) => [wallet, this.#random.between(0, 500)]));
  }

  /** A midnight without faults: all who bought are served, and the day's check comes to its end. */
  async #passLastNight(): Promise<void> {
    // The day after the present one has had no check, however the clock was set.
    await this.#voteWithin(this.#sellAtMidnight(BEFORE_LAST_NIGHT_MS, 1));
  }

  /** @param wanted wallets, and after how many milliseconds each of them votes */
  async #voteWithin(wanted: readonly (readonly [number, number])[]): Promise<void> {
    const late = this.#time.now + VOTE_WITHIN_MS + Math.max(0, ...wanted.map(([, ms]) => ms));
    let left = wanted.length;
    for (const [wallet, afterMs] of wanted) {
      const look = (): void => {
        if (this.#hasVoted(wallet)) left -= 1;
        else this.#time.in(500, null, look);
      };
      this.#time.in(afterMs, null, look);
    }
    await this.#until(() => left === 0 || this.#time.now > late);
    if (left === 0) return;
    const what = `${left} wallets cannot star ${VOTE_WITHIN_MS} ms after the faults`;
    this.#violation ??= new Violation(`P17: ${what}`);
  }

  /** @returns whether the wallet has a star since the faults ended, or no vote left; else it tries */
  #hasVoted(wallet: number): boolean {
    const { tables, now } = this.#journal;
    const today = dayOf(now());
    const own = tables.walletDays.get(`${wallet}/${today}`) ?? [];
    // After the clock was set back, the wallet's next star still follows its last one.
    const next = Math.max(now(), (own.at(-1)?.at ?? 0) + 1);
    const isBearer = [now(), next].every((at) => tables.passInForce(wallet, at) !== null);
    const key = `after-${today}`;
    if (own.length >= (isBearer ? 20 : 5) || tables.keys.has(`${wallet}/${key}`)) return true;
    this.#clients.ask({ wallet, target: MINT, key });
    return false;
  }

  /** A wrong clock may have dated an id ahead, that no node takes before: its star waits so long. */
  #startsAhead(): readonly number[] {
    return [...this.#journal.tables.waiting.values()].flatMap(({ transactionId }) =>
      transactionId === null ? [] : [Number(transactionId.split("@")[1]) * 1_000],
    );
  }

  #isAtRest(): boolean {
    const { waiting, runs } = this.#journal.tables;
    const today = dayOf(this.#journal.now());
    const run = [...runs.values()].find(({ day }) => day === today);
    const isChecked = run !== undefined && run.state !== "running";
    return waiting.size === 0 && isChecked && !this.#clients.isWaiting;
  }

  #whatWaits(): string {
    const { waiting, runs } = this.#journal.tables;
    const [row] = waiting.values();
    if (row !== undefined) return `P7: ${waiting.size} stars wait, such as ${JSON.stringify(row)}`;
    return `P11: the day's check does not end: ${JSON.stringify([...runs.values()].at(-1))}`;
  }
}

function collectionOf(token: string): "A" | "B" {
  return token === COLLECTIONS.A ? "A" : "B";
}
