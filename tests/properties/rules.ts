import * as assert from "node:assert/strict";
import fc from "fast-check";
import type { Target } from "../../actors/content.ts";
import { DAY_MS, type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { createOracle, type OracleStar, type OracleVerdict } from "../support/oracle.ts";
import { assertDecidesWithoutChange, assertTakesEveryFact } from "./facts.ts";
import { BEGINNING, type History, history, oracleTarget, TARGETS, WALLETS } from "./histories.ts";
import { assertMintKeepsLedger } from "./mint-ledger.ts";
import {
  type Core,
  eventActor,
  type Outcome,
  play,
  playOnce,
  type Row,
  realCore,
  replay,
  type World,
} from "./world.ts";

/**
 * The properties every core must have, by the sentences they prove. Each is a function of the
 * core, so that the same ones are run against the real rules and against broken ones.
 */

/** The same histories on every run; `STARBOARD_SEED` gives others. fast-check prints the seed. */
export const SEED = Number(process.env.STARBOARD_SEED ?? 20_261_120);

/** @throws when the core breaks the rule; the message holds the smallest failing history */
type Rule = (core: Core, parameters: Runs) => void;
/** How many histories, and whether the first failing one will do as it is. */
export type Runs = Pick<fc.Parameters, "endOnFailure"> & { readonly numRuns: number };

export const rules: Readonly<Record<string, Rule>> = {
  "machines and oracle decide alike, star by star": onWorlds((world, given) => {
    const oracle = createOracle(
      WALLETS.flatMap((wallet) =>
        (given.passes[wallet] ?? []).map(({ startsAt: from, endsAt: to }) => ({
          wallet,
          from,
          to,
        })),
      ),
    );
    const idOf = new Map<OracleStar, string>();
    for (const [n, outcome] of world.outcomes.entries()) {
      const { wallet, target, now, holdings } = outcome.intent;
      const { collectionA: a, collectionB: b } = holdings;
      const verdict = oracle.star({ wallet, target: oracleTarget(target), now, a, b });
      if (verdict.code === "ACCEPTED") idOf.set(verdict.star, `star-${n}`);
      assert.deepEqual(summaryOf(outcome), expectedSummary(verdict, idOf));
    }
    for (const target of TARGETS) {
      for (const day of new Set(world.rows.map((row) => row.day))) {
        const expected = oracle.counter(oracleTarget(target), startOfDay(day));
        assert.equal(counterOf(world, target, day), expected, `${target.id} on ${day}`);
      }
    }
  }),

  "a wallet-day's state says what its prose says": onWorlds(({ outcomes }) => {
    for (const { walletAfter, row } of outcomes) {
      const { stars, limit } = walletAfter.context;
      assert.equal(walletAfter.value, stars.length >= limit ? "spent" : "open");
      if (row !== null) assert.equal(walletAfter.value, row.slot === row.limit ? "spent" : "open");
    }
  }),

  "a refusal changes nothing, and says so of the state it found": onWorlds(({ outcomes }) => {
    for (const { decision, walletBefore, walletAfter } of outcomes) {
      if (decision.type === "accepted") continue;
      assert.deepEqual(walletAfter, walletBefore);
      const { stars } = walletBefore.context;
      if (decision.code === "ALLOWANCE_EXHAUSTED") assert.equal(decision.used, stars.length);
      if (decision.code === "ALREADY_STARRED") {
        assert.ok(
          stars.some(({ id }) => id === decision.starId),
          "the star it names stands",
        );
      }
    }
  }),

  "the allowance is never exceeded, each star costs one vote, and a refusal costs none": onWorlds(
    ({ rows }, { passes }) => {
      for (const stars of byWalletDay(rows)) {
        for (const [n, { wallet, slot, at, seasonId }] of stars.entries()) {
          const on = (passes[wallet] ?? []).filter((p) => p.startsAt <= at && at < p.endsAt);
          const paid = on.length > 0;
          assert.equal(slot, n + 1);
          assert.equal(seasonId, on[0]?.seasonId ?? null, "the star names its pass");
          assert.ok(slot <= (paid ? 20 : 5), `star ${slot} of the day, with a pass: ${paid}`);
          assert.ok(at > (stars[n - 1]?.at ?? 0), "instants rise");
        }
      }
    },
  ),

  "in whatever order stars are wished for, as many are accepted": (core, parameters) =>
    check(
      parameters,
      fc.property(
        fc.array(wish, { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        (wishes, dice) => {
          const shuffled = wishes
            .map((each) => ({ each, key: dice.next().value ?? 0 }))
            .sort((one, two) => one.key - two.key)
            .map(({ each }) => each);
          for (const order of [wishes, shuffled]) {
            const intents = order.map((each, n) => ({ ...each, now: BEGINNING + n }));
            const { rows } = play(core, { intents, passes: {} });
            for (const wallet of WALLETS) {
              const wished = wishes.flatMap((each) =>
                each.wallet === wallet ? [each.target] : [],
              );
              const again = wished.filter((target) => !daily.includes(target)).length;
              const once = new Set(wished.filter((target) => daily.includes(target))).size;
              const accepted = rows.filter((row) => row.wallet === wallet).length;
              assert.equal(accepted, Math.min(5, again + once));
            }
          }
        },
      ),
    ),

  "a decision changes nothing, and is made alike a second time": (core, parameters) =>
    onWorlds((world) => assertDecidesWithoutChange(core, world))(core, parameters),

  "a fact is never refused, in any state that a fold can reach": (core, parameters) =>
    onWorlds((world) => assertTakesEveryFact(core, world))(core, parameters),

  "a forever mint and its check count what its wallets hold, and each wallet stands where it says":
    (core, parameters) => onHistories(parameters, (given) => assertMintKeepsLedger(core, given)),

  "the journal, replayed, is the live state": (core, parameters) =>
    onWorlds((world) => {
      const replayed = replay(core, world.rows);
      assert.deepEqual(replayed.walletDays, world.walletDays);
      assert.deepEqual(replayed.events, world.events);
    })(core, parameters),

  "totals are the sum of weights, and of bases and counted NFTs": onWorlds((world) => {
    for (const [name, { context }] of world.events) {
      const rows = world.rows.filter((row) => actorOf(row) === name);
      assert.equal(context.weight, sum(rows.map(({ weight }) => weight)));
      assert.equal(context.stars, rows.length);
      const bases = "wallets" in context ? Object.keys(context.wallets).length : rows.length;
      const { A, B } = context.counted;
      assert.equal(context.weight, bases + Object.keys(A).length + 5 * Object.keys(B).length);
    }
  }),

  "no serial counts twice per event and day, nor ever on a forever mint": onWorlds(({ rows }) => {
    const claims = rows.flatMap((row) => nftsOf(row).map((nft) => `${actorOf(row)} ${nft}`));
    assert.equal(new Set(claims).size, claims.length);
    for (const { decision, holdings } of rows) {
      if (decision === null) continue;
      const { a, b } = decision.claims;
      assert.ok(
        a.every((serial) => holdings.collectionA.includes(serial)),
        "held when counted",
      );
      assert.ok(b === null || holdings.collectionB.includes(b), "held when counted");
    }
  }),

  "starring a forever mint again adds only NFTs that had not counted there": onWorlds(
    ({ outcomes }) => {
      for (const { row, eventBefore } of outcomes) {
        if (row === null || eventBefore === null || !("wallets" in eventBefore.context)) continue;
        const { wallets, counted } = eventBefore.context;
        const { collectionA, collectionB } = row.holdings;
        const newA = collectionA.filter((serial) => !(serial in counted.A)).length;
        const carries = Object.values(counted.B).some(({ wallet }) => wallet === row.wallet);
        const newB = collectionB.some((serial) => !(serial in counted.B));
        const base = row.wallet in wallets ? 0 : 1;
        assert.equal(row.weight, base + newA + (newB && !carries ? 5 : 0));
      }
    },
  ),

  "the day turns at 00:00:00.000: an item may be starred twice exactly when midnight lies between":
    (core, parameters) =>
      check(
        parameters,
        fc.property(nearMidnight, nearMidnight, fc.constantFrom(...daily), (one, other, target) => {
          const [first, second] = one <= other ? [one, other] : [other, one];
          const { outcomes } = play(core, {
            intents: [first, second].map((now) => ({ ...voterWithoutNfts, target, now })),
            passes: {},
          });
          const [, again] = outcomes;
          // The second star of one instant is dated a millisecond later, perhaps over midnight.
          const at = Math.max(second, first + 1);
          assert.equal(again?.row !== null, dayOf(first) !== dayOf(at));
          if (again?.row) assert.deepEqual([again.row.slot, again.row.at], [1, at]);
        }),
      ),
};

const voterWithoutNfts = {
  wallet: WALLETS[0],
  holdings: { collectionA: [], collectionB: [], readAt: BEGINNING },
};
const wish = fc.record({
  wallet: fc.constantFrom(...WALLETS),
  target: fc.constantFrom(...TARGETS),
  holdings: fc.constant(voterWithoutNfts.holdings),
});
const nearMidnight = fc
  .tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: -3, max: 3 }))
  .map(([days, ms]) => days * DAY_MS + ms);
const daily = TARGETS.filter(({ rule }) => rule.scope !== "forever-mint");

/** A property of what became of random histories. */
function onWorlds(holds: (world: World, given: History) => void): Rule {
  return (core, parameters) =>
    onHistories(parameters, (given) => holds(playOnce(core, given), given));
}

const drawn = new Map<number, readonly History[]>();

/** The histories that fast-check draws for so many runs. */
function historiesOf(numRuns: number): readonly History[] {
  const known = drawn.get(numRuns);
  if (known !== undefined) return known;
  const histories: History[] = [];
  const keep = fc.property(history, (given) => void histories.push(given));
  fc.assert(keep, { seed: SEED, numRuns });
  drawn.set(numRuns, histories);
  return histories;
}

/**
 * A property of random histories, which are drawn once for all of them. Where one fails, fast-check
 * draws them again and finds the smallest.
 */
export function onHistories(
  { numRuns, endOnFailure }: Runs,
  holds: (given: History) => void,
): void {
  try {
    historiesOf(numRuns).forEach(holds);
  } catch (error) {
    if (!endOnFailure) fc.assert(fc.property(history, holds), { seed: SEED, numRuns });
    throw error;
  }
}

/** The actor that accounted for a star. */
function actorOf({ target, day }: Row): string | undefined {
  return eventActor(realCore, { target, day })?.name;
}

function check<T>(parameters: Runs, property: fc.IProperty<T>): void {
  fc.assert(property, { seed: SEED, ...parameters });
}

/** A machine's answer and the oracle's, in the same words. */
function summaryOf({ decision, row }: Outcome) {
  if (decision.type === "refused") return decision;
  const { type, slot, at, limit } = decision;
  return { type, slot, at, day: row?.day, limit, weight: row?.weight, nfts: nftsOf(row) };
}

function expectedSummary(verdict: OracleVerdict, idOf: ReadonlyMap<OracleStar, string>) {
  if (verdict.code === "ALLOWANCE_EXHAUSTED") return { type: "refused", ...verdict };
  const { slot, at, limit, weight, nfts, target } = verdict.star;
  return verdict.code === "ALREADY_STARRED"
    ? { type: "refused", code: verdict.code, starId: idOf.get(verdict.star) }
    : {
        type: "accepted",
        slot,
        at,
        day: dayOf(at),
        limit,
        weight,
        nfts: target.kind === "asset" ? [] : nfts,
      };
}

/** The NFTs a star used up on its event. */
function nftsOf(row: Row | null): readonly string[] {
  const { a = [], b = null } = row?.decision?.claims ?? {};
  return [...a.map((serial) => `A${serial}`), ...(b === null ? [] : [`B${b}`])];
}

/** What a target's counter shows on a day, from the actors where there are any. */
function counterOf(world: World, target: Target, day: Day): number {
  const contexts = [...world.events.values()].map(({ context }) => context);
  return target.type === "event"
    ? sum(contexts.filter(({ event }) => event === target.id).map(({ weight }) => weight))
    : sum(
        world.rows
          .filter((row) => row.target === target && row.day === day)
          .map(({ weight }) => weight),
      );
}

/** The stars of each wallet-day, as accepted. */
function byWalletDay(rows: readonly Row[]): readonly (readonly Row[])[] {
  const days = new Map<string, Row[]>();
  for (const row of rows) {
    const name = `${row.wallet} ${row.day}`;
    days.set(name, [...(days.get(name) ?? []), row]);
  }
  return [...days.values()];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
