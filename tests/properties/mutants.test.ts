/**
 * Goal: the properties cannot pass with wrong rules. Method: break the rules one at a time
 * (each guard inverted, each action left out, each fact a machine relies on falsified) and
 * show that a property fails for each.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { AnyStateMachine } from "xstate";
import { limitAt } from "../../actors/allowance.ts";
import { createDecider } from "../../actors/decide.ts";
import {
  type EventDayState,
  type EventStar,
  eventDay,
  eventDayMachine,
} from "../../actors/event-day.ts";
import {
  type ForeverMintState,
  foreverMint,
  foreverMintMachine,
} from "../../actors/forever-mint.ts";
import type { Counted } from "../../actors/nft-accounting.ts";
import { type WalletDayState, walletDay, walletDayMachine } from "../../actors/wallet-day.ts";
import { rules } from "./rules.ts";
import { type Core, realCore } from "./world.ts";

/** A mutant must fall, not fall small. */
const endOnFailure = true;

/** The sentences that fail with a core; none when it survives. */
function fellBy(core: Core, numRuns: number): readonly string[] {
  return Object.entries(rules).flatMap(([sentence, rule]) => {
    try {
      rule(core, { numRuns, endOnFailure });
      return [];
    } catch {
      return [sentence];
    }
  });
}

/** Most mutants fall within a few histories, those that err by a millisecond within more. */
function fallsBy(core: Core): readonly string[] {
  const atOnce = fellBy(core, 20);
  return atOnce.length > 0 ? atOnce : fellBy(core, 200);
}

/** The machines of the core, and the core with one of them exchanged. */
const machines: readonly {
  readonly machine: AnyStateMachine;
  readonly coreWith: (machine: AnyStateMachine) => Core;
}[] = [
  {
    machine: walletDayMachine,
    coreWith: (machine) => ({
      ...realCore,
      walletDay: createDecider(machine, { wallet: "0.0.1", day: "1970-01-01" }),
    }),
  },
  {
    machine: eventDayMachine,
    coreWith: (machine) => ({
      ...realCore,
      eventDay: createDecider(machine, { event: "", day: "1970-01-01" }),
    }),
  },
  {
    machine: foreverMintMachine,
    coreWith: (machine) => ({ ...realCore, foreverMint: createDecider(machine, { event: "" }) }),
  },
];

/** What a star can meet in a machine; other events of it have tests of their own. */
function starParts(machine: AnyStateMachine) {
  const nodes = [machine.root, ...Object.values(machine.root.states)];
  const transitions = nodes.flatMap((node) => node.transitions.get("star") ?? []);
  const named = (part: unknown): string[] => (typeof part === "string" ? [part] : []);
  return {
    guards: [...new Set(transitions.flatMap(({ guard }) => named(guard)))],
    actions: [...new Set(transitions.flatMap(({ actions }) => actions.flatMap(named)))],
  };
}

function assertFalls(mutant: string, core: Core): void {
  const failed = fallsBy(core);
  process.stdout.write(`${mutant}: ${failed.length} of ${Object.keys(rules).length} rules fail\n`);
  assert.notEqual(failed.length, 0, `${mutant} goes unseen`);
}

test("the real rules, rebuilt as the mutants are, survive", () => {
  const rebuilt = machines.map(({ machine, coreWith }) => coreWith(machine.provide({})));
  const [wallet = realCore, event = realCore, mint = realCore] = rebuilt;
  const { walletDay } = wallet;
  const { eventDay } = event;
  assert.deepEqual(fellBy({ ...mint, walletDay, eventDay }, 200), []);
});

for (const { machine, coreWith } of machines) {
  const { guards, actions } = starParts(machine);

  for (const name of guards) {
    test(`${machine.id}: ${name}, inverted, is seen`, () => {
      const guard = machine.implementations.guards[name];
      assert.ok(typeof guard === "function");
      const inverted = (args: never, params: never) => !guard(args, params);
      assertFalls(`not ${name}`, coreWith(machine.provide({ guards: { [name]: inverted } })));
    });
  }

  for (const name of actions) {
    test(`${machine.id}: ${name}, left out, is seen`, () => {
      const nothing = () => undefined;
      assertFalls(`without ${name}`, coreWith(machine.provide({ actions: { [name]: nothing } })));
    });
  }
}

test("there are guards and actions to break", () => {
  const parts = machines.map(({ machine }) => starParts(machine));
  assert.deepEqual(parts[0]?.guards, [
    "liesInAnotherDay",
    "wasStarredAlready",
    "hasNoVoteLeft",
    "isLastVote",
  ]);
  for (const { actions } of parts) assert.ok(actions.length >= 2);
});

const onEvent = (falsify: (counted: Counted, star: EventStar) => Counted): Partial<Core> => ({
  eventDay: {
    ...eventDay,
    step: (state, star) => eventDay.step(withCounted(state, falsify, star), star),
  },
});
const onMint = (falsify: (counted: Counted, star: EventStar) => Counted): Partial<Core> => ({
  foreverMint: {
    ...foreverMint,
    step: (state, star) => foreverMint.step(withCounted(state, falsify, star), star),
  },
});

function withCounted<S extends EventDayState | ForeverMintState>(
  state: S,
  falsify: (counted: Counted, star: EventStar) => Counted,
  star: EventStar,
): S {
  return { ...state, context: { ...state.context, counted: falsify(state.context.counted, star) } };
}

function ownedBy(claims: Readonly<Record<number, string>>, rename: (wallet: string) => string) {
  return Object.fromEntries(Object.entries(claims).map(([n, wallet]) => [n, rename(wallet)]));
}

function onWallet(falsify: (state: WalletDayState) => WalletDayState): Partial<Core> {
  return {
    walletDay: { ...walletDay, step: (state, star) => walletDay.step(falsify(state), star) },
  };
}

const limitLater = (ms: number): Partial<Core> => ({
  limitAt: (at, passes) => limitAt(at + ms, passes),
});
const reversed = (star: EventStar): EventStar => ({
  ...star,
  holdings: { ...star.holdings, collectionB: star.holdings.collectionB.toReversed() },
});

/** Wrong rules that no guard stands for, by the mistake each makes. */
const mistakes: Readonly<Record<string, Partial<Core>>> = {
  "a pass is on a millisecond early, and off a millisecond early": limitLater(1),
  "a pass is on a millisecond late, and off a millisecond late": limitLater(-1),
  "a pass is never on": { limitAt: () => limitAt(0, []) },
  "a star's day goes by the clock, not by the star's own instant": onWallet(
    ({ value, context }) => ({
      value,
      context: { ...context, stars: context.stars.map((star) => ({ ...star, at: 0 })) },
    }),
  ),
  "items starred today are forgotten": onWallet(({ value, context }) => ({
    value,
    context: { ...context, stars: context.stars.map((star) => ({ ...star, target: "" })) },
  })),
  "a repeat is answered with another star": onWallet(({ value, context }) => ({
    value,
    context: { ...context, stars: context.stars.map((star) => ({ ...star, id: "star" })) },
  })),
  "the oldest star of the day is forgotten": onWallet(({ value, context }) => ({
    value,
    context: {
      ...context,
      stars: context.stars.length > 1 ? context.stars.slice(1) : context.stars,
    },
  })),
  "a refusal costs a vote": {
    walletDay: {
      ...walletDay,
      step: (state, star) => {
        const [next, decision] = walletDay.step(state, star);
        if (decision.type === "accepted") return [next, decision];
        const spent = { id: star.starId, target: star.starId, at: star.now };
        return [
          { ...state, context: { ...state.context, stars: [...state.context.stars, spent] } },
          decision,
        ];
      },
    },
  },
  "an event forgets which NFTs have counted": onEvent(() => ({ A: {}, B: {} })),
  "an event forgets which collection B serials are spent": onEvent(({ A }) => ({ A, B: {} })),
  "on an event an NFT counts again for its new wallet": onEvent(({ A, B }, star) => ({
    A: Object.fromEntries(Object.entries(A).filter(([, wallet]) => wallet === star.wallet)),
    B,
  })),
  "an event spends the highest collection B serial": {
    eventDay: { ...eventDay, step: (state, star) => eventDay.step(state, reversed(star)) },
  },
  "a forever mint forgets which NFTs are attributed": onMint(() => ({ A: {}, B: {} })),
  "on a forever mint an NFT counts again for its new wallet": onMint(({ A, B }, star) => ({
    A: Object.fromEntries(Object.entries(A).filter(([, wallet]) => wallet === star.wallet)),
    B,
  })),
  "on a forever mint a wallet may carry two bonuses": onMint(({ A, B }) => ({
    A,
    B: ownedBy(B, () => "0.0.1"),
  })),
  "on a forever mint nobody but the first carries a bonus": onMint(({ A, B }, star) => ({
    A,
    B: ownedBy(B, () => star.wallet),
  })),
  "a forever mint spends the highest collection B serial": {
    foreverMint: { ...foreverMint, step: (state, star) => foreverMint.step(state, reversed(star)) },
  },
  "a wallet's star on a forever mint counts every time": {
    foreverMint: {
      ...foreverMint,
      step: (state, star) =>
        foreverMint.step({ ...state, context: { ...state.context, wallets: {} } }, star),
    },
  },
};

for (const [mistake, broken] of Object.entries(mistakes)) {
  test(`"${mistake}" is seen`, () => assertFalls(mistake, { ...realCore, ...broken }));
}

test.run();
