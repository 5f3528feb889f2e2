/**
 * Goal: the properties cannot pass with wrong rules. Method: break the rules one at a time
 * (each guard inverted, each action left out, each transition and each state taken away, each fact
 * a machine relies on falsified) and show that a property fails for each. A run takes every sixth
 * mutant, others on the next day; `npm run prove:rules` takes all.
 */
import * as assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { test as runTest } from "uvu";
import { type AnyStateMachine, createMachine } from "xstate";
import { decideEvolve } from "../../actors/decide-evolve.ts";
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
import { mintWallet, mintWalletMachine, UNSTARRED } from "../../actors/mint-wallet.ts";
import type { Attribution, Counted } from "../../actors/nft-accounting.ts";
import { type WalletDayState, walletDay, walletDayMachine } from "../../actors/wallet-day.ts";
import { type Change, changesOf, listedStates } from "../support/machine-changes.ts";
import { seasonAt } from "../support/passes.ts";
import { rules } from "./rules.ts";
import { type Core, realCore } from "./world.ts";

const { values } = parseArgs({ options: { all: { type: "boolean" } }, strict: false });
const DAY_MS = 86_400_000;
/** One of so many mutants is run. */
const ONE_OF = values.all ? 1 : 6;
let turn = Math.floor(Date.now() / DAY_MS);

/** Runs the test of a mutant when it is its turn. */
function test(mutant: string, isSeen: () => void): void {
  if (turn++ % ONE_OF === 0) runTest(mutant, isSeen);
}

/** A mutant's failure need not be shrunk. */
const endOnFailure = true;

/** The first sentence that fails with a core; undefined when it survives. */
function fellBy(core: Core, numRuns: number): string | undefined {
  const fell = Object.entries(rules).find(([, rule]) => {
    try {
      rule(core, { numRuns, endOnFailure });
      return false;
    } catch {
      return true;
    }
  });
  return fell?.[0];
}

/** Most mutants fall within a few histories, those that err by a millisecond within more. */
function fallsBy(core: Core): string | undefined {
  return fellBy(core, 20) ?? fellBy(core, 200);
}

/** A machine, and how the rules are run with another in its place. */
interface Exchange {
  readonly machine: AnyStateMachine;
  readonly fallsBy: (machine: AnyStateMachine) => string | undefined;
}

const onDay = { event: "", day: "1970-01-01" };
const exchanges: readonly Exchange[] = [
  {
    machine: walletDayMachine,
    fallsBy: (machine) => {
      const sample = { wallet: "0.0.1", day: "1970-01-01" };
      return fallsBy({ ...realCore, walletDay: decideEvolve(machine, sample) });
    },
  },
  {
    machine: eventDayMachine,
    fallsBy: (machine) => fallsBy({ ...realCore, eventDay: decideEvolve(machine, onDay) }),
  },
  {
    machine: foreverMintMachine,
    fallsBy: (machine) =>
      fallsBy({
        ...realCore,
        foreverMint: decideEvolve(machine, { event: "" }),
        foreverMintCheck: decideEvolve(machine, { event: "" }),
      }),
  },
  {
    machine: mintWalletMachine,
    // The mint's machine asks the exported functions, so the mutant's take their place meanwhile.
    fallsBy: (machine) => {
      const real = { ...mintWallet };
      const mutant = decideEvolve(machine, undefined);
      try {
        Object.assign(mintWallet, mutant);
        Object.assign(UNSTARRED, mutant.initial(undefined));
        return fallsBy({ ...realCore });
      } finally {
        Object.assign(mintWallet, real);
        Object.assign(UNSTARRED, real.initial(undefined));
      }
    },
  },
];

/** The machine with other states; guards and actions stay. */
function withStates(
  machine: AnyStateMachine,
  { states, initial }: Pick<Change, "states" | "initial">,
): AnyStateMachine {
  const config = { ...machine.config, states, initial };
  return createMachine(config as never).provide(machine.implementations as never);
}

/** A machine's states and the first of them, as they are written. */
function writtenStates({ config }: AnyStateMachine): Pick<Change, "states" | "initial"> {
  return { states: listedStates(config.states as never), initial: String(config.initial) };
}

function allChanges(machine: AnyStateMachine): readonly Change[] {
  const { states, initial } = writtenStates(machine);
  return changesOf(states, initial);
}

/** The names of guards and actions in use. */
function partsOf(machine: AnyStateMachine) {
  const branches = Object.values(writtenStates(machine).states).flatMap(({ on }) =>
    Object.values(on).flat(),
  );
  return {
    guards: [...new Set(branches.flatMap(({ guard }) => guard ?? []))],
    actions: [...new Set(branches.flatMap(({ actions }) => actions ?? []))],
  };
}

function assertSeen(mutant: string, sentence: string | undefined): void {
  assert.ok(sentence !== undefined, `${mutant} goes unseen`);
  process.stdout.write(`${mutant}: seen by "${sentence}"\n`);
}

for (const { machine, fallsBy: fallsWith } of exchanges) {
  const { guards, actions } = partsOf(machine);

  test(`${machine.id}: rebuilt as its mutants are, it survives`, () => {
    assert.equal(fallsWith(withStates(machine, writtenStates(machine))), undefined);
  });

  for (const name of guards) {
    test(`${machine.id}: ${name}, inverted, is seen`, () => {
      const guard = machine.implementations.guards[name];
      assert.ok(typeof guard === "function");
      const inverted = (args: never, params: never) => !guard(args, params);
      const mutant = machine.provide({ guards: { [name]: inverted } });
      assertSeen(`not ${name}`, fallsWith(mutant));
    });
  }

  for (const name of actions) {
    test(`${machine.id}: ${name}, left out, is seen`, () => {
      const mutant = machine.provide({ actions: { [name]: () => undefined } });
      assertSeen(`without ${name}`, fallsWith(mutant));
    });
  }

  for (const change of allChanges(machine)) {
    test(`${machine.id}: ${change.name}, is seen`, () => {
      assertSeen(`${machine.id}, ${change.name}`, fallsWith(withStates(machine, change)));
    });
  }
}

runTest("there are guards, actions and states to break", () => {
  const counts = exchanges.map(({ machine }) => {
    const { guards, actions } = partsOf(machine);
    return [machine.id, guards.length, actions.length, allChanges(machine).length];
  });
  assert.deepEqual(counts, [
    ["wallet-day", 5, 6, 17],
    ["event-day", 0, 2, 3],
    ["forever-mint", 0, 4, 5],
    ["mint-wallet", 1, 4, 15],
  ]);
});

type Falsify = (counted: Counted, star: EventStar) => Counted;

const onEvent = (falsify: Falsify): Partial<Core> => ({
  eventDay: {
    ...eventDay,
    decide: (state, star) => eventDay.decide(withCounted(state, falsify, star), star),
  },
});
const onMint = (falsify: Falsify): Partial<Core> => ({
  foreverMint: {
    ...foreverMint,
    decide: (state, star) => foreverMint.decide(withCounted(state, falsify, star), star),
  },
});

function withCounted<S extends EventDayState | ForeverMintState>(
  state: S,
  falsify: Falsify,
  star: EventStar,
): S {
  return { ...state, context: { ...state.context, counted: falsify(state.context.counted, star) } };
}

/** Keeps the NFTs that counted for the star's own wallet alone. */
function ownOf(counted: Counted["A"], { wallet }: EventStar): Counted["A"] {
  return Object.fromEntries(Object.entries(counted).filter(([, by]) => by.wallet === wallet));
}

/** A mint on which the wallet stands otherwise than it does. */
const onStanding = (value: string): Partial<Core> => ({
  foreverMint: {
    ...foreverMint,
    decide: (state, star) => {
      const wallets = { ...state.context.wallets };
      if (wallets[star.wallet] !== undefined) {
        wallets[star.wallet] = { value, context: { votedOn: null } };
      }
      return foreverMint.decide({ ...state, context: { ...state.context, wallets } }, star);
    },
  },
});

function onWallet(falsify: (state: WalletDayState) => WalletDayState): Partial<Core> {
  return {
    walletDay: { ...walletDay, decide: (state, star) => walletDay.decide(falsify(state), star) },
  };
}

const passLater = (ms: number): Partial<Core> => ({
  seasonAt: (at, passes) => seasonAt(at + ms, passes),
});
const reversed = (star: EventStar): EventStar => ({
  ...star,
  holdings: { ...star.holdings, collectionB: star.holdings.collectionB.toReversed() },
});
const elsewhere = (counted: Readonly<Record<number, Attribution>>) =>
  Object.fromEntries(Object.entries(counted).map(([n, by]) => [n, { ...by, wallet: "0.0.1" }]));

/** Wrong rules that no guard stands for, by the mistake each makes. */
const mistakes: Readonly<Record<string, Partial<Core>>> = {
  "a pass is on a millisecond early, and off a millisecond early": passLater(1),
  "a pass is on a millisecond late, and off a millisecond late": passLater(-1),
  "a pass is never on": { seasonAt: () => null },
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
  "a decision costs a vote": {
    walletDay: {
      ...walletDay,
      decide: (state, star) => {
        const { stars } = state.context;
        const spent = { id: "spent", target: "spent", at: star.now };
        Object.assign(state.context, { stars: [...stars, spent] });
        return walletDay.decide(state, star);
      },
    },
  },
  "an event forgets which NFTs have counted": onEvent(() => ({ A: {}, B: {} })),
  "an event forgets which collection B serials are spent": onEvent(({ A }) => ({ A, B: {} })),
  "on an event an NFT counts again for its new wallet": onEvent(({ A, B }, star) => ({
    A: ownOf(A, star),
    B,
  })),
  "an event spends the highest collection B serial": {
    eventDay: { ...eventDay, decide: (state, star) => eventDay.decide(state, reversed(star)) },
  },
  "a forever mint attributes an NFT to another wallet": {
    foreverMint: {
      ...foreverMint,
      evolve: (state, fact) => {
        const next = foreverMint.evolve(state, fact);
        const counted = { ...next.context.counted, A: elsewhere(next.context.counted.A) };
        return { ...next, context: { ...next.context, counted } };
      },
    },
  },
  "a forever mint forgets which NFTs are attributed": onMint(() => ({ A: {}, B: {} })),
  "on a forever mint an NFT counts again for its new wallet": onMint(({ A, B }, star) => ({
    A: ownOf(A, star),
    B,
  })),
  "on a forever mint a wallet may carry two bonuses": onStanding("counted"),
  "on a forever mint no wallet brings the bonus with a second star": onStanding("carrying"),
  "a forever mint spends the highest collection B serial": {
    foreverMint: {
      ...foreverMint,
      decide: (state, star) => foreverMint.decide(state, reversed(star)),
    },
  },
  "a wallet's star on a forever mint counts every time": onStanding("unstarred"),
};

for (const [mistake, broken] of Object.entries(mistakes)) {
  test(`"${mistake}" is seen`, () => assertSeen(mistake, fallsBy({ ...realCore, ...broken })));
}

runTest.run();
