/**
 * Goal: "the allowance resets at 00:00 UTC", to the millisecond, at every kind of midnight.
 * Method: forty instants, each with the day it belongs to and the instant that day ends, and
 * every rule that looks at time asked about each of them.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { allowanceOf } from "../../actors/allowance.ts";
import { targetOf } from "../../actors/content.ts";
import { DAY_MS, dayOf, endOfDay, startOfDay } from "../../actors/day.ts";
import { instantOf, type WalletDayState, type WalletDecision } from "../../actors/wallet-day.ts";
import { type WalletStar, walletDaySteps } from "../support/steps.ts";

/** Instant, the UTC day it belongs to, the day after. */
const INSTANTS: readonly (readonly [string, string, string])[] = [
  // An ordinary midnight, millisecond by millisecond.
  ["2026-11-20T23:59:59.000Z", "2026-11-20", "2026-11-21"],
  ["2026-11-20T23:59:59.998Z", "2026-11-20", "2026-11-21"],
  ["2026-11-20T23:59:59.999Z", "2026-11-20", "2026-11-21"],
  ["2026-11-21T00:00:00.000Z", "2026-11-21", "2026-11-22"],
  ["2026-11-21T00:00:00.001Z", "2026-11-21", "2026-11-22"],
  ["2026-11-21T00:00:00.002Z", "2026-11-21", "2026-11-22"],
  ["2026-11-21T00:00:01.000Z", "2026-11-21", "2026-11-22"],
  ["2026-11-20T12:00:00.000Z", "2026-11-20", "2026-11-21"],
  // The same instants in other time zones.
  ["2026-11-21T00:59:59.999+01:00", "2026-11-20", "2026-11-21"],
  ["2026-11-21T01:00:00.000+01:00", "2026-11-21", "2026-11-22"],
  ["2026-11-20T18:59:59.999-05:00", "2026-11-20", "2026-11-21"],
  ["2026-11-20T19:00:00.000-05:00", "2026-11-21", "2026-11-22"],
  // Ends of months.
  ["2026-11-30T23:59:59.999Z", "2026-11-30", "2026-12-01"],
  ["2026-12-01T00:00:00.000Z", "2026-12-01", "2026-12-02"],
  ["2027-04-30T23:59:59.999Z", "2027-04-30", "2027-05-01"],
  ["2027-05-01T00:00:00.000Z", "2027-05-01", "2027-05-02"],
  // Ends of years.
  ["2026-12-31T23:59:59.998Z", "2026-12-31", "2027-01-01"],
  ["2026-12-31T23:59:59.999Z", "2026-12-31", "2027-01-01"],
  ["2027-01-01T00:00:00.000Z", "2027-01-01", "2027-01-02"],
  ["2027-01-01T00:00:00.001Z", "2027-01-01", "2027-01-02"],
  ["1999-12-31T23:59:59.999Z", "1999-12-31", "2000-01-01"],
  ["2000-01-01T00:00:00.000Z", "2000-01-01", "2000-01-02"],
  // February: a leap year, a common year, and centuries with and without the day.
  ["2028-02-28T23:59:59.999Z", "2028-02-28", "2028-02-29"],
  ["2028-02-29T00:00:00.000Z", "2028-02-29", "2028-03-01"],
  ["2028-02-29T23:59:59.999Z", "2028-02-29", "2028-03-01"],
  ["2028-03-01T00:00:00.000Z", "2028-03-01", "2028-03-02"],
  ["2027-02-28T23:59:59.999Z", "2027-02-28", "2027-03-01"],
  ["2027-03-01T00:00:00.000Z", "2027-03-01", "2027-03-02"],
  ["2000-02-29T23:59:59.999Z", "2000-02-29", "2000-03-01"],
  ["2100-02-28T23:59:59.999Z", "2100-02-28", "2100-03-01"],
  ["2100-03-01T00:00:00.000Z", "2100-03-01", "2100-03-02"],
  // Midnights whose local clocks jump; UTC knows no summer time.
  ["2027-03-27T23:59:59.999Z", "2027-03-27", "2027-03-28"],
  ["2027-03-28T00:00:00.000Z", "2027-03-28", "2027-03-29"],
  ["2026-10-24T23:59:59.999Z", "2026-10-24", "2026-10-25"],
  ["2026-10-25T00:00:00.000Z", "2026-10-25", "2026-10-26"],
  // A leap second was inserted after this one: Unix time, and so the day, does not see it.
  ["2016-12-31T23:59:59.999Z", "2016-12-31", "2017-01-01"],
  ["2017-01-01T00:00:00.000Z", "2017-01-01", "2017-01-02"],
  // The most extreme instants that may occur.
  ["1970-01-01T00:00:00.000Z", "1970-01-01", "1970-01-02"],
  ["1969-12-31T23:59:59.999Z", "1969-12-31", "1970-01-01"],
  ["9999-12-30T23:59:59.999Z", "9999-12-30", "9999-12-31"],
];

const instants = INSTANTS.map(([text, day, nextDay]) => ({
  text,
  at: Date.parse(text),
  day,
  nextDay,
}));
const steps = walletDaySteps();
const token = (id: string) => targetOf({ type: "token", id, eventKind: null, ledgerId: null });

function star(now: number, id = "0.0.9001"): WalletStar {
  return { starId: `at ${now}`, target: token(id), now, seasonId: null };
}

/** The wallet-day of a day, after these stars. */
function cast(day: string, ...stars: readonly WalletStar[]): [WalletDayState, WalletDecision[]] {
  let state = steps.initial({ wallet: "0.0.1001", day });
  const decisions = stars.map((each) => {
    const [next, decision] = steps.step(state, each);
    state = next;
    return decision;
  });
  return [state, decisions];
}

const accepted = (slot: number, at: number) => ({
  type: "accepted",
  slot,
  at,
  limit: 5,
  seasonId: null,
});

test("forty instants: each belongs to its day, and that day ends when the next begins (A13 midnight, P10)", () => {
  assert.equal(instants.length, 40);
  assert.equal(new Set(instants.map(({ text }) => text)).size, 40);
  for (const { text, at, day, nextDay } of instants) {
    assert.equal(dayOf(at), day, text);
    assert.equal(endOfDay(day), Date.parse(`${nextDay}T00:00:00Z`), text);
    assert.equal(startOfDay(nextDay), endOfDay(day), text);
    assert.ok(startOfDay(day) <= at && at < endOfDay(day), text);
  }
});

test("only the actor of a star's own day takes it, at its own instant", () => {
  for (const { text, at, day, nextDay } of instants) {
    assert.deepEqual(cast(day, star(at))[1], [accepted(1, at)], text);
    const dayBefore = dayOf(startOfDay(day) - 1);
    for (const other of [dayBefore, nextDay]) {
      const [state, decisions] = cast(other, star(at));
      assert.deepEqual(decisions, [{ type: "refused", code: "OTHER_DAY" }], text);
      assert.equal(state.context.stars.length, 0, text);
    }
  }
});

test("stars of one instant follow each other by a millisecond, and the day's last millisecond holds one", () => {
  for (const { text, at, day } of instants) {
    const three = [star(at), star(at, "2"), star(at, "3")];
    const [state, decisions] = cast(day, ...three);
    const room = Math.min(3, endOfDay(day) - at);
    const expected = three.map((_, n) =>
      n < room ? accepted(n + 1, at + n) : { type: "refused", code: "OTHER_DAY" },
    );
    assert.deepEqual(decisions, expected, text);
    assert.equal(instantOf(state.context, at), at + room, text);
  }
});

test("an item starred in the day's last millisecond may be starred again in the next day's first", () => {
  for (const { text, day, nextDay } of instants) {
    const midnight = endOfDay(day);
    const [, [last]] = cast(day, star(midnight - 1));
    const [, [first]] = cast(nextDay, star(midnight));
    assert.deepEqual(last, accepted(1, midnight - 1), text);
    assert.deepEqual(first, accepted(1, midnight), text);
  }
});

test("no vote, used or unused, is carried over 00:00:00.000: a fresh day follows an exhausted one", () => {
  for (const { text, day, nextDay } of instants) {
    const five = [1, 2, 3, 4, 5].map((n) => star(startOfDay(day), `${n}`));
    const late = star(endOfDay(day) - 1, "6");
    const [, decisions] = cast(day, ...five, late);
    const exhausted = { type: "refused", code: "ALLOWANCE_EXHAUSTED", limit: 5, used: 5 };
    assert.deepEqual(decisions.at(-1), exhausted, text);
    const [, [next]] = cast(nextDay, { ...late, now: endOfDay(day) });
    assert.deepEqual(next, accepted(1, endOfDay(day)), text);
  }
});

test("the reset time shown is the day's end, and what remains is never below zero", () => {
  for (const { text, at, nextDay } of instants) {
    const resetsAt = Date.parse(`${nextDay}T00:00:00Z`);
    for (const [limit, used, remaining] of [
      [5, 0, 5],
      [5, 2, 3],
      [5, 5, 0],
      [20, 5, 15],
      // The pass ended after the seventh star.
      [5, 7, 0],
    ] as const) {
      assert.deepEqual(
        allowanceOf(dayOf(at), limit, used),
        { limit, used, remaining, resetsAt },
        text,
      );
    }
    assert.ok(resetsAt - at >= 1 && resetsAt - at <= DAY_MS, text);
    assert.equal(dayOf(resetsAt), nextDay, text);
  }
});

test.run();
