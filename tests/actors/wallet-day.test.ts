import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { transition } from "xstate";
import { dayOf, endOfDay, startOfDay } from "../../actors/day.ts";
import { type StarIntent, targetKey, type WalletDecision } from "../../actors/star.ts";
import {
  type WalletDayState,
  walletDay,
  walletDayMachine,
  walletDayVersion,
} from "../../actors/wallet-day.ts";

const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
let ids = 0;

function star(id: string, change: Partial<StarIntent> = {}): StarIntent {
  ids += 1;
  return {
    type: "star",
    starId: `star-${ids}`,
    target: targetKey("token", id),
    repeatable: false,
    now: NOON,
    limit: 5,
    ...change,
  };
}

/** Given these stars, when the last one is asked, then this is decided. */
function play(...stars: readonly StarIntent[]): [WalletDayState, WalletDecision] {
  let state = walletDay.initial({ wallet: "0.0.1001", day: DAY });
  let decision: WalletDecision | undefined;
  for (const each of stars) [state, decision] = walletDay.step(state, each);
  assert.ok(decision);
  return [state, decision];
}

test("each star costs exactly one vote, and the sixth is refused", () => {
  const five = ["1", "2", "3", "4", "5"].map((id) => star(id));
  const [spent, fifth] = play(...five);
  assert.equal(spent.value, "spent");
  assert.deepEqual(fifth, { type: "accepted", slot: 5, at: NOON + 4 });
  const [after, sixth] = play(...five, star("6"));
  assert.deepEqual(sixth, { type: "refused", code: "ALLOWANCE_EXHAUSTED", limit: 5, used: 5 });
  assert.equal(walletDayVersion(after), 5);
});

test("one star per wallet per item per UTC day, and the refusal names the first star", () => {
  const first = star("7");
  const [state, decision] = play(first, star("7"));
  assert.deepEqual(decision, { type: "refused", code: "ALREADY_STARRED", starId: first.starId });
  assert.equal(walletDayVersion(state), 1);
});

test("a repeat is named before an exhausted allowance", () => {
  const [, decision] = play(...["1", "2", "3", "4", "5"].map((id) => star(id)), star("1"));
  assert.equal(decision.type === "refused" && decision.code, "ALREADY_STARRED");
});

test("a forever mint may be starred again the same day, each time for one vote", () => {
  const again = () => star("m", { target: targetKey("event", "m"), repeatable: true });
  const [state, decision] = play(again(), again(), again());
  assert.deepEqual(decision, { type: "accepted", slot: 3, at: NOON + 2 });
  assert.equal(walletDayVersion(state), 3);
});

test("a pass bought after the fifth star opens the day again; one that ended closes it", () => {
  const five = ["1", "2", "3", "4", "5"].map((id) => star(id));
  const [state, sixth] = play(...five, star("6", { limit: 20 }));
  assert.equal(sixth.type, "accepted");
  assert.equal(state.value, "voting");
  const [, seventh] = walletDay.step(state, star("7", { limit: 5 }));
  assert.deepEqual(seventh, { type: "refused", code: "ALLOWANCE_EXHAUSTED", limit: 5, used: 6 });
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
  repeatable: fc.boolean(),
  now: fc.integer({ min: startOfDay(DAY) - 5, max: endOfDay(DAY) + 5 }),
  limit: fc.constantFrom(5, 20),
});

test("in any order of stars: never over the limit, never twice, instants rise, refusals change nothing", () => {
  fc.assert(
    fc.property(fc.array(anyStar, { maxLength: 60 }), (plan) => {
      let state = walletDay.initial({ wallet: "0.0.1001", day: DAY });
      const once = new Set<string>();
      let lastAt = 0;
      for (const each of plan) {
        const intent = star(each.id, { ...each, target: `${each.id}/${each.repeatable}` });
        const [next, decision] = walletDay.step(state, intent);
        if (decision.type === "refused") {
          assert.deepEqual(next, state);
          continue;
        }
        assert.ok(decision.slot <= each.limit);
        assert.equal(decision.slot, walletDayVersion(state) + 1);
        assert.ok(decision.at > lastAt && dayOf(decision.at) === DAY);
        assert.ok(each.repeatable || !once.has(intent.target));
        once.add(intent.target);
        lastAt = decision.at;
        state = next;
      }
    }),
  );
});

test("the shared scope decides exactly as XState's own transition()", () => {
  fc.assert(
    fc.property(fc.array(anyStar, { maxLength: 30 }), (plan) => {
      let ours = walletDay.initial({ wallet: "0.0.1001", day: DAY });
      for (const each of plan) {
        const intent = star(each.id, each);
        const theirs = walletDayMachine.resolveState({
          value: ours.value as "fresh",
          context: ours.context,
        });
        const [next, actions] = transition(walletDayMachine, theirs, intent);
        const [stepped, decision] = walletDay.step(ours, intent);
        assert.deepEqual(stepped, { value: next.value, context: next.context });
        assert.deepEqual(
          actions.map((action) => (action.params as { event: unknown }).event),
          [decision],
        );
        ours = stepped;
      }
    }),
  );
});

test.run();
