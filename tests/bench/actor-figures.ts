import { createActor, type Snapshot, transition } from "xstate";
import { ruleOf } from "../../actors/content.ts";
import {
  type StarCommand,
  type WalletDayState,
  walletDay,
  walletDayMachine,
} from "../../actors/wallet-day.ts";
import { createHost } from "../../src/hosting/host.ts";
import { createSnapshots, snapshotKey } from "../../src/hosting/snapshots.ts";
import type { WalletDayFacts } from "../../src/journal/load.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { silentLogger } from "../../src/log.ts";
import { closeRedis, openRedis } from "../../src/store/redis.ts";
import { takeOrders } from "./observe.ts";
import { WARM_ROUNDS } from "./workloads.ts";

/**
 * What one actor costs, measured inside a fresh process: bytes at rest against a live XState
 * actor, microseconds a decision, bytes of a snapshot. Needs `--expose-gc`.
 */
export interface FiguresOrder {
  readonly actors: number;
  readonly steps: number;
  readonly redisUrl: string;
}

export interface ActorFigures {
  readonly heapBytesAtRest: number;
  readonly heapBytesLive: number;
  readonly sharedScopeUs: number;
  readonly transitionUs: number;
  readonly snapshotBytes: number;
}

const DAY = "2026-11-20";
const NOON = Date.parse(`${DAY}T12:00:00Z`);
const key = (index: number) => ({ wallet: `0.0.${1_000_000 + index}`, day: DAY });

async function measureAll(order: FiguresOrder): Promise<ActorFigures> {
  return {
    heapBytesAtRest: await heapAtRest(order.actors),
    heapBytesLive: heapLive(Math.min(order.actors, 20_000)),
    sharedScopeUs: sharedScope(order.steps),
    transitionUs: pureTransition(order.steps),
    snapshotBytes: await snapshotBytes(order.redisUrl),
  };
}

/** As the journal gives it: each has strings of its own, nothing is shared. */
function factsOf(index: number): WalletDayFacts {
  const stars = Array.from({ length: WARM_ROUNDS }, (_, slot) => ({
    id: newStarId(NOON + slot),
    target: `event/e${(index + slot) % 1_000}`,
    at: NOON + slot,
  }));
  return JSON.parse(JSON.stringify({ stars, seasonId: null, seasonThen: null, readAt: 0 }));
}

async function heapAtRest(count: number): Promise<number> {
  const host = createHost({
    load: ({ wallet }) => Promise.resolve(factsOf(Number(wallet.slice("0.0.".length)))),
    snapshots: { read: async () => null, write: () => undefined },
    liveMax: 2 * count,
  });
  const before = heap();
  for (let index = 0; index < count; index += 1) await host.reload(key(index));
  const bytes = (heap() - before) / count;
  // Still hosted: nothing was collected before it was counted.
  host.recall(key(0));
  return bytes;
}

function heapLive(count: number): number {
  const states = Array.from({ length: count }, (_, index) => fiveStars(index));
  const before = heap();
  const live = states.map((state, index) => {
    const snapshot = walletDayMachine.resolveState({ ...state }) as Snapshot<unknown>;
    return createActor(walletDayMachine, { input: key(index), snapshot }).start();
  });
  const bytes = (heap() - before) / count;
  // The states' own bytes belong to a live actor too.
  for (const actor of live) actor.stop();
  return bytes;
}

function fiveStars(index: number): WalletDayState {
  let state = walletDay.initial(key(index));
  for (let slot = 0; slot < WARM_ROUNDS; slot += 1) state = take(state, command(slot));
  return state;
}

const RULE = ruleOf({ type: "event", eventKind: "OTHER" });

function command(slot: number): StarCommand {
  return { type: "star", target: { key: `event/e${slot}`, rule: RULE }, now: NOON + slot };
}

/** A command and its fact: what one accepted star costs its actor. */
function take(state: WalletDayState, star: StarCommand): WalletDayState {
  const decision = walletDay.decide(state, star);
  if (decision.type === "refused") throw new Error(`refused: ${decision.code}`);
  const { at } = decision;
  return walletDay.evolve(state, { type: "starred", id: "", target: star.target.key, at });
}

function sharedScope(steps: number): number {
  const fresh = walletDay.initial(key(0));
  const commands = Array.from({ length: WARM_ROUNDS }, (_, slot) => command(slot));
  return timed(steps, (round) => {
    let state = fresh;
    for (const each of commands) state = take(state, each);
    return state.context.stars.length + round;
  });
}

function pureTransition(steps: number): number {
  const fresh = walletDayMachine.resolveState({ ...walletDay.initial(key(0)) });
  const commands = Array.from({ length: WARM_ROUNDS }, (_, slot) => command(slot));
  return timed(steps, (round) => {
    let state = fresh;
    for (const each of commands) {
      [state] = transition(walletDayMachine, state, each);
      const fact = { type: "starred", id: "", target: each.target.key, at: each.now } as const;
      [state] = transition(walletDayMachine, state, fact);
    }
    return state.context.stars.length + round;
  });
}

/** Microseconds a star, its command and its fact: five of them per call. */
function timed(steps: number, work: (round: number) => number): number {
  const rounds = Math.ceil(steps / WARM_ROUNDS);
  let sum = 0;
  for (let round = 0; round < rounds / 4; round += 1) sum += work(round);
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) sum += work(round);
  const elapsed = performance.now() - startedAt;
  if (sum === 0) throw new Error("nothing was decided");
  return (elapsed * 1_000) / (rounds * WARM_ROUNDS);
}

async function snapshotBytes(redisUrl: string): Promise<number> {
  const redis = openRedis(redisUrl, silentLogger);
  await new Promise((resolve) => redis.once("ready", resolve));
  const snapshots = createSnapshots(redis);
  snapshots.write(key(0), fiveStars(0));
  await snapshots.settled();
  const text = await redis.hGet(snapshotKey(DAY), key(0).wallet);
  await closeRedis(redis);
  return Buffer.byteLength(text ?? "");
}

function heap(): number {
  for (let turn = 0; turn < 3; turn += 1) (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}

takeOrders(measureAll);
