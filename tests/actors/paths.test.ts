/**
 * Goal: everything a machine can do is seen. Method: XState's own graph tools walk every
 * state and every path that small inputs allow, by commands and facts, with a scope that is not
 * ours; each step is then taken again by the exported functions and held against the oracle.
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
import { type Rules, rulesVersions } from "../../actors/rules.ts";
import { eventDayWalk, mintWalk } from "./event-walks.ts";
import { mintWalletWalk } from "./mint-wallet-walk.ts";
import type { Walk } from "./walk.ts";
import { DAY, votes, walletDayWalk } from "./wallet-day-walk.ts";

/** Far above what the small inputs reach: a walk that gets here is out of control. */
const STEPS_MAX = 50_000;

// The versions are read-only for all but this test, which needs a day that is spent by few stars.
(rulesVersions as Rules[]).push({
  ...(rulesVersions[0] as Rules),
  version: 2,
  from: DAY,
  freeVotes: votes.free,
  premiumVotes: votes.premium,
});

// Other files of this process have the rules as they are.
test.after(() => void (rulesVersions as Rules[]).pop());

const walks: readonly Walk[] = [
  walletDayWalk,
  eventDayWalk,
  mintWalk("forever-mint", { stars: 4, withChecks: false }),
  mintWalk("forever-mint with its daily check", { stars: 2, withChecks: true }),
  mintWalletWalk,
];

interface Path {
  readonly state: AnyMachineSnapshot;
  readonly events: readonly EventObject[];
}

/** A graph asks for the name of each of its states a thousand times. */
const named = new WeakMap<object, string>();

function optionsOf({ input, events, memory }: Walk) {
  return {
    input: input as never,
    events: (snapshot: AnyMachineSnapshot) => events(restOf(snapshot)),
    serializeState: (snapshot: AnyMachineSnapshot) => {
      const known = named.get(snapshot);
      if (known !== undefined) return known;
      const name = `${snapshot.value} ${memory(snapshot.context as never)}`;
      named.set(snapshot, name);
      return name;
    },
    limit: STEPS_MAX,
  };
}

function restOf({ value, context }: AnyMachineSnapshot) {
  return { value: String(value), context } as never;
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

/** Follows facts with the exported functions; where the last event is a command, decides it. */
function follow({ logic, input, isCommand }: Walk, path: readonly EventObject[]) {
  let state = logic.initial(input as never);
  for (const event of path) {
    if (isCommand(event)) return { state, decision: logic.decide(state, event as never) };
    state = logic.evolve(state, event as never);
  }
  return { state, decision: null };
}

/** All guards in use. */
function guardsOf(machine: AnyStateMachine): readonly string[] {
  const nodes: readonly AnyMachineSnapshot["machine"]["root"][] = Object.values(
    machine.root.states,
  );
  const transitions = nodes.flatMap((node) => [...node.transitions.values()].flat());
  return transitions.flatMap(({ guard }) => (typeof guard === "string" ? [guard] : []));
}

/** Counts the ways through a walk's model that pass each state once, without the machine. */
function countPaths(walk: Walk, path: readonly EventObject[], passed: ReadonlySet<string>): number {
  const { state } = walk.expected(path as never);
  let count = 0;
  for (const event of walk.fewerEvents(state as never)) {
    const longer = [...path, event];
    const key = keyOf(walk, longer);
    if (!passed.has(key)) count += 1 + countPaths(walk, longer, new Set([...passed, key]));
  }
  return count;
}

function keyOf(walk: Walk, path: readonly EventObject[]): string {
  const { value, context } = walk.expected(path as never).state;
  return `${value} ${walk.memory(context as never)}`;
}

/** The prose about a state above its machine. */
function prose({ file }: Walk, state: string): string | undefined {
  const source = readFileSync(new URL(`../../actors/${file}.ts`, import.meta.url), "utf8");
  const text = source.replace(/\n \* ?/g, "\n").replace(/(?<!\n)\n(?!\n)/g, " ");
  return new RegExp(`\\*\\*${state}\\*\\* — (.+)`).exec(text)?.[1];
}

for (const walk of walks) {
  const { name, machine } = walk;

  test(`${name}: every state is reached, and explained in prose above the machine`, () => {
    const reached = new Set(edgesOf(walk).map(({ nextState }) => String(nextState.value)));
    reached.add(String(machine.config.initial));
    assert.deepEqual([...reached].sort(), Object.keys(machine.states).sort());
    for (const state of reached) assert.ok(prose(walk, state), `${state} is not explained`);
  });

  test(`${name}: every state has a way out, or says why it is never left`, () => {
    const left = new Set(
      edgesOf(walk)
        .filter(({ state, nextState }) => state.value !== nextState.value)
        .map(({ state }) => String(state.value)),
    );
    for (const state of Object.keys(machine.states)) {
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
    const both = guardsOf(machine).flatMap((guard) => [`${guard} true`, `${guard} false`]);
    assert.deepEqual(
      both.filter((each) => !seen.has(each)),
      [],
    );
  });

  test(`${name}: in every state the machine decides every command as the oracle does, and takes every fact`, () => {
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
      assert.deepEqual(follow(walk, path), walk.expected(path as never), JSON.stringify(path));
      if (walk.isCommand(event)) assert.equal(serializeState(nextState), serializeState(state));
    }
    assert.ok(edges.length >= 100, `${edges.length} steps are too few to mean anything`);
    process.stdout.write(`${name}: ${wayTo.size} states, ${edges.length} steps\n`);
  });

  test(`${name}: every path ends where machine and oracle say (A25 model)`, () => {
    // A command changes no state, so no path that passes each state once contains one.
    const facts = (state: never) =>
      walk.fewerEvents(state).filter((event) => !walk.isCommand(event));
    const fewer = { ...walk, events: facts, fewerEvents: facts };
    const { serializeState } = optionsOf(fewer);
    const paths = pathsOf(fewer, getSimplePaths).filter(({ events }) => events.length > 0);
    for (const { state, events } of paths) {
      const arrived = follow(walk, events);
      assert.equal(serializeState(arrived.state as never), serializeState(state));
      assert.deepEqual(arrived, walk.expected(events as never));
    }
    const start = new Set([keyOf(fewer, [])]);
    assert.equal(paths.length, countPaths(fewer, [], start));
    process.stdout.write(`${name}: ${paths.length} paths\n`);
  });
}

test.run();
