/**
 * Goal: there is one rule of repeats. Whether a wallet may star an item again on a day is a guard of the
 * wallet-day machine; the preview, and the recovery's `repeats` and `settle_new_repeats`, which are SQL, find
 * the same repeats.
 * Method: stars of every kind of content in the ledger's order, of which the journal has some, and has
 * lost the others.
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { contentRules } from "../../actors/content.ts";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { entityNumber } from "../../src/ledger/entity-id.ts";
import { previewStar } from "../../src/voting/preview-star.ts";
import { testDatabase } from "../support/postgres.ts";
import { TARGETS, WALLETS } from "./histories.ts";
import { EMPTY_JOURNAL, loadSlice, NOTHING_SOLD } from "./journal.ts";
import { SEED } from "./rules.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const DAYS = 2;
const { sql, close } = await testDatabase({ migrated: true });
test.before(async () => {
  await sql`select ensure_star_partition(${dayOf(START)}::date)`;
});
test.after(close);

const wishes = fc.array(
  fc.record({
    wallet: fc.constantFrom(...WALLETS.slice(0, 2)),
    target: fc.constantFrom(...TARGETS),
    day: fc.nat(DAYS - 1),
    isLost: fc.boolean(),
  }),
  { maxLength: 80, size: "max" },
);
type Wish = (typeof wishes extends fc.Arbitrary<infer Each> ? Each : never)[number];

/** A wallet's days, as the stars that were taken in make them. */
function walletDays() {
  const states = new Map<string, WalletDayState>();
  return {
    /** Asks the machine, and takes in what is no repeat: of what is on the ledger, votes were left for all. */
    take({ wallet, target }: Wish, { id, at }: { id: string; at: number }) {
      const day = dayOf(at);
      const before = states.get(`${wallet} ${day}`) ?? walletDay.initial({ wallet, day });
      const decision = walletDay.decide(before, { type: "star", target, now: at });
      const isRepeat = decision.type === "refused" && decision.code === "ALREADY_STARRED";
      const fact = { type: "starred", id, target: target.key, at } as const;
      if (!isRepeat) states.set(`${wallet} ${day}`, walletDay.evolve(before, fact));
      return { before, first: isRepeat ? decision.starId : null };
    },
  };
}

/** The stars in the order of the ledger, with the star that each repeats, by the machine. */
function play(all: readonly Wish[]) {
  const [ledger, journal] = [walletDays(), walletDays()];
  return all.map((wish, n) => {
    const at = START + wish.day * DAY_MS + n;
    const star = { id: newStarId(at), at };
    // The journal took each of its stars, so it has no repeats of its own.
    const own = wish.isLost ? null : journal.take(wish, star);
    const slot = own?.first === null ? own.before.context.stars.length + 1 : null;
    return { ...wish, ...star, slot, n, ...ledger.take(wish, star) };
  });
}

type Played = ReturnType<typeof play>;

const UNDONE = new Error("undone");

interface Repeat {
  readonly id: string;
  readonly first: string;
}
type Repeats = ReadonlyMap<string, string>;

/**
 * What `repeats` finds, each with the star that it repeats, and those of the journal that `settle_new_repeats`
 * sets aside when all the others come back.
 */
async function repeatsOf(stars: Played): Promise<{ found: Repeats; setAside: Repeats }> {
  const rows = stars.map(({ id, at, wallet, target, slot, n }) => ({
    ...{ id, at, slot, day: dayOf(at), wallet: entityNumber(wallet), type: target.type },
    ...{ target: target.id, mint: target.eventKind === "FOREVER_MINT", place: n + 1 },
    consensus: `${1_700_000_000 + n}.000000000`,
  }));
  let found: Repeats = new Map();
  let setAside: Repeats = new Map();
  const undone = sql.begin(async (tx) => {
    await tx`
      create temp table played on commit drop as select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as row (id uuid, at bigint, slot int, day date, wallet bigint, type text, target text, mint boolean,
          place bigint, consensus text)`;
    await tx`
      insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
        base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
      select id, day, wallet, slot, at, type, target, mint, 1, 1, 1, 0, 0, '{}', '{}', at, slot
      from played where slot is not null`;
    await tx`
      insert into outbox (star_id, topic, message, state, topic_id, transaction_id, sequence_number,
        consensus_timestamp, running_hash)
      select id, 'asset', '{}', 'published', '0.0.7', '0.0.9@' || consensus, place, consensus, ''
      from played where slot is not null`;
    await tx`
      insert into recovery_message (topic_id, sequence_number, consensus_timestamp, running_hash, transaction_id,
        star_id, topic, wallet, at, day, target_type, target_id, is_forever_mint, message)
      select '0.0.7', place, consensus, '', '', id, 'asset', wallet, at, day, type, target, mint, '{}'
      from played where slot is null`;
    const repeated = await tx<Repeat[]>`select id, first_star as first from repeats()`;
    found = new Map(repeated.map(({ id, first }) => [id, first]));
    const back = rows.filter(({ id, slot }) => slot === null && !found.has(id));
    const given = JSON.stringify(
      back.map(({ type, target, mint, ...row }) => {
        return { ...row, target_type: type, target_id: target, is_forever_mint: mint };
      }),
    );
    await tx`
      select settle_new_repeats(array(select each
        from json_populate_recordset(null::recovered_star, ${given}::text::json) as each))`;
    const aside = await tx<Repeat[]>`select id, conflicts_with as first from star_conflict`;
    setAside = new Map(aside.map(({ id, first }) => [id, first]));
    throw UNDONE;
  });
  await assert.rejects(undone, UNDONE);
  return { found, setAside };
}

/** Whether the preview says that the wallet has starred the item, just before the star. */
async function isStarred({ before, wallet, target, at }: Played[number]): Promise<boolean> {
  const { stars } = before.context;
  const preview = await previewStar(
    {
      ...NOTHING_SOLD,
      clock: { now: () => at },
      findTarget: async () => target,
      loadWalletDay: async () => ({ stars, seasonId: null, seasonThen: null, readAt: at }),
      lastStarredDay: async () => null,
      readHoldings: async () => ({ collectionA: [], collectionB: [], readAt: at }),
      loadSlice: async (key) => loadSlice(EMPTY_JOURNAL, key),
    },
    wallet,
    target,
  );
  return preview.alreadyStarred;
}

/** A day with more votes than any version of the rules gives: its last star repeats the first, which is lost. */
function manyVotes(): Wish[] {
  const vote = (target: Wish["target"], isLost = false): Wish => {
    return { wallet: WALLETS[0] ?? "", target, day: 0, isLost };
  };
  const item = TARGETS.find(({ eventKind }) => eventKind === null);
  const mint = TARGETS.find(({ eventKind }) => eventKind === "FOREVER_MINT");
  assert.ok(item && mint);
  return [vote(item, true), ...Array.from({ length: 40 }, () => vote(mint)), vote(item)];
}

test("every kind of content is among the items", () => {
  const kinds = contentRules.flatMap(({ targetType, eventKinds }): string[] =>
    eventKinds.length > 0 ? [...eventKinds] : [targetType],
  );
  assert.deepEqual(
    new Set(TARGETS.map(({ type, eventKind }) => eventKind ?? type)),
    new Set(kinds),
  );
});

test("what the machine calls a repeat is one for the preview and for the recovery, and nothing else is", async () => {
  const property = fc.asyncProperty(wishes, async (all) => {
    const stars = play(all);
    const repeated = stars.filter(({ first }) => first !== null);
    const of = (some: Played) => new Map(some.map(({ id, first }) => [id, first]));
    const { found, setAside } = await repeatsOf(stars);
    assert.deepEqual(found, of(repeated));
    assert.deepEqual(setAside, of(repeated.filter(({ slot }) => slot !== null)));
    for (const star of stars) assert.equal(await isStarred(star), star.first !== null, star.id);
  });
  await fc.assert(property, { seed: SEED, numRuns: 60, examples: [[manyVotes()]] });
});

test.run();
