import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { transition } from "xstate";
import { targetOf } from "../../actors/content.ts";
import { dayOf, endOfDay, startOfDay } from "../../actors/day.ts";
import {
  foldWalletDay,
  type WalletDayState,
  type WalletDecision,
  walletDay,
  walletDayMachine,
} from "../../actors/wallet-day.ts";
import { type WalletStar, walletDaySteps } from "../support/steps.ts";

const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
const steps = walletDaySteps();
let ids = 0;

const mint = targetOf({ type: "event", id: "m", eventKind: "FOREVER_MINT", ledgerId: null });

function star(id: string, change: Partial<WalletStar> = {}): WalletStar {
  ids += 1;
  const target = targetOf({ type: "token", id, eventKind: null, ledgerId: null });
  return { starId: `star-${ids}`, target, now: NOON, seasonId: null, ...change };
}

/** Given these stars, when the last one is asked, then this is decided. */
function play(...stars: readonly WalletStar[]): [WalletDayState, WalletDecision] {
  let state = steps.initial({ wallet: "0.0.1001", day: DAY });
  let decision: WalletDecision | undefined;
  for (const each of stars) [state, decision] = steps.step(state, each);
  assert.ok(decision);
  return [state, decision];
}

/** An accepted star of a day without a pass. */
const accepted = (slot: number, at: number, limit = 5, seasonId: string | null = null) => ({
  type: "accepted",
  slot,
  at,
  limit,
  seasonId,
});

test("each star costs exactly one vote, and the sixth is refused", () => {
  const five = ["1", "2", "3", "4", "5"].map((id) => star(id));
  const [spent, fifth] = play(...five);
  assert.equal(spent.value, "spent");
  assert.deepEqual(fifth, accepted(5, NOON + 4));
  const [after, sixth] = play(...five, star("6"));
  assert.deepEqual(sixth, { type: "refused", code: "ALLOWANCE_EXHAUSTED", limit: 5, used: 5 });
  assert.equal(after.context.stars.length, 5);
});

test("one star per wallet per item per UTC day, and the refusal names the first star", () => {
  const first = star("7");
  const [state, decision] = play(first, star("7"));
  assert.deepEqual(decision, { type: "refused", code: "ALREADY_STARRED", starId: first.starId });
  assert.equal(state.context.stars.length, 1);
});

test("a repeat is refused as a repeat, also when the allowance is exhausted", () => {
  const [, decision] = play(...["1", "2", "3", "4", "5"].map((id) => star(id)), star("1"));
  assert.equal(decision.type === "refused" && decision.code, "ALREADY_STARRED");
});

test("a forever mint may be starred again the same day, each time for one vote", () => {
  const again = () => star("m", { target: mint });
  const [state, decision] = play(again(), again(), again());
  assert.deepEqual(decision, accepted(3, NOON + 2));
  assert.equal(state.context.stars.length, 3);
});

test("a pass bought after the fifth star opens the day again; one that ended closes it", () => {
  const five = ["1", "2", "3", "4", "5"].map((id) => star(id));
  const [state, sixth] = play(...five, star("6", { seasonId: "season" }));
  assert.deepEqual(sixth, accepted(6, NOON + 5, 20, "season"));
  assert.equal(state.value, "open");
  const [closed, seventh] = steps.step(state, star("7"));
  assert.deepEqual(seventh, { type: "refused", code: "ALLOWANCE_EXHAUSTED", limit: 5, used: 6 });
  assert.equal(closed.value, "spent");
});

test("a pass opens the day where its limit leaves a vote, and its end spends the day where none is left", () => {
  const stars = Array.from({ length: 5 }, (_, n) => ({ id: `${n}`, target: `token/${n}`, at: n }));
  const states = (seasons: readonly (string | null)[], count: number) => {
    let state = foldWalletDay({ wallet: "0.0.1001", day: DAY }, stars.slice(0, count), null);
    return seasons.map((seasonId) => {
      state = walletDay.evolve(state, { type: "limitSet", seasonId });
      return `${state.value} ${state.context.limit}`;
    });
  };
  assert.deepEqual(states(["s", "t", null, null, "s"], 5), [
    "open 20",
    "open 20",
    "spent 5",
    "spent 5",
    "open 20",
  ]);
  assert.deepEqual(states(["s", null], 4), ["open 20", "open 5"]);
});

test("a command changes nothing, and an event that is no fact of the machine is an error", () => {
  const state = foldWalletDay({ wallet: "0.0.1001", day: DAY }, [], null);
  const odd = (event: unknown) => event as never;
  assert.throws(() => walletDay.evolve(state, odd({ type: "unknown" })), /has no handler/);
  assert.throws(() => walletDay.evolve(state, odd({ ...star("1"), type: "star" })), /was decided/);
  assert.throws(() => walletDay.decide(state, odd({ type: "unknown" })), /made 0 decisions/);
  const fact = { type: "limitSet", seasonId: "season" };
  assert.throws(() => walletDay.decide(state, odd(fact)), /made 0 decisions/);
});

test("00:00:00.000 UTC belongs to the new day", () => {
  const [, last] = play(star("1", { now: endOfDay(DAY) - 1 }));
  assert.equal(last.type, "accepted");
  const [, next] = play(star("1", { now: endOfDay(DAY) }));
  assert.deepEqual(next, { type: "refused", code: "OTHER_DAY" });
  const [, before] = play(star("1", { now: startOfDay(DAY) - 1 }));
  assert.deepEqual(before, { type: "refused", code: "OTHER_DAY" });
});

test("the millisecond after the last star never slips into the next day unseen", () => {
  const now = endOfDay(DAY) - 1;
  const [, second] = play(star("1", { now }), star("2", { now }));
  assert.deepEqual(second, { type: "refused", code: "OTHER_DAY" });
});

const anyStar = fc.record({
  id: fc.constantFrom("1", "2", "3", "4", "5", "6", "7"),
  isOnMint: fc.boolean(),
  now: fc.integer({ min: startOfDay(DAY) - 5, max: endOfDay(DAY) + 5 }),
  seasonId: fc.constantFrom(null, "season"),
});
type AnyStar = typeof anyStar extends fc.Arbitrary<infer Each> ? Each : never;

const wishOf = ({ id, isOnMint, now, seasonId }: AnyStar): WalletStar =>
  star(id, { now, seasonId, ...(isOnMint && { target: mint }) });

test("in any order of stars: never over the limit, never twice, instants rise, refusals add nothing", () => {
  fc.assert(
    fc.property(fc.array(anyStar, { maxLength: 60 }), (plan) => {
      let state = steps.initial({ wallet: "0.0.1001", day: DAY });
      const once = new Set<string>();
      let lastAt = 0;
      for (const each of plan) {
        const wish = wishOf(each);
        const [next, decision] = steps.step(state, wish);
        const { stars, limit } = next.context;
        assert.equal(limit, each.seasonId === null ? 5 : 20);
        assert.equal(next.value, stars.length >= limit ? "spent" : "open");
        if (decision.type === "refused") {
          assert.deepEqual(stars, state.context.stars);
          state = next;
          continue;
        }
        assert.ok(decision.slot <= decision.limit);
        assert.equal(decision.slot, state.context.stars.length + 1);
        assert.ok(decision.at > lastAt && dayOf(decision.at) === DAY);
        assert.ok(each.isOnMint || !once.has(each.id));
        if (!each.isOnMint) once.add(each.id);
        lastAt = decision.at;
        state = next;
      }
    }),
  );
});

test("the shared scope decides and evolves exactly as XState's own transition() (A25 model)", () => {
  fc.assert(
    fc.property(fc.array(anyStar, { maxLength: 30 }), (plan) => {
      let ours = walletDay.initial({ wallet: "0.0.1001", day: DAY });
      const theirs = (event: Parameters<typeof transition<typeof walletDayMachine>>[2]) => {
        const from = walletDayMachine.resolveState({
          value: ours.value as "open",
          context: ours.context,
        });
        const [{ value, context }, actions] = transition(walletDayMachine, from, event);
        const emitted = actions.map((action) => (action.params as { event: unknown }).event);
        return { next: { value, context }, emitted };
      };
      for (const each of plan) {
        const { target, now, starId: id, seasonId } = wishOf(each);
        const limitSet = { type: "limitSet", seasonId } as const;
        const command = { type: "star", target, now } as const;
        const starred = { type: "starred", id, target: target.key, at: now } as const;
        for (const fact of [limitSet, starred] as const) {
          const decided = theirs(command);
          assert.deepEqual(decided.emitted, [walletDay.decide(ours, command)]);
          assert.deepEqual(decided.next, ours, "a command moves nothing");
          const { next, emitted } = theirs(fact);
          const evolved = walletDay.evolve(ours, fact);
          assert.deepEqual([evolved, []], [next, emitted]);
          ours = evolved;
        }
      }
    }),
  );
});

test.run();
