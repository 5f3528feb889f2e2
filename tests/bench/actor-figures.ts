import { createActor, type Snapshot, transition } from "xstate";
import type { StarIntent } from "../../actors/star.ts";
import {
  type WalletDayState,
  walletDay,
  walletDayMachine,
  walletDayVersion,
} from "../../actors/wallet-day.ts";
import { createHost } from "../../src/hosting/host.ts";
import { createSnapshots, redisKey } from "../../src/hosting/snapshots.ts";
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

/** As the journal tells it: strings of its own for each, nothing shared. */
function factsOf(index: number): WalletDayFacts {
  const stars = Array.from({ length: WARM_ROUNDS }, (_, slot) => ({
    id: newStarId(NOON + slot),
    target: `event/e${(index + slot) % 1_000}`,
    at: NOON + slot,
    limit: 5,
    repeatable: false,
  }));
  return JSON.parse(JSON.stringify({ stars, passes: [] }));
}

async function heapAtRest(count: number): Promise<number> {
  const host = createHost({
    load: ({ wallet }) => Promise.resolve(factsOf(Number(wallet.slice("0.0.".length)))),
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
  for (let slot = 0; slot < WARM_ROUNDS; slot += 1) [state] = walletDay.step(state, intent(slot));
  return state;
}

function intent(slot: number): StarIntent {
  const target = `event/e${slot}`;
  const starId = newStarId(NOON + slot);
  return { type: "star", starId, target, repeatable: false, now: NOON + slot, limit: 5 };
}

function sharedScope(steps: number): number {
  const fresh = walletDay.initial(key(0));
  const intents = Array.from({ length: WARM_ROUNDS }, (_, slot) => intent(slot));
  return timed(steps, (round) => {
    let state = fresh;
    for (const each of intents) [state] = walletDay.step(state, each);
    return walletDayVersion(state) + round;
  });
}

function pureTransition(steps: number): number {
  const fresh = walletDayMachine.resolveState({ ...walletDay.initial(key(0)) });
  const intents = Array.from({ length: WARM_ROUNDS }, (_, slot) => intent(slot));
  return timed(steps, (round) => {
    let state = fresh;
    for (const each of intents) [state] = transition(walletDayMachine, state, each);
    return state.context.stars.length + round;
  });
}

/** Microseconds a step: five of them per call. */
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
  const text = await redis.get(redisKey(key(0)));
  await closeRedis(redis);
  return Buffer.byteLength(text ?? "");
}

function heap(): number {
  for (let turn = 0; turn < 3; turn += 1) (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}

takeOrders(measureAll);
