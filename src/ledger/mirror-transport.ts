import { setTimeout as pause } from "node:timers/promises";
import { handleWhen, retry, TimeoutStrategy, timeout } from "cockatiel";
import { Agent } from "undici";
import type { z } from "zod";
import { bounds } from "../config.ts";
import type { Logger } from "../log.ts";
import { type Answer, asMirrorError, judgeAnswer } from "./mirror-answer.ts";
import type { Budget } from "./mirror-deadline.ts";
import { type MirrorEndpoint, type MirrorEndpoints, mirrorEndpoints } from "./mirror-endpoints.ts";
import { MirrorError, mayPass } from "./mirror-error.ts";
import { createLanes } from "./mirror-lanes.ts";

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
    connections: bounds.mirrorRequestsInFlightMax,
    pipelining: 1,
    maxResponseSize: bounds.mirrorBodyBytesMax,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Every attempt is aborted at a deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const endpoints = mirrorEndpoints(urls, () => performance.now());
  const enter = createLanes(() => performance.now());
  return {
    prefixes: [...new Set(["", ...endpoints.all.map((endpoint) => endpoint.prefix)])],
    ask: (target, schema, budget) =>
      enter(budget, () => askUntilAnswered({ endpoints, agent, log }, { target, schema, budget })),
    close: () => agent.destroy(),
  };
}

/**
 * Tries each node once, at once, and then, after a pause with jitter, those
 * again whose failure may pass. An attempt may use an equal share of the time
 * left, so that a node that hangs leaves the others their chance.
 */
function askUntilAnswered<T>(nodes: Nodes, request: Request<T>): Promise<Answer<T> | null> {
  const { signal, endsAt } = request.budget;
  const untried = [...nodes.endpoints.inOrder()];
  const again: MirrorEndpoint[] = [];
  const canGoOn = () =>
    untried.length + again.length > 0 && performance.now() < endsAt - TIMER_EARLY_MS;
  const policy = retry(
    handleWhen((error) => error instanceof MirrorError && canGoOn()),
    { maxAttempts: Math.max(ATTEMPTS_MAX, untried.length) - 1 },
  );
  return policy.execute(async ({ attempt }) => {
    // Paused here and not by the policy, whose pause cannot be cut short.
    if (untried.length === 0) await pauseWithJitter(attempt, signal);
    const endpoint = untried.shift() ?? again.shift();
    if (endpoint === undefined) throw new RangeError("no mirror node is left to ask");
    const shareMs = (endsAt - performance.now()) / (untried.length + 1);
    try {
      return await askOnce(nodes, endpoint, { ...request, shareMs });
    } catch (error) {
      if (error instanceof MirrorError && mayPass(error.fault)) again.push(endpoint);
      throw error;
    }
  }, signal);
}

async function pauseWithJitter(attempt: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(Math.random() * PAUSE_MS * 2 ** (attempt - 1), undefined, { signal });
  } catch (error) {
    throw new MirrorError("timeout", "no time is left to ask again", error);
  }
}

/** One attempt at one node. @throws MirrorError and nothing else */
async function askOnce<T>(
  { endpoints, agent, log }: Nodes,
  endpoint: MirrorEndpoint,
  { target, schema, budget, shareMs }: Request<T> & { readonly shareMs: number },
): Promise<Answer<T> | null> {
  const { origin, prefix } = endpoint;
  try {
    const raw = await timeout(Math.max(1, shareMs), TimeoutStrategy.Aggressive).execute(
      async ({ signal }) => {
        const path = prefix + target;
        const headers = { accept: "application/json" };
        const { statusCode, body } = await agent.request({
          origin,
          path,
          method: "GET",
          headers,
          signal,
        });
        return { status: statusCode, text: await body.text() };
      },
      budget.signal,
    );
    const answer = judgeAnswer(target, schema, raw);
    if (endpoints.answered(endpoint)) log.info({ node: origin }, "mirror node answers again");
    return answer;
  } catch (thrown) {
    const error = asMirrorError(thrown, target);
    const wasUnwanted = budget.signal.aborted && performance.now() < budget.endsAt - TIMER_EARLY_MS;
    // One line when a node begins to fail; the rest is for those who look closer.
    const begins = !wasUnwanted && endpoints.failed(endpoint);
    log[begins ? "warn" : "debug"]({ node: origin, fault: error.fault }, error.message);
    throw error;
  }
}
