/**
 * Goal: every voting rule holds on any history. Method: random histories of several wallets,
 * days and items, in which NFTs change hands, passes begin and end and the clock stands around
 * midnight, played through the machines and held against sentences of the specification and
 * against the oracle.
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { type AnyStateMachine, initialTransition, transition } from "xstate";
import { dayOf } from "../../actors/day.ts";
import type { DecideEvolve, State } from "../../actors/decide-evolve.ts";
import { eventDay, eventDayMachine } from "../../actors/event-day.ts";
import { foreverMint, foreverMintMachine } from "../../actors/forever-mint.ts";
import {
  mintWallet,
  mintWalletMachine,
  type Standing,
  UNSTARRED,
} from "../../actors/mint-wallet.ts";
import type { Attribution } from "../../actors/nft-accounting.ts";
import { foldWalletDay, walletDay, walletDayMachine } from "../../actors/wallet-day.ts";
import { countWeight } from "../../src/hosting/propose.ts";
import { deepFreeze } from "./facts.ts";
import { onHistories, rules } from "./rules.ts";
import { dayStarOf, type EventState, type Outcome, playOnce, type Row, realCore } from "./world.ts";

const RUNS = 500;

for (const [sentence, rule] of Object.entries(rules))
  test(sentence, () => rule(realCore, { numRuns: RUNS }));

/** Situations without which the properties would prove little. */
const situations: Readonly<Record<string, (outcome: Outcome) => boolean>> = {
  "a repeat refused": ({ decision }) => refusedBy(decision, "ALREADY_STARRED"),
  "a free day exhausted": ({ decision }) => refusedBy(decision, "ALLOWANCE_EXHAUSTED", 5),
  "a premium day exhausted": ({ decision }) => refusedBy(decision, "ALLOWANCE_EXHAUSTED", 20),
  "a twentieth star": ({ row }) => row?.slot === 20,
  "a pass that ended with more than five votes used": ({ decision }) =>
    refusedBy(decision, "ALLOWANCE_EXHAUSTED", 5) && "used" in decision && decision.used > 5,
  "a sixth star after a pass began": ({ row }) => row?.slot === 6,
  "a star that slipped over midnight": ({ intent, row }) =>
    row !== null && row.day !== dayOf(intent.now),
  "a star in the day's last millisecond": ({ row }) =>
    row !== null && row.day !== dayOf(row.at + 1),
  "a star in the day's first millisecond": ({ row }) =>
    row !== null && row.day !== dayOf(row.at - 1),
  "a star for a clock behind the last one": ({ intent, row }) => (row?.at ?? 0) > intent.now,
  "an NFT that had counted for this event today": ({ row }) =>
    withheld(row) > 0 && row?.target.rule.scope === "event-day",
  "a collection B serial spent that is not the lowest held": ({ row }) =>
    row?.decision?.claims.b != null && row.decision.claims.b !== row.holdings.collectionB[0],
  "a bonus withheld though a serial is free": ({ row, eventBefore }) =>
    row?.decision?.claims.b === null &&
    row.holdings.collectionB.some((serial) => eventBefore?.context.counted.B[serial] === undefined),
  "a star on a forever mint that adds nothing": ({ row }) => row?.weight === 0,
  "a second star on a forever mint that adds something": ({ row }) =>
    row?.decision?.breakdown.base === 0 && row.weight > 0,
};

function refusedBy(decision: Outcome["decision"], code: string, limit?: number): boolean {
  return (
    decision.type === "refused" &&
    decision.code === code &&
    (limit === undefined || ("limit" in decision && decision.limit === limit))
  );
}

function withheld(row: Row | null): number {
  if (row === null || row.decision === null) return 0;
  return row.holdings.collectionA.length - row.decision.claims.a.length;
}

/** Runs over the stars of random histories. */
function onOutcomes(holds: (outcome: Outcome) => void, numRuns = RUNS): void {
  onHistories({ numRuns }, (given) => playOnce(realCore, given).outcomes.forEach(holds));
}

test("the histories reach every situation that the rules tell apart", () => {
  const seen = new Map(Object.keys(situations).map((name) => [name, 0]));
  onOutcomes((outcome) => {
    for (const [name, isSo] of Object.entries(situations)) {
      if (isSo(outcome)) seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  });
  for (const [name, times] of seen)
    process.stdout.write(`${String(times).padStart(6)} × ${name}\n`);
  const rare = [...seen].filter(([, times]) => times < 3);
  assert.deepEqual(rare, []);
});

test("the host folds the journal's rows to the live wallet-day", () => {
  onHistories({ numRuns: RUNS }, (given) => {
    const { rows, walletDays } = playOnce(realCore, given);
    for (const [name, live] of walletDays) {
      const { wallet, day } = live.context;
      const stars = rows.filter((row) => row.wallet === wallet && row.day === day).map(dayStarOf);
      const { seasonId } = live.context;
      assert.deepEqual(foldWalletDay({ wallet, day }, stars, seasonId), live, name);
    }
  });
});

/** The part of an event's actor that the journal would load for a star: see `loadSlices`. */
function sliceOf({ context }: EventState, { wallet, holdings }: Row) {
  const { counted } = context;
  const pick = (claims: Readonly<Record<number, Attribution>>, held: readonly number[]) =>
    Object.fromEntries(
      Object.entries(claims)
        .filter(([serial]) => held.includes(Number(serial)))
        .map(([serial, by]) => [serial, { wallet: by.wallet, starId: null, at: null }]),
    );
  const { value } = ("wallets" in context ? context.wallets[wallet] : null) ?? UNSTARRED;
  return {
    counted: { A: pick(counted.A, holdings.collectionA), B: pick(counted.B, holdings.collectionB) },
    standing: value as Standing,
    releases: 0,
    ends: [],
  };
}

test("a slice with the star's own serials decides as the whole event-day and forever mint do", () => {
  let smaller = 0;
  onOutcomes(({ row, eventBefore }) => {
    if (row === null || eventBefore === null) return;
    const slice = sliceOf(eventBefore, row);
    const { breakdown, claims } = countWeight(row, slice);
    assert.deepEqual({ breakdown, claims }, pickDecision(row));
    const { A, B } = eventBefore.context.counted;
    if (size(slice.counted.A) + size(slice.counted.B) < size(A) + size(B)) smaller += 1;
  });
  assert.ok(smaller > 1_000, "slices that leave nothing out prove nothing");
});

function pickDecision({ decision }: Row) {
  assert.ok(decision);
  return { breakdown: decision.breakdown, claims: decision.claims };
}

function size(claims: object): number {
  return Object.keys(claims).length;
}

test("where NFTs are not accounted, a star carries the full voting power", () => {
  onOutcomes(({ row }) => {
    if (row === null || row.decision !== null) return;
    const { collectionA, collectionB } = row.holdings;
    const { breakdown, claims } = countWeight(row, null);
    const collectionBBonus = collectionB.length > 0 ? 5 : 0;
    assert.equal(row.weight, 1 + collectionA.length + collectionBBonus);
    const expected = { base: 1, collectionA: collectionA.length, collectionB: collectionBBonus };
    assert.deepEqual(breakdown, expected);
    assert.equal(claims, null);
  });
});

type Logic<Context> = Pick<
  DecideEvolve<never, Context, never, unknown, never>,
  "decide" | "evolve"
>;

/** Takes a command or a fact with the exported functions and with XState's own `transition()`. */
function stepBoth<Context>(
  machine: AnyStateMachine,
  logic: Logic<Context>,
  { state, event }: { readonly state: State<Context>; readonly event: { readonly type: string } },
): void {
  const frozen = deepFreeze(structuredClone(state));
  const [next, actions] = transition(machine, machine.resolveState({ ...frozen }), event);
  const theirs = { value: next.value, context: next.context };
  const emitted = actions.map((action) => (action.params as { event: unknown }).event);
  // The frozen copy, and the state itself a second time: nothing was kept of the first.
  for (const given of [state, frozen, state]) {
    if (event.type === "star") {
      assert.deepEqual([logic.decide(given, event as never)], emitted);
      assert.deepEqual(theirs, frozen, "a command moves nothing");
    } else {
      assert.deepEqual(logic.evolve(given, event as never), theirs);
      assert.deepEqual(emitted, [], "a fact decides nothing");
    }
  }
  assert.deepEqual(state, frozen, "the state before is left as it was");
}

test("an actor begins as XState's own initialTransition() makes it, and shares nothing with another", () => {
  const text = fc.string();
  const key = fc.record({ wallet: text, day: fc.constantFrom("2026-11-20", "2027-01-01") });
  const both = <Input, Context>(
    machine: AnyStateMachine,
    { initial }: Pick<DecideEvolve<Input, Context, never, unknown, never>, "initial">,
    input: Input,
  ): void => {
    const [{ value, context }] = initialTransition(machine, input);
    const first = initial(input);
    assert.deepEqual(first, { value, context });
    if (input !== undefined) assert.notEqual(initial(input).context, first.context);
  };
  fc.assert(
    fc.property(key, text, ({ wallet, day }, event) => {
      both(walletDayMachine, walletDay, { wallet, day });
      both(eventDayMachine, eventDay, { event, day });
      both(foreverMintMachine, foreverMint, { event });
      both(mintWalletMachine, mintWallet, undefined);
    }),
  );
});

test("the shared scope takes commands and facts as XState's transition(), twice alike, and changes nothing it is given", () => {
  let wallets = 0;
  let events = 0;
  onOutcomes(({ intent, row, eventBefore, walletAfter: state }) => {
    const { target, now } = intent;
    for (const event of [
      { type: "star", target, now },
      { type: "starred", id: "again", target: target.key, at: now },
      { type: "limitSet", seasonId: null },
      { type: "limitSet", seasonId: "season" },
    ] as const) {
      stepBoth(walletDayMachine, walletDay, { state, event });
    }
    wallets += 1;
    if (row === null || eventBefore === null || row.decision === null) return;
    const { wallet, holdings, at, id: starId, decision } = row;
    const { weight, claims } = decision;
    for (const event of [
      { type: "star", wallet, holdings, at },
      { type: "starred", starId, wallet, at, weight, claims },
    ] as const) {
      if ("wallets" in eventBefore.context) {
        const mint = eventBefore as State<typeof eventBefore.context>;
        stepBoth(foreverMintMachine, foreverMint, { state: mint, event });
        const standing = eventBefore.context.wallets[wallet] ?? UNSTARRED;
        const { counted } = eventBefore.context;
        const mintEvent = { ...event, counted };
        stepBoth(mintWalletMachine, mintWallet, { state: standing, event: mintEvent });
      } else {
        const day = eventBefore as State<typeof eventBefore.context>;
        stepBoth(eventDayMachine, eventDay, { state: day, event });
      }
    }
    events += 1;
  });
  assert.ok(wallets > 10_000 && events > 1_000);
});

test.run();
