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

test.run();
