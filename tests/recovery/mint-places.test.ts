// timeout: 120 s
/**
 * Goal: a forever mint's history holds what came back in an order in which each star was decided.
 * Method: stars of some wallets are lost, others are accepted on an empty database, so that places
 * which exports tell are taken there; then the journal is recovered, in pieces of several sizes.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { compareMint } from "../../src/journal/fold-mint.ts";
import { recover } from "../../src/recovery/recover.ts";
import { openLostWorld } from "./world.ts";

const HOUR_MS = 3_600_000;

/** Wallets by their number, in the order of their stars. */
const histories: Readonly<Record<string, { lost: number[]; later: number[] }>> = {
  "a wallet twice, another one in its first place": { lost: [0, 0], later: [3] },
  "a place that an export names for one wallet and another wallet frees": {
    lost: [0, 1],
    later: [1, 1],
  },
  "places taken, named and freed": { lost: [0, 1, 0, 2, 1, 3, 0], later: [1, 3, 1, 0, 3, 0] },
};

for (const [name, { lost, later }] of Object.entries(histories)) {
  test(name, async () => {
    const world = await openLostWorld({ wallets: 4, days: 1 });
    const stars = (wallets: readonly number[]) =>
      wallets.map((n) => ({ wallet: world.wallets[n] ?? "", target: "event/mint" }));
    const { sql, settings } = world.network;
    await world.goTo(sql, 0, HOUR_MS);
    await world.cast(settings.DATABASE_URL ?? "", stars(lost));
    await world.publish(settings.DATABASE_URL ?? "");
    const source = await world.keepExports(sql);
    const exports = { source, days: await source.days() };
    for (const [n, piece] of [20, 2, 1].entries()) {
      const fresh = await world.freshDatabase();
      await world.goTo(fresh.sql, 0, (2 + n) * HOUR_MS);
      await world.cast(fresh.url, stars(later));
      const { recovered } = await recover(
        world.recovery(fresh.sql, { exports, accepts: true, piece }),
      );
      assert.equal(recovered, lost.length);
      assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, [], `${piece} a piece`);
      await fresh.close();
    }
    await world.close();
  });
}

/**
 * Whose star is cast before the end of another's attribution comes back, whose comes back after it, and
 * whether the end is written then.
 */
const ends: Readonly<
  Record<
    string,
    {
      readonly collection: "A" | "B";
      readonly spare: boolean;
      readonly by: "buyer" | "seller";
      readonly after?: "buyer" | "keeper";
      readonly ends: number;
    }
  >
> = {
  "an NFT of collection A that its buyer brings": {
    ...{ collection: "A", spare: false, by: "buyer", ends: 1 },
  },
  "an NFT of collection A that its buyer brings, and another wallet's star comes back later": {
    ...{ collection: "A", spare: false, by: "buyer", after: "keeper", ends: 1 },
  },
  "an NFT of collection A that its buyer brings, whose own star comes back later": {
    ...{ collection: "A", spare: false, by: "buyer", after: "buyer", ends: 1 },
  },
  "the carrier of the +5, which its buyer brings": {
    ...{ collection: "B", spare: false, by: "buyer", ends: 1 },
  },
  "the carrier of the +5, whose seller brings another": {
    ...{ collection: "B", spare: false, by: "seller", ends: 1 },
  },
  "the carrier of the +5, where the one that carried it on is counted for its buyer": {
    ...{ collection: "B", spare: true, by: "buyer", ends: 0 },
  },
};

for (const [name, { collection, spare, by, after, ends: count }] of Object.entries(ends)) {
  test(`an end comes back after a star that was decided without it: ${name}`, async () => {
    const world = await openLostWorld({ wallets: 4, days: 3 });
    const { sql, settings } = world.network;
    const [keeper = "", buyer = "", , seller = ""] = world.wallets;
    const url = settings.DATABASE_URL ?? "";
    const [sold = 0] = world.heldBy(seller)[collection];
    const [, other = 0] = world.heldBy(seller).B;
    if (!spare) await world.transfer("B", other, keeper);
    await world.goTo(sql, 0, HOUR_MS);
    await world.cast(url, [{ wallet: seller, target: "event/mint" }]);
    await world.publish(url);
    await world.transfer(collection, sold, buyer);
    await world.goTo(sql, 1, HOUR_MS);
    await world.check(sql);
    if (after) {
      const wallet = after === "buyer" ? buyer : keeper;
      await world.cast(url, [{ wallet, target: "event/mint" }]);
      await world.publish(url);
    }
    await world.goTo(sql, 2, HOUR_MS);
    const source = await world.keepExports(sql);
    const fresh = await world.freshDatabase();
    await world.goTo(fresh.sql, 2, 2 * HOUR_MS);
    // Today's check has been there: stars of mints end nothing themselves.
    await fresh.sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
      values (gen_random_uuid(), ${world.days[2] ?? ""}, 'scheduled', 'done', 0, 0)`;
    let isCast = false;
    const lines: typeof source.lines = async function* (day) {
      yield* source.lines(day);
      const isBack = (await fresh.sql`select from star`).length > 0;
      if (isCast || !isBack) return;
      isCast = true;
      // Stars of another mint have the places of the end and of what came after it.
      await fresh.sql`select nextval('forever_mint_order'), nextval('forever_mint_order')`;
      if (spare || by === "seller")
        await world.transfer("B", other, by === "buyer" ? buyer : seller);
      const wallet = by === "buyer" ? buyer : seller;
      await world.cast(fresh.url, [{ wallet, target: "event/mint" }]);
    };
    const exports = { source: { ...source, lines }, days: await source.days() };
    await recover(world.recovery(fresh.sql, { exports, accepts: true, piece: 1 }));
    assert.equal(isCast, true);
    assert.equal((await fresh.sql`select from claim_release`).length, count);
    assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
    await world.close();
  });
}

test("an end comes back with the star that proved it, before a star that was decided without both", async () => {
  const world = await openLostWorld({ wallets: 4, days: 2 });
  const { sql, settings } = world.network;
  const [buyer = "", last = "", , seller = ""] = world.wallets;
  const url = settings.DATABASE_URL ?? "";
  const [sold = 0] = world.heldBy(seller).A;
  const cast = async (place: string, wallet: string) => {
    await world.cast(place, [{ wallet, target: "event/mint" }]);
    await world.publish(place);
  };
  await world.goTo(sql, 0, HOUR_MS);
  await cast(url, seller);
  const fresh = await world.freshDatabase();
  await recover(world.recovery(fresh.sql));
  await world.goTo(sql, 1, HOUR_MS);
  await world.transfer("A", sold, buyer);
  await cast(url, buyer);
  assert.equal((await sql`select from claim_release`).length, 1);
  const source = await world.keepExports(sql);
  await world.goTo(fresh.sql, 1, 2 * HOUR_MS);
  await world.transfer("A", sold, last);
  await fresh.sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
    values (gen_random_uuid(), ${world.days[1] ?? ""}, 'scheduled', 'done', 0, 0)`;
  // Stars of another mint have the next places.
  await fresh.sql`select setval('forever_mint_order', 9)`;
  await cast(fresh.url, last);
  const exports = { source, days: await source.days() };
  const { recovered } = await recover(world.recovery(fresh.sql, { exports, accepts: true }));
  assert.equal(recovered, 1);
  assert.equal((await fresh.sql`select from claim_release`).length, 1);
  assert.deepEqual((await compareMint(fresh.sql, "mint")).differences, []);
  await world.close();
});

test.run();
