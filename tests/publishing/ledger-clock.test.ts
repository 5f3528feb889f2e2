import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { createLedgerClock } from "../../src/publishing/ledger-clock.ts";
import { createRandom } from "../sim/random.ts";

const SECOND = 1_000_000_000n;
const T0 = 1_795_161_600n * SECOND;

/** What nodes say to an id dated by the clock, until they take it. @returns the refusals it took */
function untilAccepted(
  clock: ReturnType<typeof createLedgerClock>,
  ledgerNow: () => bigint,
): number {
  for (let refusals = 0; refusals < 100; refusals++) {
    const start = clock.nextStart();
    const until = start + 120n * SECOND;
    if (start > ledgerNow()) clock.refusedAsEarly(start);
    else if (until - 10n * SECOND < ledgerNow()) clock.refusedAsExpired(until);
    else {
      clock.accepted();
      return refusals;
    }
  }
  throw new Error("never accepted");
}

const skew = fc.bigInt({ min: -30n * 86_400n * SECOND, max: 30n * 86_400n * SECOND });

test("any clock finds the ledger's time in a few refusals", () => {
  fc.assert(
    fc.property(skew, (off) => {
      const clock = createLedgerClock(() => T0 + off);
      assert.ok(untilAccepted(clock, () => T0) <= 45);
    }),
  );
});

test("a clock that is right within ten seconds is refused nothing", () => {
  for (const off of [-90n, -5n, 0n, 9n]) {
    const clock = createLedgerClock(() => T0 + off * SECOND);
    assert.equal(
      untilAccepted(clock, () => T0),
      0,
    );
  }
});

test("it finds the time again after the machine's clock or the ledger's has jumped", () => {
  fc.assert(
    fc.property(skew, skew, skew, (first, second, stale) => {
      let off = first;
      const clock = createLedgerClock(() => T0 + off);
      clock.sawConsensus(T0 - (stale < 0n ? -stale : stale));
      untilAccepted(clock, () => T0);
      off = second;
      assert.ok(untilAccepted(clock, () => T0) <= 80);
    }),
  );
});

test("many ids refused at once are one fact: the clock is not driven far beyond the ledger's", () => {
  for (const behind of [150n, 400n, -150n, -400n]) {
    const clock = createLedgerClock(() => T0 - behind * SECOND);
    for (let round = 0; round < 8; round++) {
      const starts = Array.from({ length: 20 }, () => clock.nextStart());
      for (const start of starts) {
        if (start > T0) clock.refusedAsEarly(start);
        else if (start + 110n * SECOND < T0) clock.refusedAsExpired(start + 120n * SECOND);
      }
      const beyond = clock.nextStart() - T0;
      assert.ok(behind < 0n || beyond < 300n * SECOND, `${beyond / SECOND} s beyond`);
    }
    const start = clock.nextStart();
    assert.ok(start <= T0 && start + 110n * SECOND >= T0, `${behind}: not found in 8 rounds`);
  }
});

test("a node that wrongly says expired now and then drives the clock by minutes, not by centuries", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = createRandom(seed);
    let now = T0;
    const clock = createLedgerClock(() => now);
    for (let sends = 0; sends < 400; sends++) {
      const start = clock.nextStart();
      const until = start + 120n * SECOND;
      assert.ok(start - now < 3_600n * SECOND, `${(start - now) / SECOND} s ahead`);
      if (random.chance(0.05) || until - 10n * SECOND < now) clock.refusedAsExpired(until);
      else if (start > now) clock.refusedAsEarly(start);
      else clock.accepted();
      now += SECOND / 10n;
    }
  }
});

test("a consensus timestamp ahead of the clock moves it forward, one behind changes nothing", () => {
  const clock = createLedgerClock(() => T0);
  clock.sawConsensus(T0 - 50n * SECOND);
  assert.equal(clock.now(), T0);
  clock.sawConsensus(T0 + 50n * SECOND);
  assert.equal(clock.now(), T0 + 50n * SECOND);
});

test("ids start ten seconds in the past, as nodes with clocks of their own want it", () => {
  assert.equal(createLedgerClock(() => T0).nextStart(), T0 - 10n * SECOND);
});

test("the machine's own clock is the first guess, to the microsecond", () => {
  const now = createLedgerClock().now();
  const wall = BigInt(Date.now()) * 1_000_000n;
  assert.ok(now - wall < SECOND && wall - now < SECOND);
});

test.run();
