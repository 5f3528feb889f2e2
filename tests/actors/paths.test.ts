/**
 * Goal: nothing a machine can do is left unseen. Method: XState's own graph tools walk every
 * state and every path that small inputs allow, with a scope that is not ours; each step is
 * then taken again by the exported decider and held against the oracle.
 */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate";
import {
  adjacencyMapToArray,
  getAdjacencyMap,
  getShortestPaths,
  getSimplePaths,
} from "xstate/graph";
import { endOfDay, startOfDay } from "../../actors/day.ts";
import type { Decider, State } from "../../actors/decide.ts";
import { type EventStar, eventDay, eventDayMachine } from "../../actors/event-day.ts";
import { foreverMint, foreverMintMachine } from "../../actors/forever-mint.ts";
import type { StarIntent, WalletDecision } from "../../actors/star.ts";
import {
  instantOf,
  type WalletDayContext,
  walletDay,
  walletDayMachine,
} from "../../actors/wallet-day.ts";
import { createOracle, type OracleVerdict } from "../support/oracle.ts";

const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
const HOUR = 3_600_000;
const MIDNIGHT = endOfDay(DAY);
const WALLET = "0.0.1001";
/** Far above what the small inputs reach: a walk that gets here has run wild. */
const STEPS_MAX = 50_000;

/** A machine, the inputs it is walked with, and what the oracle says of a path. */
interface Walk {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly decider: Decider<never, unknown, never, unknown>;
  readonly input: object;
  readonly events: (context: never) => readonly EventObject[];
  /** Fewer, where every order of them is walked. */
  readonly fewerEvents: (context: never) => readonly EventObject[];
  /** States that agree in this decide the same from here on. */
  readonly memory: (context: never) => string;
  readonly isOver: (context: never) => boolean;
  readonly expected: (path: readonly never[]) => unknown;
  /** How many paths there are with the fewer events, counted without the machine. */
  readonly pathsInAll: () => number;
}

/** Two votes a day, four between one and two hours after noon: the fewest that show all. */
const votes = { free: 2, premium: 4 };
const pass = { wallet: WALLET, from: NOON + HOUR, to: NOON + 2 * HOUR };
const items = [
  { target: "token/1", repeatable: false },
  { target: "collection/2", repeatable: false },
  { target: "event/forever", repeatable: true },
];
const instants = [NOON, pass.from, pass.to, MIDNIGHT - 1, pass.to - 1, MIDNIGHT];
/** Of these instants, the first few where every order of stars is walked. */
const FEWER = 4;

function wishes(context: WalletDayContext, among = instants): readonly StarIntent[] {
  return among.flatMap((now) =>
    items.map((item) => {
      const at = instantOf(context, now);
      const limit = pass.from <= at && at < pass.to ? votes.premium : votes.free;
      return { type: "star", starId: `${item.target} ${now}`, ...item, now, limit };
    }),
  );
}

function oracleOnWalletDay(path: readonly StarIntent[]): WalletDecision | undefined {
  const oracle = createOracle([pass], votes);
  let verdict: OracleVerdict | undefined;
  for (const { target, repeatable, now } of path) {
    const kind = repeatable ? ("mint" as const) : ("asset" as const);
    verdict = oracle.star({ wallet: WALLET, target: { id: target, kind }, now, a: [], b: [] });
  }
  if (verdict === undefined) return undefined;
  if (verdict.code === "ALLOWANCE_EXHAUSTED") return { type: "refused", ...verdict };
  const { at, now, slot, target } = verdict.star;
  if (at >= MIDNIGHT) return { type: "refused", code: "OTHER_DAY" };
  return verdict.code === "ACCEPTED"
    ? { type: "accepted", slot, at }
    : { type: "refused", code: verdict.code, starId: `${target.id} ${now}` };
}

/** Paths on which every star is accepted; a refused one changes nothing and leads nowhere. */
function countAccepted(path: readonly StarIntent[], among: readonly number[]): number {
  let count = 0;
  for (const item of items) {
    for (const now of among) {
      const wish = { type: "star" as const, starId: "", ...item, now, limit: 0 };
      const longer = [...path, wish];
      if (oracleOnWalletDay(longer)?.type === "accepted") count += 1 + countAccepted(longer, among);
    }
  }
  return count;
}

/** Two wallets between which serials move: each event is a wallet with what it holds just then. */
const holdings = [
  { collectionA: [], collectionB: [] },
  { collectionA: [1, 2], collectionB: [1] },
  { collectionA: [2, 3], collectionB: [1, 2] },
  { collectionA: [1, 2, 3], collectionB: [2] },
];
const stars: readonly EventStar[] = ["0.0.1001", "0.0.1002"].flatMap((wallet) =>
  holdings.map((held) => ({ type: "star", wallet, holdings: { ...held, readAt: NOON } })),
);
const DEPTH = 4;

function oracleOnEvent(kind: "event" | "mint") {
  return (path: readonly EventStar[]): unknown => {
    const oracle = createOracle([]);
    const verdicts = path.map(({ wallet, holdings: { collectionA: a, collectionB: b } }, n) => {
      // An ordinary event lets a wallet star once, so there each star is another wallet's.
      const voter = kind === "mint" ? wallet : `${wallet}${n}`;
      return oracle.star({ wallet: voter, target: { id: "e", kind }, now: NOON + n, a, b });
    });
    const last = verdicts.at(-1);
    assert.ok(last?.code === "ACCEPTED");
    const { weight, base, nfts } = last.star;
    const serials = (of: "A" | "B") =>
      nfts.filter((nft) => nft.startsWith(of)).map((nft) => Number(nft.slice(1)));
    const a = serials("A");
    const b = serials("B")[0] ?? null;
    const breakdown = { base, collectionA: a.length, collectionB: b === null ? 0 : 5 };
    return { type: "counted", weight, breakdown, claims: { a, b } };
  };
}

const walks: readonly Walk[] = [
  {
    name: "wallet-day",
    machine: walletDayMachine,
    decider: walletDay as Walk["decider"],
    input: { wallet: WALLET, day: DAY },
    events: (context: WalletDayContext) => wishes(context),
    fewerEvents: (context: WalletDayContext) => wishes(context, instants.slice(0, FEWER)),
    memory: (context: WalletDayContext) =>
      JSON.stringify([context.stars.map(({ target }) => target).sort(), context.stars.at(-1)?.at]),
    isOver: () => false,
    expected: oracleOnWalletDay,
    pathsInAll: () => countAccepted([], instants.slice(0, FEWER)),
  },
  ...(["event-day", "forever-mint"] as const).map((name) => ({
    name,
    machine: name === "event-day" ? eventDayMachine : foreverMintMachine,
    decider: (name === "event-day" ? eventDay : foreverMint) as Walk["decider"],
    input: name === "event-day" ? { event: "e", day: DAY } : { event: "e" },
    events: () => stars,
    fewerEvents: () => stars,
    memory: (context: object) => JSON.stringify(context),
    isOver: (context: { readonly stars: number }) => context.stars >= DEPTH,
    expected: oracleOnEvent(name === "event-day" ? "event" : "mint"),
    // Every star is taken, so there are as many as orders of one to four of them.
    pathsInAll: () => [1, 2, 3, 4].reduce((sum, length) => sum + stars.length ** length, 0),
  })),
];

interface Path {
  readonly state: AnyMachineSnapshot;
  readonly events: readonly EventObject[];
}

function optionsOf({ input, events, memory, isOver }: Walk) {
  return {
    input: input as never,
    events: (snapshot: AnyMachineSnapshot) => events(snapshot.context as never),
    filterEvents: (snapshot: AnyMachineSnapshot) => !isOver(snapshot.context as never),
    serializeState: (snapshot: AnyMachineSnapshot) =>
      `${snapshot.value} ${memory(snapshot.context as never)}`,
    limit: STEPS_MAX,
  };
}

function pathsOf(walk: Walk, how: typeof getShortestPaths): readonly Path[] {
  return how(walk.machine, optionsOf(walk)).map(({ state, steps }) => ({
    state,
    events: steps.map(({ event }) => event).filter(({ type }) => type !== "xstate.init"),
  }));
}

function edgesOf(walk: Walk, machine = walk.machine) {
  const edges = adjacencyMapToArray(getAdjacencyMap(machine, optionsOf(walk)));
  return edges as readonly {
    state: AnyMachineSnapshot;
    event: EventObject;
    nextState: AnyMachineSnapshot;
  }[];
}

/** Follows a path with the exported decider, which throws unless each step decides once. */
function follow({ decider, input }: Walk, path: readonly EventObject[]) {
  let state: State<unknown> = decider.initial(input as never);
  let decision: unknown;
  for (const event of path) [state, decision] = decider.step(state as never, event as never);
  return { state, decision };
}

/** The guards that a star can meet; other events of a machine are walked elsewhere. */
function starGuards(machine: AnyStateMachine): readonly string[] {
  const nodes = [machine.root, ...Object.values(machine.root.states)];
  const transitions = nodes.flatMap((node) => node.transitions.get("star") ?? []);
  return transitions.flatMap(({ guard }) => (typeof guard === "string" ? [guard] : []));
}

/** The states that a star can lead to, and the one before any. */
function starStates(machine: AnyStateMachine): readonly string[] {
  const nodes = [machine.root, ...Object.values(machine.root.states)];
  const transitions = nodes.flatMap((node) => node.transitions.get("star") ?? []);
  const targets = transitions.flatMap(({ target }) => target?.map(({ key }) => key) ?? []);
  return [...new Set([String(machine.config.initial), ...targets])].sort();
}

/** What is written of a state above its machine. */
function prose({ name }: Walk, state: string): string | undefined {
  const source = readFileSync(new URL(`../../actors/${name}.ts`, import.meta.url), "utf8");
  const text = source.replace(/\n \* ?/g, "\n").replace(/(?<!\n)\n(?!\n)/g, " ");
  return new RegExp(`\\*\\*${state}\\*\\* — (.+)`).exec(text)?.[1];
}

for (const walk of walks) {
  const { name, machine } = walk;

  test(`${name}: every state is reached, and explained in prose above the machine`, () => {
    const reached = new Set(edgesOf(walk).map(({ nextState }) => String(nextState.value)));
    reached.add(String(machine.config.initial));
    assert.deepEqual([...reached].sort(), starStates(machine));
    for (const state of reached) assert.ok(prose(walk, state), `${state} is not explained`);
  });

  test(`${name}: every state has a way out, or says why it is never left`, () => {
    const left = new Set(
      edgesOf(walk)
        .filter(({ state, nextState }) => state.value !== nextState.value)
        .map(({ state }) => String(state.value)),
    );
    for (const state of starStates(machine)) {
      const reason = /Never left: (.+)/.test(prose(walk, state) ?? "");
      assert.notEqual(left.has(state), reason, state);
    }
  });

  test(`${name}: each guard is seen true and false`, () => {
    const seen = new Set<string>();
    const guards = Object.entries(machine.implementations.guards).map(([guard, implementation]) => [
      guard,
      (args: unknown, params: unknown) => {
        assert.ok(typeof implementation === "function");
        const holds = implementation(args as never, params as never);
        seen.add(`${guard} ${holds}`);
        return holds;
      },
    ]);
    edgesOf(walk, machine.provide({ guards: Object.fromEntries(guards) }));
    const both = starGuards(machine).flatMap((guard) => [`${guard} true`, `${guard} false`]);
    assert.deepEqual(
      both.filter((each) => !seen.has(each)),
      [],
    );
  });

  test(`${name}: in every state every event has one decision, the oracle's, and never an error`, () => {
    const { serializeState } = optionsOf(walk);
    const wayTo = new Map(
      pathsOf(walk, getShortestPaths).map(({ state, events }) => [serializeState(state), events]),
    );
    const edges = edgesOf(walk);
    for (const { state, event, nextState } of edges) {
      assert.equal(nextState.status, "active");
      const way = wayTo.get(serializeState(state));
      assert.ok(way, "every state lies on a shortest path");
      const path = [...way, event];
      const arrived = follow(walk, path);
      assert.deepEqual(arrived.decision, walk.expected(path as never), JSON.stringify(path));
      assert.deepEqual(arrived.state, { value: nextState.value, context: nextState.context });
    }
    assert.ok(edges.length >= 100, `${edges.length} steps are too few to mean anything`);
    process.stdout.write(`${name}: ${wayTo.size} states, ${edges.length} steps\n`);
  });

  test(`${name}: every path ends where the decider and the oracle say`, () => {
    const fewer = { ...walk, events: walk.fewerEvents };
    const { serializeState } = optionsOf(fewer);
    const paths = pathsOf(fewer, getSimplePaths).filter(({ events }) => events.length > 0);
    for (const { state, events } of paths) {
      const arrived = follow(walk, events);
      assert.equal(serializeState(arrived.state as never), serializeState(state));
      assert.deepEqual(arrived.decision, walk.expected(events as never));
    }
    assert.equal(paths.length, walk.pathsInAll());
    process.stdout.write(`${name}: ${paths.length} paths\n`);
  });
}

test.run();
