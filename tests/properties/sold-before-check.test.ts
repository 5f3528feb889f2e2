/**
 * Goal: whatever is sold, starred and checked in whatever order, a forever mint counts each NFT for
 * the wallet that the rule names. Method: random histories over several days are played by the
 * functions that decide a star, and beside them by a list of who carries what, in the contract's words:
 * "until the day's check has done a mint, a star there that brings a serial attributed before today
 * to another wallet releases it first".
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { targetOf } from "../../actors/content.ts";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import type { CountedNft } from "../../src/holdings/read-holdings.ts";
import { countWeight } from "../../src/hosting/propose.ts";
import { withSold } from "../../src/hosting/sold-before-check.ts";
import type { Slice } from "../../src/journal/load.ts";
import type { LiveClaim } from "../../src/journal/mint-end.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { SEED } from "./rules.ts";

const WALLETS = ["0.0.1001", "0.0.1002", "0.0.1003"] as const;
const target = targetOf({ type: "event", id: "mint", eventKind: "FOREVER_MINT", ledgerId: null });
const START = Date.parse("2026-11-20T00:00:10Z");

const nft = fc.record({ of: fc.constantFrom("A", "B"), serial: fc.integer({ min: 1, max: 3 }) });
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("star"), wallet: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("sell"), wallet: fc.nat(2), nft }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("midnight", "checked") }) },
);
type Action = typeof action extends fc.Arbitrary<infer Each> ? Each : never;

type Key = `${"A" | "B"}${number}`;

/** Who carries what since when, as plain entries; `B` entries are the +5s. */
interface Model {
  readonly by: Map<Key, { wallet: string; day: string }>;
  readonly starred: Set<string>;
}

/** The weight of a star by the rule's words; updates the entries. */
function applyRule({ by, starred }: Model, wallet: string, world: World): number {
  const held = (of: string, who: string) =>
    [...world.owner].filter(([key, owner]) => key[0] === of && owner === who).map(([key]) => key);
  const mine = [...held("A", wallet), ...held("B", wallet)].sort();
  const old = mine.flatMap((key) => {
    const entry = by.get(key);
    const isOld = entry !== undefined && entry.wallet !== wallet && entry.day < world.day;
    return isOld && !world.isChecked ? [[key, entry] as const] : [];
  });
  for (const [key] of old) by.delete(key);
  for (const [key, { wallet: seller }] of old) {
    if (key[0] === "A") continue;
    const spare = held("B", seller)
      .sort()
      .find((other) => !by.has(other));
    // The seller's +5 goes on with another NFT; it is carried anew from today.
    if (spare !== undefined) by.set(spare, { wallet: seller, day: world.day });
  }
  const fresh = held("A", wallet).filter((key) => !by.has(key));
  const carries = [...by].some(([key, entry]) => key[0] === "B" && entry.wallet === wallet);
  const bonus = carries
    ? undefined
    : held("B", wallet)
        .sort()
        .find((key) => !by.has(key));
  for (const key of fresh) by.set(key, { wallet, day: world.day });
  if (bonus !== undefined) by.set(bonus, { wallet, day: world.day });
  const base = starred.has(wallet) ? 0 : 1;
  starred.add(wallet);
  return base + fresh.length + (bonus === undefined ? 0 : 5);
}

interface World {
  day: string;
  isChecked: boolean;
  readonly owner: Map<Key, string>;
}

/** Claims as the journal keeps them. */
class Claims {
  readonly live = new Map<Key, LiveClaim>();
  readonly starred = new Set<string>();
  total = 0;
  ended = 0;

  slice(wallet: string, a: readonly number[], b: readonly number[]): Slice {
    const pick = (of: "A" | "B", serials: readonly number[]) =>
      Object.fromEntries(
        serials.flatMap((serial) => {
          const claim = this.live.get(`${of}${serial}`);
          return claim === undefined
            ? []
            : [[serial, { wallet: claim.wallet, starId: null, at: null }]];
        }),
      );
    const carries = [...this.live].some(
      ([key, claim]) => key[0] === "B" && claim.wallet === wallet,
    );
    const standing = carries ? "carrying" : this.starred.has(wallet) ? "counted" : "unstarred";
    return { counted: { A: pick("A", a), B: pick("B", b) }, standing, releases: 0, ends: [] };
  }
}

async function star(claims: Claims, world: World, wallet: string, at: number): Promise<number> {
  const serials = (of: string, who = wallet) =>
    [...world.owner]
      .filter(([key, owner]) => key[0] === of && owner === who)
      .map(([key]) => Number(key.slice(1)))
      .sort((one, other) => one - other);
  const holdings = { collectionA: serials("A"), collectionB: serials("B"), readAt: at };
  const deps = {
    readHoldings: async (who: string) => ({
      collectionA: serials("A", who),
      collectionB: serials("B", who),
      readAt: at,
    }),
    hasTaken: async (who: string, { collection, serial }: CountedNft) =>
      world.owner.get(`${collection}${serial}`) === who,
    isMintChecked: async () => world.isChecked,
    claimsOn: async (_mint: string, of: "A" | "B", asked: readonly number[]) =>
      asked.flatMap((serial) => claims.live.get(`${of}${serial}`) ?? []),
  };
  const known = claims.slice(wallet, holdings.collectionA, holdings.collectionB);
  const slice = await withSold(
    deps,
    { target, wallet, holdings },
    { day: dayOf(at), slice: known },
  );
  for (const end of slice.ends) {
    claims.live.delete(`${end.collection}${end.serial}`);
    claims.total -= end.weight;
    claims.ended += 1;
  }
  for (const { spare, wallet: seller, starId } of slice.ends) {
    if (spare === null) continue;
    const claim = { collection: "B", serial: spare, wallet: seller, starId, since: at } as const;
    claims.live.set(`B${spare}`, claim);
  }
  const { weight, claims: counted } = countWeight({ target, wallet, holdings, at }, slice);
  const starId = newStarId(at);
  const claim = (collection: "A" | "B", serial: number): void => {
    assert.ok(!claims.live.has(`${collection}${serial}`), "what counts is claimed once");
    claims.live.set(`${collection}${serial}`, { collection, serial, wallet, starId, since: at });
  };
  for (const serial of counted?.a ?? []) claim("A", serial);
  if (counted?.b != null) claim("B", counted.b);
  claims.starred.add(wallet);
  claims.total += weight;
  return weight;
}

async function play(actions: readonly Action[]): Promise<number> {
  const world: World = { day: dayOf(START), isChecked: true, owner: new Map() };
  const model: Model = { by: new Map(), starred: new Set() };
  const claims = new Claims();
  let at = START;
  for (const each of actions) {
    at += 1_000;
    if (each.do === "midnight") {
      at = START + Math.ceil((at - START) / DAY_MS) * DAY_MS;
      world.day = dayOf(at);
      world.isChecked = false;
    } else if (each.do === "checked") {
      // The check itself has tests of its own; here it only says that it has come by.
      world.isChecked = true;
    } else if ("nft" in each) {
      world.owner.set(`${each.nft.of as "A" | "B"}${each.nft.serial}`, WALLETS[each.wallet] ?? "");
    } else if ("wallet" in each) {
      const wallet = WALLETS[each.wallet] ?? "";
      const due = applyRule(model, wallet, world);
      assert.equal(await star(claims, world, wallet, at), due);
      const carriers = (entries: Iterable<readonly [Key, { wallet: string }]>) =>
        [...entries].map(([key, entry]) => `${key} ${entry.wallet}`).sort();
      assert.deepEqual(carriers(claims.live), carriers(model.by));
      const bonuses = [...model.by.keys()].filter((key) => key[0] === "B").length;
      assert.equal(claims.total, model.starred.size + model.by.size + 4 * bonuses);
    }
  }
  return claims.ended;
}

test("every history of sales, stars, midnights and checks counts as the rule says", async () => {
  let ended = 0;
  const histories = fc.array(action, { minLength: 10, maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(histories, async (actions) => {
      ended += await play(actions);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
  assert.ok(ended > 500, `${ended} ends: histories without them prove nothing`);
});

for (const of of ["A", "B"] as const) {
  test(`a star of very many NFTs of others leaves the mirror node to others: collection ${of}`, async () => {
    const serials = Array.from({ length: 200 }, (_, n) => n + 1);
    const [buyer] = WALLETS;
    const readAt = START + DAY_MS;
    const since = readAt - 60_000;
    const sellerOf = (serial: number) => `0.0.${5_000 + serial}`;
    const counted = Object.fromEntries(
      serials.map((serial) => [serial, { wallet: sellerOf(serial), starId: null, at: null }]),
    );
    const slice: Slice = {
      counted: { A: {}, B: {}, [of]: counted },
      standing: "unstarred",
      releases: 0,
      ends: [],
    };
    const holdings = { collectionA: [], collectionB: [], [`collection${of}`]: serials, readAt };
    const asked = { now: 0, most: 0, all: 0, fails: false, tookMs: 0 };
    const { now } = performance;
    const ask = async <T>(answer: T): Promise<T> => {
      asked.all += 1;
      asked.now += 1;
      asked.most = Math.max(asked.most, asked.now);
      await new Promise((resolve) => setImmediate(resolve));
      asked.now -= 1;
      const { tookMs } = asked;
      if (tookMs > 0) performance.now = () => now.call(performance) + tookMs;
      if (asked.fails) throw new Error("no answer");
      return answer;
    };
    const deps = {
      isMintChecked: async () => false,
      hasTaken: () => ask(true),
      readHoldings: () => ask({ collectionA: [], collectionB: [], readAt }),
      claimsOn: async (_mint: string, collection: "A" | "B", some: readonly number[]) =>
        some.map((serial) => {
          return { collection, serial, wallet: sellerOf(serial), starId: newStarId(since), since };
        }),
    };
    const given = { day: dayOf(readAt), slice };
    const { ends } = await withSold(deps, { target, wallet: buyer, holdings }, given);
    assert.equal(ends.length, serials.length);
    assert.ok(asked.most <= 64, `${asked.most} at once`);
    Object.assign(asked, { all: 0, fails: true });
    await assert.rejects(withSold(deps, { target, wallet: buyer, holdings }, given), /no answer/);
    assert.ok(asked.all <= 64, `${asked.all} asked`);
    Object.assign(asked, { all: 0, fails: false, tookMs: 2_500 });
    await assert
      .rejects(withSold(deps, { target, wallet: buyer, holdings }, given), {
        code: "HOLDINGS_UNAVAILABLE",
      })
      .finally(() => Object.assign(performance, { now }));
    assert.ok(asked.all <= 64, `${asked.all} asked`);
  });
}

test.run();
