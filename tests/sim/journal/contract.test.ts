// timeout: 180 s
/**
 * Goal: the journal's model in the simulation answers and keeps what Postgres does. Method: the
 * functions of `src` that speak to the journal are called on both, by one long random walk of
 * votes, leases, attempts and readings, and every answer and all that is kept are compared.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { Target } from "../../../actors/content.ts";
import { DAY_MS, dayOf } from "../../../actors/day.ts";
import type { FollowedClock } from "../../../src/clock.ts";
import { findKeptReplies } from "../../../src/journal/idempotency.ts";
import { isMintChecked, listClaims } from "../../../src/journal/live-claims.ts";
import { loadSlices, loadWalletDays } from "../../../src/journal/load.ts";
import type { MintEnd } from "../../../src/journal/mint-end.ts";
import { sendBatch } from "../../../src/journal/send-batch.ts";
import type { DecidedStar } from "../../../src/journal/star-record.ts";
import type { MirrorTopicMessage } from "../../../src/ledger/mirror/schemas.ts";
import { FIRST_RUNNING_HASH, runningHash } from "../../../src/ledger/running-hash.ts";
import { formatTimestamp } from "../../../src/ledger/transaction-id.ts";
import {
  countAbsence,
  countOlder,
  countRefusal,
  countSend,
  giveUp,
  reserveId,
  storeReceipt,
  storeSigned,
} from "../../../src/publishing/attempts.ts";
import {
  beginReading,
  confirmMessage,
  findReading,
  readTopicOn,
  type Verdict,
} from "../../../src/publishing/confirm.ts";
import { acceptLoss, countLost, mayLackStars } from "../../../src/publishing/journal-behind.ts";
import { starMessage } from "../../../src/publishing/message.ts";
import {
  findStarred,
  type LeasedStar,
  leaseStars,
  type Outbox,
  openOutbox,
  pendingPublications,
  releaseAllLeases,
  tookEffectAfter,
} from "../../../src/publishing/outbox.ts";
import {
  type KnownDatabase,
  lookAtDatabase,
  renewEpoch,
  settleIn,
  settleInWithoutStars,
} from "../../../src/store/database-identity.ts";
import type { Sql } from "../../../src/store/postgres.ts";
import { applyReleases } from "../../../src/upkeep/holdings-check/apply.ts";
import { listMints, readClaims } from "../../../src/upkeep/holdings-check/claims.ts";
import {
  type CheckRun,
  endPass,
  type MintProgress,
  type RunEnd,
  readProgress,
  saveProgress,
  takeDueRun,
} from "../../../src/upkeep/holdings-check/progress.ts";
import { loadAdmissions } from "../../../src/voting/admission.ts";
import { createRandom, type Random } from "../random.ts";
import { uuidOf } from "../virtual-time.ts";
import {
  BEARER,
  BEGINNING,
  openModel,
  openReal,
  SEASONS,
  TARGETS,
  type Tested,
  TOKEN,
  TOPICS,
} from "./both-journals.ts";
import { claimKey } from "./tables.ts";

const STEPS = 1_200;
const PAYER = "0.0.1002";
const STRANGER = "0.0.1003";
const WALLETS = [BEARER, 1_002, 1_003, 1_004, 1_005, 1_006] as const;
const HOLDERS = ["one", "other"] as const;

interface Journals {
  real: Tested;
  model: ReturnType<typeof openModel>;
}

const test = suite<Journals>("the journal and its model");

test.before(async (journals) => {
  journals.real = await openReal();
  journals.model = openModel();
});
test.after((journals) => journals.real.close());

test("answer and keep the same through a long random walk", async ({ real, model }) => {
  const walk = new Walk([real, model]);
  await walk.begin();
  for (let step = 0; step < STEPS; step += 1) await walk.step();
  assert.deepEqual(await model.dump(), await real.dump());
  const untouched = [...walk.counts].filter(([, count]) => count === 0).map(([what]) => what);
  assert.deepEqual(untouched, [], "the walk came by everything");
});

test.run();

/** What a walk must come by at least once, by what Postgres answered. */
const MUST_SEE = [
  ...["stored", "slot", "pass", "claim", "key", "day", "UNAVAILABLE", "23514"],
  ...["published", "foreign", "contradicts", "returned", "absent", "adopted"],
  ...["lost", "foreign message", "duplicate", "wrong bytes", "broken chain"],
  ...["release", "held", "run taken", "released", "contested"],
  ...["lease lost", "given up", "refused", "bearer", "bound"],
] as const;

/** Goes the same way on both journals. */
class Walk {
  readonly counts = new Map<string, number>(MUST_SEE.map((what) => [what, 0]));
  readonly #journals: readonly Tested[];
  readonly #random: Random = createRandom(9);
  readonly #databases = new Map<Tested, KnownDatabase>();
  readonly #leased: { readonly holder: string; star: LeasedStar }[] = [];
  readonly #runs = new Map<Tested, { readonly run: CheckRun; readonly worker: string }>();
  readonly #topics = new Map<string, MirrorTopicMessage[]>();
  #now = BEGINNING;
  #ns = BigInt(BEGINNING) * 1_000_000n;

  constructor(journals: readonly Tested[]) {
    this.#journals = journals;
  }

  /** Makes both journals ready to publish. */
  async begin(): Promise<void> {
    await this.#both(async (sql, journal) => {
      await renewEpoch(sql);
      const before = await lookAtDatabase(sql, undefined);
      await settleInWithoutStars(sql);
      const { identity, home, epoch, isRemembered } = await lookAtDatabase(sql, undefined);
      await settleIn(sql, identity);
      this.#databases.set(journal, { identity, epoch });
      const again = await lookAtDatabase(sql, { identity, epoch });
      return {
        ...{ before: before.home, isAtHome: home === identity, isRemembered },
        ...{ isHome: again.home === identity, known: again.isRemembered },
      };
    });
    for (const topicId of Object.values(TOPICS)) {
      await this.#both((sql) => beginReading(sql, topicId));
      await this.#both((sql) => beginReading(sql, topicId));
    }
  }

  async step(): Promise<void> {
    const random = this.#random;
    this.#now += random.chance(0.02)
      ? 7_200_000
      : random.pick([0, 0, 1, 1, 5, 5, 300, 4_000, 20_000]);
    await Promise.all(this.#journals.map((journal) => journal.setNow(this.#now)));
    const steps = [
      ...[this.#cast, this.#cast, this.#cast, this.#look, this.#lease, this.#lease],
      ...[this.#publish, this.#publish, this.#publish, this.#publishTogether, this.#lease],
      ...[this.#read, this.#read, this.#confirm, this.#pass, this.#figures, this.#releaseStars],
      ...[this.#check, this.#check, this.#release],
    ];
    await random.pick(steps).call(this);
  }

  /** Until the next step the clock is an hour behind what it was. */
  async #setBack(isBehind: boolean): Promise<void> {
    const now = this.#now - (isBehind ? 3_600_000 : 0);
    await Promise.all(this.#journals.map((journal) => journal.setNow(now)));
  }

  /** Asks both the same; both must answer the same, or fail with the same. */
  async #both<T>(ask: (sql: Sql, journal: Tested) => Promise<T>): Promise<T | string> {
    const [real, model] = await Promise.all(
      this.#journals.map((journal) =>
        ask(journal.sql, journal).catch((error: Error & { code?: string }) => {
          if (error.name === "LeaseLost") return "lease lost";
          if (error.code === undefined) throw error;
          return error.code;
        }),
      ),
    );
    assert.deepEqual(plain(model), plain(real));
    if (typeof real === "string") this.#saw(real);
    return real as T | string;
  }

  #saw(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Some stars in one batch: most of them sound, some of them wrong in one way. */
  async #cast(): Promise<void> {
    const random = this.#random;
    const { tables } = this.#model();
    const batch = Array.from({ length: 1 + random.below(3) }, () => {
      const wallet = random.pick(WALLETS);
      const at = this.#now + (random.chance(0.05) ? 86_400_000 : 0);
      const own = tables.walletDays.get(`${wallet}/${dayOf(at)}`) ?? [];
      const slot = own.length + 1 + (random.chance(0.1) ? random.below(2) - 1 : 0);
      const season = tables.passInForce(wallet, at);
      const seasonId = random.chance(0.05) ? (season === null ? SEASONS.now : null) : season;
      const follows = random.chance(0.05) ? starId(at, random) : (own.at(-1)?.id ?? null);
      return this.#decide({ wallet, at, slot, follows, seasonId });
    });
    const ending = batch.find(({ ends }) => ends.length > 0);
    // As the group commit sends it.
    if (ending !== undefined) batch.splice(0, batch.length, ending);
    // In a batch of several, the first one's caller has given up now and then.
    const isLate = random.chance(0.1);
    const outcomes = await this.#both((sql) => castAll(sql, batch, { now: this.#now, isLate }));
    for (const outcome of outcomes) this.#saw(outcome.split(" ")[0] ?? "");
  }

  #decide(given: {
    wallet: number;
    at: number;
    slot: number;
    follows: string | null;
    seasonId: string | null;
  }): DecidedStar {
    const random = this.#random;
    const { wallet: number, at, slot, follows, seasonId } = given;
    const target: Target = random.chance(0.3) ? TARGETS[1] : random.pick(TARGETS);
    const isEvent = target.type === "event";
    const serials = [1, 2, 3, 4, 5, 6, 7, 8].filter(() => random.chance(0.1));
    const bonus = random.chance(0.1) ? 1 + random.below(3) : null;
    const holdings = {
      collectionA: serials,
      collectionB: bonus === null ? [] : [bonus],
      readAt: at,
    };
    const breakdown = {
      base: target.id === "mint" && random.chance(0.6) ? 0 : 1,
      collectionA: serials.length,
      collectionB: bonus === null ? 0 : 5,
    };
    const weight = breakdown.base + breakdown.collectionA + breakdown.collectionB;
    const star = {
      ...{
        id: starId(at, random),
        wallet: `0.0.${number}`,
        day: dayOf(at),
        slot,
        at,
        target,
        holdings,
      },
      ...{ votingPower: 10, weight: weight + (random.chance(0.03) ? 1 : 0), breakdown },
      ...{ limit: seasonId === null ? 5 : 20, seasonId, rules: 1 },
    };
    const before = random.chance(0.2) ? random.below(4) : 0;
    const key = `key-${random.below(8)}`;
    const requestHash = "ab".repeat(32);
    const halves = { replyHead: '{"totalVotes":', replyTail: "}" };
    return {
      star,
      follows,
      claims: isEvent ? { a: serials, b: bonus } : null,
      releases: Math.max(
        0,
        (this.#model().tables.eventTotals.get(target.id)?.releases ?? 0) - before,
      ),
      ends: target.id === "mint" && random.chance(0.5) ? this.#ends(number) : [],
      message: starMessage(star, { a: "alpha", b: "beta" }),
      idempotency: random.chance(0.5) ? { key, requestHash, ...halves } : null,
    };
  }

  /** Claims on the mint that are to end, most of them rightly: of any wallet but this one. */
  #ends(except: number | null): readonly MintEnd[] {
    const random = this.#random;
    const { claims } = this.#model().tables;
    const counts = (serial: number): boolean =>
      claims.has(claimKey("mint", null, { collection: "B", serial }));
    return [...claims].flatMap(([key, { wallet, starId: id, anchoredAt }]): MintEnd[] => {
      const [, collection, serial] = /^mint\/\/([AB])\/(\d+)$/.exec(key) ?? [];
      if (serial === undefined || wallet === except || !random.chance(0.3)) return [];
      const of = collection as "A" | "B";
      const heldB = of === "A" ? [] : [1, 2, 3].filter(() => random.chance(0.3));
      const free = heldB.find((each) => !counts(each)) ?? null;
      const spare = random.chance(0.9) ? free : (heldB[0] ?? null);
      const listedAt = this.#now - random.pick([0, 1, 5, 2_000, 600_000]);
      const counted = heldB.filter((each) => counts(each) || each === spare);
      return [
        {
          ...{ collection: of, serial: Number(serial), wallet: `0.0.${wallet}` },
          starId: random.chance(0.95) ? id : starId(this.#now, random),
          since: anchoredAt ?? 0,
          weight: of === "A" ? 1 : spare === null ? 5 : 0,
          ...{ spare, heldB, countedB: random.chance(0.9) ? counted : [] },
          evidence: { owner: null, deleted: false, listedAt, readAt: this.#now },
        },
      ];
    });
  }

  /** A worker takes the day's check, goes on with it, or ends it. */
  async #check(): Promise<void> {
    const random = this.#random;
    const deps = (sql: Sql) => ({ sql, clock: { now: () => this.#now }, worker });
    const worker = random.pick(HOLDERS);
    const taken = await this.#both(async (sql, journal) => {
      const run = await takeDueRun(deps(sql));
      if (run === null) return null;
      this.#runs.set(journal, { run, worker });
      return { day: run.day, passes: run.passes };
    });
    if (taken !== null) this.#saw("run taken");
    const deferred = random.chance(0.5) ? [] : [{ collection: "A", serial: null, starId: null }];
    const isEnd = random.chance(0.4);
    const state = deferred.length > 0 ? "running" : "done";
    const end = { state, nextTryAt: this.#now + 5_000, isCut: this.#now % 2 === 0 } as RunEnd;
    await this.#both(async (sql, journal) => {
      await findClaimsOn(sql);
      const known = this.#runs.get(journal);
      if (known === undefined) return null;
      // The columns that both sides keep of it.
      const kept = { mint: "mint", kept: 1, deferred } as unknown as MintProgress;
      const saved = await saveProgress(deps(sql), known.run, [{ ...kept, mint: "mint" }]).catch(
        () => "not its own",
      );
      const progress = [...(await readProgress(sql, known.run))];
      if (isEnd) await endPass(deps(sql), known.run, end);
      const isChecked = await isMintChecked(sql, "mint", known.run.day);
      return { saved, progress, isChecked, found: await findClaimsOn(sql) };
    });
  }

  /** The check ends claims. */
  async #release(): Promise<void> {
    const ends = this.#ends(null);
    const deferred = await this.#both(async (sql, journal) => {
      const known = this.#runs.get(journal);
      if (known === undefined) return [];
      const scope = { runId: known.run.id, mint: "mint" };
      return applyReleases({ sql, clock: { now: () => this.#now } }, scope, ends);
    });
    if (typeof deferred === "string") return;
    if (deferred.length > 0) this.#saw("contested");
    if (deferred.length < ends.length) this.#saw("released");
  }

  /** What a vote looks up. */
  async #look(): Promise<void> {
    const random = this.#random;
    // Around midnight, and where clocks differ, the votes of one look-up are of different days.
    const days = [dayOf(this.#now), dayOf(this.#now - DAY_MS)] as const;
    const [day] = days;
    const voters = [...WALLETS.map((wallet) => ({ wallet: `0.0.${wallet}` })), { token: TOKEN }];
    const targets = [
      ...TARGETS,
      { type: "event", id: "hidden" },
      { type: "token", id: "none" },
    ] as const;
    const queries = voters.flatMap((voter) => {
      const { type, id } = random.pick(targets);
      const query = { voter, target: { type, id }, key: `key-${random.below(8)}` };
      return days.map((each) => ({ ...query, day: each }));
    });
    // The members that the reading of admissions asks.
    const clock = {
      now: () => this.#now,
      compare: async () => undefined,
    } as unknown as FollowedClock;
    const admissions = await this.#both((sql) => loadAdmissions(sql, clock, queries));
    if (typeof admissions === "string") throw new Error(admissions);
    if (admissions.at(-1)?.wallet === `0.0.${BEARER}`) this.#saw("bearer");
    if (admissions.some(({ kept }) => kept !== null)) this.#saw("bound");
    const wallets = WALLETS.map((wallet) => `0.0.${wallet}`);
    const walletDays = wallets.flatMap((wallet) =>
      days.map((each) => ({ wallet, day: each, notBefore: this.#now + 5 })),
    );
    await this.#both((sql) => loadWalletDays(sql, walletDays));
    const keys = wallets.map((wallet) => ({ wallet, key: `key-${random.below(8)}` }));
    await this.#both((sql) => findKeptReplies(sql, keys));
    const slices = wallets.flatMap((wallet) => {
      const brought = { wallet, serialsA: [1, 2, 3, 4, 5, 6, 7, 8], serialsB: [1, 2, 3] };
      return [
        { event: "meetup", day, ...brought },
        { event: "mint", day: null, ...brought },
      ];
    });
    await this.#both((sql) => loadSlices(sql, slices));
    await this.#both((sql) => isMintChecked(sql, "mint", dayOf(BEGINNING)));
  }

  async #pass(): Promise<void> {
    const wallet = this.#random.pick(WALLETS);
    const season = this.#random.pick(Object.values(SEASONS));
    const isGranted = this.#random.chance(0.5);
    await Promise.all(this.#journals.map((each) => each.setPass(wallet, season, isGranted)));
  }

  #outbox(sql: Sql, journal: Tested, holder: string): Outbox {
    const database = this.#databases.get(journal);
    if (database === undefined) throw new Error("the walk has not started");
    return { ...openOutbox(sql, { holder, leaseMs: 60_000 }), database };
  }

  async #lease(): Promise<void> {
    const random = this.#random;
    await this.#setBack(random.chance(0.2));
    const holder = random.pick(HOLDERS);
    const topic = random.pick(["event", "asset"] as const);
    const since = random.chance(0.2) ? this.#now - 60_000 : 0;
    const asked = { topic, limit: 1 + random.below(4), working: [], since };
    const stars = await this.#both((sql, journal) =>
      leaseStars(this.#outbox(sql, journal, holder), asked),
    );
    if (typeof stars === "string") throw new Error(stars);
    for (const star of stars) {
      const known = this.#leased.findIndex((each) => each.star.starId === star.starId);
      if (known >= 0) this.#leased.splice(known, 1);
      this.#leased.push({ holder, star });
    }
  }

  /** Some steps of one star's publishing. */
  async #publish(): Promise<void> {
    const taken = this.#random.chance(0.8) ? this.#leased.at(-1) : this.#leased[0];
    if (taken === undefined) return;
    for (let steps = this.#random.below(6); steps >= 0; steps -= 1) await this.#publishOn(taken);
  }

  /** One step, sound or not. */
  async #publishOn(taken: { readonly holder: string; star: LeasedStar }): Promise<void> {
    const random = this.#random;
    const { holder, star } = taken;
    const { attempt, starId } = star;
    const topicId = TOPICS[star.topic];
    const on = <T>(ask: (outbox: Outbox) => Promise<T>) =>
      this.#both((sql, journal) => ask(this.#outbox(sql, journal, holder)));
    const keep = (next: LeasedStar["attempt"] | string): void => {
      if (typeof next !== "string") taken.star = { ...star, attempt: next };
    };
    if (attempt === null) {
      const notBefore = BigInt(this.#now) * 1_000_000n - (random.chance(0.2) ? 5n : 0n);
      return keep(
        await on((outbox) => reserveId(outbox, starId, { payer: PAYER, topicId, notBefore })),
      );
    }
    if (attempt.signed === null && random.chance(0.8)) {
      const validUntil = attempt.validStart + 120_000_000_000n;
      const signed = { bytes: Buffer.from(attempt.transactionId), validUntil };
      return keep(await on((outbox) => storeSigned(outbox, attempt, signed)));
    }
    switch (random.below(10)) {
      case 0:
      case 1:
      case 6:
      case 7: {
        const sent = await on((outbox) => countSend(outbox, attempt));
        keep(sent);
        if (typeof sent === "string" || random.chance(0.3)) return;
        const text = random.chance(0.4) ? "{}" : star.message;
        return this.#say({ topicId, transactionId: attempt.transactionId, text });
      }
      case 2: {
        if (attempt.sends > attempt.refusals)
          keep(await on((outbox) => countRefusal(outbox, attempt)));
        return this.#saw("refused");
      }
      case 3: {
        const [status, sequenceNumber] = random.pick([
          ["SUCCESS", this.#said(topicId).length],
          ["INVALID_SIGNATURE", null],
        ] as const);
        const receipt = { status, sequenceNumber, runningHash: null };
        return keep(await on((outbox) => storeReceipt(outbox, attempt, receipt)));
      }
      case 4: {
        await on((outbox) => countOlder(outbox, attempt));
        await this.#setBack(random.chance(0.3));
        const rounds = await on((outbox) => countAbsence(outbox, attempt, 5_000));
        if (typeof rounds === "number") keep({ ...attempt, absenceRounds: rounds });
        return;
      }
      case 5: {
        const outcome = random.pick(["never sent", "refused", "absent", "foreign"] as const);
        const given = await on((outbox) =>
          giveUp(outbox, attempt, { outcome, evidence: "the walk" }),
        );
        if (given === "lease lost") return;
        this.#saw("given up");
        return keep(null);
      }
      default:
        // As the service never does: a message without a sending that was written down, or a second one.
        return this.#say({ topicId, transactionId: attempt.transactionId, text: star.message });
    }
  }

  /** The next step of several stars, in one statement. */
  async #publishTogether(): Promise<void> {
    const random = this.#random;
    const holder = random.pick(HOLDERS);
    const taken = this.#leased.filter((each) => each.holder === holder).slice(-4);
    const notBefore = BigInt(this.#now) * 1_000_000n;
    const steps = taken.map(({ star }) => {
      const { starId, attempt, topic } = star;
      const by = {
        payer: PAYER,
        topicId: TOPICS[topic],
        notBefore: notBefore + BigInt(random.below(9)),
      };
      if (attempt === null) return (outbox: Outbox) => reserveId(outbox, starId, by);
      const validUntil = attempt.validStart + 120_000_000_000n;
      const signed = { bytes: Buffer.from(attempt.transactionId), validUntil };
      if (attempt.signed === null) return (outbox: Outbox) => storeSigned(outbox, attempt, signed);
      const receipt = { status: "SUCCESS", sequenceNumber: 1, runningHash: null };
      const isAsked = attempt.sends > 1 && attempt.receipt === null && random.chance(0.2);
      if (isAsked) return (outbox: Outbox) => storeReceipt(outbox, attempt, receipt);
      return (outbox: Outbox) => countSend(outbox, attempt);
    });
    const attempts = await this.#both((sql, journal) => {
      const outbox = this.#outbox(sql, journal, holder);
      return Promise.all(steps.map((step) => step(outbox).catch((error: Error) => error.name)));
    });
    if (typeof attempts === "string") throw new Error(attempts);
    taken.forEach((each, n) => {
      const attempt = attempts[n];
      if (typeof attempt === "object") each.star = { ...each.star, attempt };
    });
  }

  #said(topicId: string): MirrorTopicMessage[] {
    const said = this.#topics.get(topicId) ?? [];
    this.#topics.set(topicId, said);
    return said;
  }

  /** A message reaches a topic; some are strangers', or of a journal that this one is a copy of. */
  #say(given: { topicId: string; transactionId: string; text: string }): void {
    const random = this.#random;
    const { topicId, text } = given;
    const said = this.#said(topicId);
    // The ledger lets each id take effect once.
    const isKnown = [...this.#topics.values()]
      .flat()
      .some(({ chunk }) => chunk?.transactionId === given.transactionId);
    if (isKnown) return;
    const before = BigInt(this.#now) * 1_000_000n;
    this.#ns = before > this.#ns ? before : this.#ns + 1n;
    const isOther = random.chance(0.3);
    const payer = isOther && random.chance(0.3) ? STRANGER : PAYER;
    const transactionId = isOther
      ? `${payer}@${topicId.at(-1)}.${String(said.length).padStart(9, "0")}`
      : given.transactionId;
    const bytes = Buffer.from(isOther && random.chance(0.5) ? text.replace(/\d+}$/, "1}") : text);
    const consensusTimestamp = formatTimestamp(this.#ns);
    const sequenceNumber = said.length + 1;
    const last = said.at(-1)?.runningHash;
    const previous = last === undefined ? FIRST_RUNNING_HASH : Buffer.from(last, "base64");
    const link = { previous, payer, topic: topicId, consensusTimestamp, sequenceNumber };
    const broken = random.chance(0.2) ? Buffer.from("broken") : bytes;
    said.push({
      ...{ topicId, sequenceNumber, consensusTimestamp, bytes, payer, runningHashVersion: 3 },
      runningHash: runningHash({ ...link, message: broken }).toString("base64"),
      chunk: { transactionId, number: 1, total: 1 },
    });
  }

  async #read(): Promise<void> {
    const topicId = this.#random.pick(Object.values(TOPICS));
    const reading = await this.#both((sql) => findReading(sql, topicId));
    if (reading === undefined || typeof reading === "string") throw new Error("no reading");
    const after = reading.sequenceNumber;
    const page = this.#said(topicId).slice(after, after + 1 + this.#random.below(5));
    const payer = this.#random.chance(0.5) ? PAYER : undefined;
    const verdicts = await this.#both(async (sql) =>
      inOrder(await readTopicOn(sql, { ...reading, topicId, payer }, page)),
    );
    this.#hear(verdicts);
    // Somebody else read the same page a moment ago.
    await this.#both((sql) => readTopicOn(sql, { ...reading, topicId, payer }, page));
  }

  async #confirm(): Promise<void> {
    const said = this.#said(this.#random.pick(Object.values(TOPICS)));
    if (said.length === 0) return;
    const message = this.#random.pick(said);
    this.#hear(await this.#both(async (sql) => inOrder(await confirmMessage(sql, message))));
  }

  #hear(verdicts: readonly Verdict[] | string): void {
    if (typeof verdicts === "string") return;
    for (const { verdict } of verdicts) this.#saw(verdict);
  }

  async #figures(): Promise<void> {
    await this.#both((sql) => pendingPublications(sql));
    await this.#both((sql) => countLost(sql));
    for (const topicId of Object.values(TOPICS)) {
      await this.#both((sql) => findStarred(sql, topicId));
      await this.#both((sql) => tookEffectAfter(sql, topicId, this.#ns - 60_000_000_000n));
    }
    await this.#both((sql) => mayLackStars(sql));
    for (const { kind } of this.#model().tables.findings.values()) {
      this.#saw(kind === "foreign" ? "foreign message" : kind);
    }
    if (this.#random.chance(0.2)) await this.#both((sql) => acceptLoss(sql));
  }

  async #releaseStars(): Promise<void> {
    const holder = this.#random.pick(HOLDERS);
    if (this.#random.chance(0.3)) {
      await this.#both((sql) => releaseAllLeases({ sql, holder }));
      return;
    }
    const taken = this.#leased.findLast((each) => each.holder === holder);
    if (taken === undefined) return;
    const why = this.#random.chance(0.5) ? "the walk" : null;
    await this.#both((sql) =>
      openOutbox(sql, { holder, leaseMs: 60_000 }).steps.release({
        starId: taken.star.starId,
        delayMs: 700,
        why,
      }),
    );
  }

  #model() {
    const [, model] = this.#journals as [Tested, ReturnType<typeof openModel>];
    return model.journal;
  }
}

/** What counts on the mints, as the check and a star ask for it. */
async function findClaimsOn(sql: Sql) {
  const mint = "mint";
  const found: unknown[] = [await listMints(sql)];
  for (const collection of ["A", "B"] as const) {
    for await (const page of readClaims(sql, { mint, collection })) found.push(page);
    found.push(await listClaims(sql, { mint, collection, serials: [3, 1, 2, 9] }));
  }
  return found;
}

/** What becomes of each star of a batch, in words. */
async function castAll(
  sql: Sql,
  batch: readonly DecidedStar[],
  { now, isLate }: { readonly now: number; readonly isLate: boolean },
): Promise<readonly string[]> {
  const outcomes: string[] = batch.map(() => "");
  const waiting = batch.map((decided, n) => ({
    decided,
    answerBy: isLate && n === 0 ? 0 : Number.POSITIVE_INFINITY,
    resolve: (outcome: { kind: string; reason?: string; totalVotes?: number }) => {
      outcomes[n] = `${outcome.reason ?? outcome.kind} ${outcome.totalVotes ?? ""}`;
    },
    reject: (error: Error & { code?: string }) => {
      outcomes[n] = error.code ?? error.message;
    },
  }));
  await sendBatch({ sql, now: () => now }, waiting);
  return outcomes;
}

/** A UUIDv7 of an instant: the walk is the same each time. */
function starId(at: number, random: Random): string {
  const hex = at.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${uuidOf(random).slice(15)}`;
}

/** Rows as plain objects in plain arrays. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (value === null || typeof value !== "object" || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

function inOrder(verdicts: readonly Verdict[]): readonly Verdict[] {
  const name = ({ starId, verdict, sequenceNumber }: Verdict) =>
    `${starId} ${verdict} ${sequenceNumber}`;
  return Array.from(verdicts).sort((one, other) => (name(one) < name(other) ? -1 : 1));
}
