import * as assert from "node:assert/strict";
import { voteLimit } from "../../actors/allowance.ts";
import type { WalletDayFact, WalletDayState } from "../../actors/wallet-day.ts";
import { type Core, dayStarOf, eventActor, fold, type World } from "./world.ts";

/**
 * Commands and facts: a decision leaves the state as it was, a fact is taken in any state that a
 * fold can reach.
 */

/** Decides every star of a history again, on states that cannot be written to. */
export function assertDecidesWithoutChange(core: Core, { outcomes }: World): void {
  for (const { intent, decision, walletBefore, row, eventBefore } of outcomes) {
    const { target } = intent;
    // Where its instant slipped over midnight, the day that took it was asked at its own instant.
    const now = row?.at ?? intent.now;
    const frozen = deepFreeze(structuredClone(walletBefore));
    if (decision.type === "accepted") {
      assert.deepEqual(core.walletDay.decide(frozen, { type: "star", target, now }), decision);
    } else core.walletDay.decide(frozen, { type: "star", target, now });
    assert.deepEqual(frozen, walletBefore);
    const actor = row === null ? null : eventActor(core, row);
    if (row === null || actor === null || eventBefore === null) continue;
    const event = deepFreeze(structuredClone(eventBefore));
    assert.deepEqual(actor.decide(event, row), row.decision);
  }
}

/**
 * Folds the beginning of every wallet's day under no pass and under one, and adds each kind of
 * fact: none is refused, and the state is `spent` exactly where no vote is left.
 */
export function assertTakesEveryFact(core: Core, { rows }: World): void {
  for (const last of rows) {
    const { wallet, day } = last;
    const own = rows.filter((row) => row.wallet === wallet && row.day === day);
    const stars = own.slice(0, own.indexOf(last) + 1).map(dayStarOf);
    for (const seasonId of [null, "season"]) {
      const state = fold(core, { wallet, day }, { stars, seasonId });
      assertIsWhatItsStarsSay(state, stars.length, seasonId);
      const at = last.at + 1;
      const facts: readonly [WalletDayFact, number, string | null][] = [
        [{ type: "starred", id: "one more", target: "token/more", at }, stars.length + 1, seasonId],
        [{ type: "limitSet", seasonId: null }, stars.length, null],
        [{ type: "limitSet", seasonId: "another" }, stars.length, "another"],
      ];
      for (const [fact, used, season] of facts) {
        assertIsWhatItsStarsSay(core.walletDay.evolve(deepFreeze(state), fact), used, season);
      }
    }
  }
}

function assertIsWhatItsStarsSay(
  { value, context }: WalletDayState,
  used: number,
  seasonId: string | null,
): void {
  const limit = voteLimit(context.day, seasonId);
  assert.deepEqual(
    [context.stars.length, context.limit, context.seasonId],
    [used, limit, seasonId],
  );
  assert.equal(value, used >= limit ? "spent" : "open");
}

/** Makes writing to a value, or to anything in it, an error. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
