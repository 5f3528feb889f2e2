import { bounds } from "../../src/bounds.ts";
import { RetryableError, TerminalError } from "../../src/errors.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { withDeadline } from "../../src/with-deadline.ts";
import { type Asked, defect, type Judge, type Reply, Violation } from "./judge.ts";
import type { Process, Processes } from "./processes.ts";
import type { Random } from "./random.ts";
import { TARGET_KEYS, tokenOf } from "./setting.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What every answer of the service comes within, milliseconds. */
const ANSWER_WITHIN_MS = 3_500;
const TRIES_MAX = 5;
/** In half of the worlds all stay away for a while, after so many votes on average. */
const VOTES_TO_A_LULL = 60;
const LULL_MS = 25_000;

/** A vote that a client wants to cast, with the key that it uses for all its tries. */
export interface Wanted {
  readonly wallet: number;
  readonly target: { readonly type: TargetType; readonly id: string };
  readonly key: string | null;
}
type TargetType = "event" | "token" | "collection" | "project";

export interface ClientsParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly processes: Processes;
  readonly judge: Judge;
  readonly note: (what: string) => void;
  readonly fail: (violation: Violation) => void;
}

/** Voters: they vote, repeat what was not answered, and report the answers to the judge. */
export class Clients {
  readonly wallets: readonly number[];
  /** Requests that were made, and stars that were accepted. */
  asked = 0;
  accepted = 0;
  readonly #parts: ClientsParts;
  readonly #hasLulls: boolean;
  #open = 0;
  #keys = 0;

  constructor(parts: ClientsParts, wallets: readonly number[]) {
    this.#parts = parts;
    this.wallets = wallets;
    this.#hasLulls = parts.random.chance(0.5);
  }

  /** Whether anyone waits for an answer, or is about to ask again. */
  get isWaiting(): boolean {
    return this.#open > 0;
  }

  /** Votes, one after the other, until so many requests were made. */
  voteUntil(votes: number): void {
    const { random, time, processes } = this.#parts;
    if (this.asked >= votes) return;
    const restMs = processes.restUntil - time.now;
    if (restMs > 0) {
      time.in(restMs, null, () => this.voteUntil(votes));
      return;
    }
    const wanted = this.#want();
    this.ask(wanted);
    // Two tabs.
    if (random.chance(0.03)) this.ask(wanted);
    const pauseMs = random.chance(0.1) ? random.between(0, 500) : random.between(0, 20);
    const isLull = this.#hasLulls && random.chance(1 / VOTES_TO_A_LULL);
    const lullMs = isLull ? LULL_MS * random.next() : 0;
    time.in(pauseMs + lullMs, null, () => this.voteUntil(votes));
  }

  /** One vote, of a wallet that may be given, on a thing that may be. */
  vote(given: Partial<Wanted> = {}): void {
    this.ask({ ...this.#want(), ...given });
  }

  #want(): Wanted {
    const { random } = this.#parts;
    // A few wallets are busy, and their stars race.
    const busy = this.wallets.slice(0, 4);
    const wallet = random.pick(random.chance(0.4) ? busy : this.wallets);
    const [type = "", id = ""] = random.pick(TARGET_KEYS).split("/");
    const target = { type: type as TargetType, id };
    const isReused = this.#keys > 0 && random.chance(0.01);
    if (!isReused) this.#keys += 1;
    const key = isReused ? 1 + random.below(this.#keys) : this.#keys;
    return { wallet, target, key: random.chance(0.7) || isReused ? `key-${key}` : null };
  }

  /** One try of a vote; a try without an outcome is followed by another one with the same key. */
  ask(wanted: Wanted, tries = 1): void {
    const { time, random, processes, judge, fail } = this.#parts;
    this.asked += 1;
    this.#open += 1;
    const { serving } = processes;
    if (serving.length === 0) {
      this.#again(wanted, tries);
      return;
    }
    const web = random.pick(serving);
    const { wallet, target, key } = wanted;
    const asked: Asked = { wallet, target, key, at: time.now, clockReadAt: web.clockReadAt };
    judge.asked(asked);
    let isAnswered = false;
    const close = (): boolean => {
      const isFirst = !isAnswered;
      isAnswered = true;
      web.asked.delete(lose);
      return isFirst;
    };
    const lose = (): void => {
      if (close()) this.#again(wanted, tries);
    };
    web.asked.add(lose);
    time.in(ANSWER_WITHIN_MS, null, () => {
      if (isAnswered || !web.isAlive || web.frozenUntil >= asked.at) return;
      fail(new Violation(`P17: ${web.name} is silent for ${ANSWER_WITHIN_MS} ms`));
    });
    this.#castOn(web, wanted, {
      answered: (reply) => {
        if (!web.isAlive || !close()) return;
        this.#open -= 1;
        this.#hear(asked, reply);
      },
      failed: (error) => {
        if (web.isAlive && close()) this.#hearError(wanted, tries, error);
      },
    });
  }

  #castOn(
    web: Process,
    { wallet, target, key }: Wanted,
    hear: { readonly answered: (reply: Reply) => void; readonly failed: (error: unknown) => void },
  ): void {
    const { casting } = web;
    if (casting === undefined) throw new Error(`${web.name} serves nothing`);
    this.#parts.processes.as(web, () => {
      const answerBy = performance.now() + bounds.starDeadlineMs;
      const voter = { token: tokenOf(wallet) };
      const casts = castStar(casting, { voter, target, idempotencyKey: key, answerBy });
      // As `answerWithin` of `src/http` answers in the end, whatever the waits add up to.
      const late = () => new RetryableError("UNAVAILABLE", "the answer took too long");
      const answer = withDeadline(casts, bounds.starDeadlineMs, late);
      answer.then((result) => hear.answered(replyOf(result)), hear.failed);
    });
  }

  #hear(asked: Asked, reply: Reply): void {
    this.#parts.note(`${asked.wallet} hears ${reply.kind}`);
    if (reply.kind === "accepted") this.accepted += 1;
    this.#parts.judge.answered(asked, reply);
  }

  #hearError(wanted: Wanted, tries: number, error: unknown): void {
    const { note, fail } = this.#parts;
    note(`${wanted.wallet} hears ${error instanceof Error ? error.message : error}`);
    if (error instanceof RetryableError) {
      this.#again(wanted, tries);
      return;
    }
    this.#open -= 1;
    const isReuse = error instanceof TerminalError && error.code === "IDEMPOTENCY_KEY_REUSED";
    if (!isReuse) fail(defect("a 500", error));
  }

  #again(wanted: Wanted, tries: number): void {
    const { time, random } = this.#parts;
    if (tries >= TRIES_MAX || random.chance(0.2)) {
      this.#open -= 1;
      return;
    }
    time.in(random.between(20, 1_500), null, () => {
      this.#open -= 1;
      this.ask(wanted, tries + 1);
    });
  }
}

function replyOf(result: Awaited<ReturnType<typeof castStar>>): Reply {
  if (result.kind !== "refused") return result;
  const { decision } = result;
  return decision.code === "ALREADY_STARRED"
    ? { kind: "repeat", starId: decision.starId }
    : { kind: "exhausted", limit: decision.limit, used: decision.used };
}
