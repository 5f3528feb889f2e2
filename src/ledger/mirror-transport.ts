import { setTimeout as pause } from "node:timers/promises";
import { handleWhen, retry } from "cockatiel";
import { Agent } from "undici";
import type { z } from "zod";
import { bounds } from "../config.ts";
import type { Logger } from "../log.ts";
import { type Answer, asMirrorError, judgeAnswer } from "./mirror-answer.ts";
import type { Budget } from "./mirror-deadline.ts";
import { type MirrorEndpoint, type MirrorEndpoints, mirrorEndpoints } from "./mirror-endpoints.ts";
import { MirrorError, mayPass } from "./mirror-error.ts";
import { exchange } from "./mirror-exchange.ts";
import { createLanes, type Lanes } from "./mirror-lanes.ts";

/** Asks mirror nodes, whichever of them answers, and believes only whole, well-formed answers. */
export interface MirrorTransport {
  /** The paths under which the nodes' interfaces stand; the empty one included. */
  readonly prefixes: readonly string[];
  /**
   * @param target path and query below the base URL, `/api/v1/…`
   * @returns null when the node says that there is no such thing (404)
   * @throws MirrorError when no node gave a usable answer
   */
  ask<T>(target: string, schema: z.ZodType<T>, budget: Budget): Promise<Answer<T> | null>;
  /** Ends every connection, those in use too. */
  close(): Promise<void>;
}

/** One try and three more, with pauses of 350 ms in all on average: well within a star's deadline. */
const ATTEMPTS_MAX = 4;
const PAUSE_MS = 100;
/** A node that takes longer even to accept a connection cannot serve a star. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Shorter than the five seconds after which common servers close idle connections. */
const KEEP_ALIVE_MS = 4_000;
/** Timers may fire this much before their time. */
const TIMER_EARLY_MS = 5;

interface Request<T> {
  readonly target: string;
  readonly schema: z.ZodType<T>;
  readonly budget: Budget;
}

interface Nodes {
  readonly endpoints: MirrorEndpoints;
  readonly agent: Agent;
  readonly lanes: Lanes;
  readonly log: Logger;
}

/** @param urls base URLs of mirror nodes, the preferred one first */
export function createMirrorTransport({
  urls,
  log,
}: {
  readonly urls: readonly string[];
  readonly log: Logger;
}): MirrorTransport {
  const agent = new Agent({
    connections: bounds.mirrorRequestsInFlightMax + bounds.mirrorBackgroundInFlightMax,
    pipelining: 1,
    maxResponseSize: bounds.mirrorBodyBytesMax,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Every attempt ends at a deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const endpoints = mirrorEndpoints(urls, () => performance.now());
  const nodes = { endpoints, agent, lanes: createLanes(() => performance.now()), log };
  return {
    prefixes: [...new Set(["", ...endpoints.all.map((endpoint) => endpoint.prefix)])],
    ask: (target, schema, budget) =>
      nodes.lanes.enter(budget, () => askUntilAnswered(nodes, { target, schema, budget })),
    close: () => agent.destroy(),
  };
}

/**
 * Tries each node once, at once, and then, after a pause with jitter, those
 * again whose failure may pass. An attempt may use an equal share of the time
 * left, so that a node that hangs leaves the others their chance.
 */
async function askUntilAnswered<T>(nodes: Nodes, request: Request<T>): Promise<Answer<T> | null> {
  const { budget } = request;
  const untried = [...nodes.endpoints.inOrder()];
  const again: MirrorEndpoint[] = [];
  const askNext = async (): Promise<Answer<T> | null> => {
    const endpoint = untried.shift() ?? again.shift();
    if (endpoint === undefined) throw new RangeError("no mirror node is left to ask");
    const shareMs = (budget.endsAt - performance.now()) / (untried.length + 1);
    try {
      return await askOnce(nodes, endpoint, { ...request, shareMs });
    } catch (error) {
      if (error instanceof MirrorError && mayPass(error.fault)) again.push(endpoint);
      throw error;
    }
  };
  const canGoOn = (error: unknown): boolean =>
    error instanceof MirrorError &&
    !budget.isOver &&
    !nodes.agent.destroyed &&
    untried.length + again.length > 0 &&
    performance.now() < budget.endsAt - TIMER_EARLY_MS;
  const attemptsMax = Math.max(ATTEMPTS_MAX, untried.length);
  try {
    return await askNext();
  } catch (error) {
    if (!canGoOn(error)) throw error;
  }
  // Only now is there anything for a policy to do; most requests are answered before.
  return retry(handleWhen(canGoOn), { maxAttempts: attemptsMax - 2 }).execute(
    async ({ attempt }) => {
      // The policy takes a moment between two attempts, in which the read may have ended.
      if (budget.isOver) throw new MirrorError("aborted", "not asked again, nobody waits for it");
      // Paused here and not by the policy, whose pause cannot be cut short.
      if (untried.length === 0) await pauseWithJitter(attempt + 1, budget);
      return askNext();
    },
  );
}

async function pauseWithJitter(attempt: number, budget: Budget): Promise<void> {
  const end = new AbortController();
  const forget = budget.whenOver(() => end.abort());
  try {
    const pauseMs = Math.random() * PAUSE_MS * 2 ** (attempt - 1);
    await pause(pauseMs, undefined, { signal: end.signal });
  } catch (error) {
    throw new MirrorError("timeout", "no time is left to ask again", error);
  } finally {
    forget();
  }
}

/** One attempt at one node. @throws MirrorError and nothing else */
async function askOnce<T>(
  { endpoints, agent, lanes, log }: Nodes,
  endpoint: MirrorEndpoint,
  { target, schema, budget, shareMs }: Request<T> & { readonly shareMs: number },
): Promise<Answer<T> | null> {
  const { origin } = endpoint;
  try {
    const withinMs = Math.max(1, shareMs);
    const raw = await exchange(agent, { endpoint, target, budget, withinMs });
    const answer = judgeAnswer(target, schema, raw);
    if (endpoints.answered(endpoint)) log.info({ node: origin }, "mirror node answers again");
    return answer;
  } catch (thrown) {
    const error = asMirrorError(thrown, target);
    if (error.fault === "busy") lanes.slowDown();
    const wasUnwanted = budget.isOver && performance.now() < budget.endsAt - TIMER_EARLY_MS;
    // One line when a node begins to fail; the rest is for those who look closer.
    const begins = !wasUnwanted && endpoints.failed(endpoint);
    log[begins ? "warn" : "debug"]({ node: origin, fault: error.fault }, error.message);
    throw error;
  }
}
