import { Agent } from "undici";
import { bounds } from "../../bounds.ts";
import type { Logger } from "../../log.ts";
import { createFailover } from "../failover.ts";
import {
  type Answer,
  type Asked,
  asMirrorError,
  judgeAnswer,
  present,
  type Take,
  whole,
} from "./answer.ts";
import { MirrorError } from "./error.ts";
import { type Endpoint, exchange } from "./exchange.ts";
import { createLanes } from "./lanes.ts";
import { type Budget, Ending, pauseUnlessOver } from "./limits.ts";
import { API } from "./paths.ts";

/** Which mirror nodes to ask, and how hard. */
export interface TransportOptions {
  /** Base URLs, the preferred one first, at least one; with or without a trailing `/api/v1`. */
  readonly urls: readonly string[];
  readonly log: Logger;
  /** The rate the node allows; requests stay a tenth under it. Absent: as fast as it answers. */
  readonly requestsPerSecond?: number | undefined;
  /**
   * How long a request is tried while no node has ever answered, if only that it is busy: a
   * mistyped URL is reported soon. Absent: as long as its reader waits.
   */
  readonly firstAnswerMs?: number | undefined;
  /** Called for every request that was sent, with its route and how it ended. */
  readonly onRequest?: OnRequest | undefined;
}

/** @param route the path with `:id` for every id; `outcome` is `ok`, `not found` or a fault */
export type OnRequest = (route: string, outcome: string, seconds: number) => void;

/** Pauses between attempts grow from this, with jitter, to an eighth of the reader's deadline. */
const PAUSE_MS = 100;
const PAUSE_SHARE_MAX = 1 / 8;
/** Requests that were refused together do not come back together. */
const SPREAD_MS = 50;
/** A node that takes longer even to accept a connection cannot serve a star. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the five seconds after which common servers close idle connections. */
const KEEP_ALIVE_MS = 4_000;
/** Timers may fire this much before their time. */
const TIMER_EARLY_MS = 5;
const RATE_SHARE = 0.9;

interface Request<T> extends Asked<T> {
  readonly budget: Budget;
}

/** A node that a request may go to next. */
interface Turn {
  readonly endpoint: Endpoint;
  readonly tries: number;
  /** On the monotonic clock: when the node asked to be asked again. */
  readonly notBefore: number;
  /** It was not asked yet, or failed without a wait: the others leave it a share of the time. */
  readonly mayAnswer: boolean;
}

const UNTRIED = { tries: 0, notBefore: 0, mayAnswer: true } as const;

/**
 * Asks mirror nodes, whichever of them answers, and believes only whole, well-formed answers. Each way
 * to ask throws MirrorError when no node gave a usable one.
 */
export class MirrorTransport {
  readonly #endpoints: readonly Endpoint[];
  readonly #agent = new Agent({
    connections: bounds.mirrorRequestsInFlightMax + bounds.mirrorBackgroundInFlightMax,
    pipelining: 1,
    maxResponseSize: bounds.mirrorBodyBytesMax,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Every attempt ends at a deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  readonly #failover = createFailover<Endpoint>(() => performance.now());
  readonly #enterLane = createLanes(() => performance.now());
  readonly #closing = new Ending();
  readonly #options: TransportOptions;
  /** Between two requests, when a rate is given. */
  readonly #spacingMs: number;
  #nextAt = 0;
  #hasAnswered = false;
  #askedLast: ReadonlySet<object> = new Set();

  constructor(options: TransportOptions) {
    const { urls, requestsPerSecond = Number.POSITIVE_INFINITY } = options;
    if (urls.length === 0) throw new RangeError("at least one mirror node URL is needed");
    this.#endpoints = urls.map(readEndpoint);
    this.#options = options;
    this.#spacingMs = 1_000 / (requestsPerSecond * RATE_SHARE);
  }

  /** One thing, or null when the node says it is not there. */
  one<T>(asked: Asked<T>, budget: Budget): Promise<T | null> {
    return this.#ask(asked, budget, (found) => found && whole(found, asked));
  }

  /**
   * A list, which is there even when it is empty.
   *
   * @param check throws where the next node is to be asked
   */
  list<T>(asked: Asked<T>, budget: Budget, check?: (body: T) => void): Promise<T> {
    return this.#ask(asked, budget, (found) => {
      const body = whole(present(found, asked), asked);
      check?.(body);
      return body;
    });
  }

  /** A list of which the node may know only a part. */
  partialList<T>(asked: Asked<T>, budget: Budget): Promise<Answer<T>> {
    return this.#ask(asked, budget, (found) => present(found, asked));
  }

  /**
   * Asks these nodes from now on only where no other answers; a read in progress goes on as it was.
   *
   * @param places among the URLs
   */
  askLast(places: readonly number[]): void {
    this.#askedLast = new Set(this.#endpoints.filter((_, place) => places.includes(place)));
  }

  /** Ends every request, those that pause before their next attempt too. */
  close(): Promise<void> {
    this.#closing.end();
    return this.#agent.destroy();
  }

  #ask<T, R>(asked: Asked<T>, budget: Budget, take: Take<T, R>): Promise<R> {
    const request = { budget, ...asked, target: API + asked.target };
    return this.#enterLane(budget, () => this.#askUntilAnswered(request, take));
  }

  /**
   * Tries each node once, at once, and then, until the deadline, those again whose failure may
   * pass, soonest first: after the time the node asked for, or a pause with jitter. An attempt may use an equal
   * share of the time left, so that a node that hangs leaves the others their chance, those that
   * were busy or cut off too. A loop of ours, because the policy library's pauses cannot be cut
   * short.
   */
  async #askUntilAnswered<T, R>(request: Request<T>, take: Take<T, R>): Promise<R> {
    const { budget } = request;
    const { firstAnswerMs = Number.POSITIVE_INFINITY } = this.#options;
    const silentUntil = performance.now() + firstAnswerMs;
    // One order for all pages of a read: they are of two nodes only where the first one fails.
    budget.askedLast ??= this.#askedLast;
    const { askedLast, oneNode } = budget;
    const inOrder = this.#failover
      .inOrder(this.#endpoints.filter((each) => each === (oneNode?.node ?? each)))
      .toSorted((one, other) => Number(askedLast.has(one)) - Number(askedLast.has(other)));
    const turns: Turn[] = inOrder.map((endpoint) => ({ endpoint, ...UNTRIED }));
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      const pauseMs = turn.tries === 0 ? 0 : pauseBefore(turn, budget);
      if (this.#closing.isOver) break;
      const endsAt = this.#hasAnswered ? budget.endsAt : Math.min(budget.endsAt, silentUntil);
      if (performance.now() + pauseMs > endsAt - TIMER_EARLY_MS) continue;
      if (pauseMs > 0) await pauseUnlessOver(pauseMs, [budget, this.#closing]);
      if (budget.isOver) throw new MirrorError("aborted", "not asked again, its reader is gone");
      try {
        const isLeft = (other: Turn) => other.mayAnswer && other.notBefore < endsAt;
        const others = turns.filter(isLeft).length;
        return await this.#askOnce(turn.endpoint, { endsAt, others, ...request }, take);
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
        budget.lastFailure = error;
        const notBefore = performance.now() + error.retryAfterMs;
        const mayAnswer = error.fault !== "timeout";
        if (error.mayPass) turns.push({ ...turn, tries: turn.tries + 1, notBefore, mayAnswer });
        turns.sort((one, other) => one.notBefore - other.notBefore);
      }
    }
    throw (
      budget.lastFailure ??
      new MirrorError("network", "closed, or out of time, before it was asked")
    );
  }

  /** One attempt at one node. @throws MirrorError and nothing else */
  async #askOnce<T, R>(
    endpoint: Endpoint,
    request: Request<T> & { readonly endsAt: number; readonly others: number },
    take: Take<T, R>,
  ): Promise<R> {
    const { target, budget, endsAt, others } = request;
    const { log, onRequest } = this.#options;
    const node = endpoint.origin;
    let sentAt = performance.now();
    const report = (outcome: string): void =>
      onRequest?.(routeOf(target), outcome, (performance.now() - sentAt) / 1_000);
    try {
      if (this.#spacingMs > 0) await this.#keepToRate(budget);
      sentAt = performance.now();
      const shareMs = Math.max(1, Math.min((endsAt - sentAt) / (others + 1), budget.attemptMs));
      const withinMs = shareMs < budget.endsAt - sentAt ? shareMs : undefined;
      const raw = await exchange(this.#agent, { endpoint, target, budget, withinMs });
      this.#hasAnswered = true;
      const answer = judgeAnswer(request, raw);
      const taken = take(answer);
      if (budget.oneNode !== undefined) budget.oneNode.node ??= endpoint;
      budget.lastFailure = undefined;
      report(answer === null ? "not found" : "ok");
      if (this.#failover.answered(endpoint)) log.info({ node }, "mirror node answers again");
      return taken;
    } catch (thrown) {
      const error = asMirrorError(thrown, target);
      report(error.fault);
      const isUnwanted = budget.isOver && performance.now() < budget.endsAt - TIMER_EARLY_MS;
      // One line when a node starts to fail; the rest is for those who look closer.
      const starts = !isUnwanted && this.#failover.failed(endpoint);
      log[starts ? "warn" : "debug"]({ node, fault: error.fault }, error.message);
      throw error;
    }
  }

  /** Evenly spaced, because what a node counts may start at any moment. */
  async #keepToRate(budget: Budget): Promise<void> {
    const now = performance.now();
    const startsAt = Math.max(now, this.#nextAt);
    this.#nextAt = startsAt + this.#spacingMs;
    await pauseUnlessOver(startsAt - now, [budget, this.#closing]);
    if (budget.isOver) throw new MirrorError("aborted", "not asked, its reader is gone");
  }
}

/** `/api/v1/accounts/0.0.5/nfts?limit=100` → `/accounts/:id/nfts`: names of routes have no digits. */
function routeOf(target: string): string {
  const [path = ""] = target.replace(/^\/api\/v1/, "").split("?", 1);
  return path.replace(/\/[^/]*\d[^/]*/g, "/:id");
}

function pauseBefore({ tries, notBefore }: Turn, { deadlineMs }: Budget): number {
  const pauseMax = Math.min(PAUSE_MS * 2 ** (tries - 1), deadlineMs * PAUSE_SHARE_MAX);
  const askedForMs = notBefore - performance.now();
  return askedForMs > 0 ? askedForMs + Math.random() * SPREAD_MS : Math.random() * pauseMax;
}

function readEndpoint(url: string): Endpoint {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "") };
}
