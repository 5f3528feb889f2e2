// timeout: 180 s
/**
 * Goal: exports that are damaged, or lack days, cost no other day its hash, and what they tell comes back as it
 * was. Method: some days are made final, their exports kept, damaged or removed, and an empty database is
 * recovered.
 */
import * as assert from "node:assert/strict";
import { rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { openExportSource } from "../../src/audit/export-source.ts";
import { listExports } from "../../src/journal/export-days.ts";
import { acceptLoss, countLost } from "../../src/publishing/journal-behind.ts";
import { recover } from "../../src/recovery/recover.ts";
import { until } from "../support/processes.ts";
import { type LostWorld, openLostWorld, stateOf } from "./world.ts";

const HOUR_MS = 3_600_000;
let world: LostWorld;
test.before.each(async () => {
  world = await openLostWorld({ wallets: 4, days: 4 });
});
test.after.each(() => world.close());

/** Stars on some days, which are final then. @returns the folder of their exports */
async function finalDays(days: readonly number[], targets = ["token/0.0.9001"]): Promise<string> {
  const { sql, settings } = world.network;
  const [wallet = ""] = world.wallets;
  for (const day of days) {
    await world.goTo(sql, day, 2 * HOUR_MS);
    await world.cast(
      settings.DATABASE_URL ?? "",
      targets.map((target) => ({ wallet, target })),
    );
    await world.publish(settings.DATABASE_URL ?? "");
  }
  await world.goTo(sql, 3, HOUR_MS);
  await world.finalize(sql);
  return (await world.keepExports(sql)).folder;
}

async function exportsIn(folder: string) {
  const source = openExportSource(folder);
  return { source, days: await source.days() };
}

for (const [damage, bytesLeft] of [
  ["cut", (size: number) => size - 40],
  ["empty", () => 0],
] as const) {
  test(`the export of a day in the middle is ${damage}: the others keep their hashes`, async () => {
    const folder = await finalDays([0, 1, 2]);
    const file = join(folder, `${world.days[1]}.ndjson`);
    truncateSync(file, bytesLeft(statSync(file).size));
    const { sql } = await world.freshDatabase();
    const exports = await exportsIn(folder);
    const refused = await recover(world.recovery(sql, { exports }));
    assert.equal(refused.unprovable.length, 1);
    const { exact, renewed } = await recover(world.recovery(sql, { exports, accepts: true }));
    assert.deepEqual([exact, renewed], [[world.days[0], world.days[2]], [world.days[1]]]);
  });
}

for (const [what, days] of [
  ["before one with a star", [0, 2]],
  ["before another one", [0]],
] as const) {
  test(`a day without a star and without an export, ${what}: the audit knows why the chain is new`, async () => {
    const folder = await finalDays(days);
    for (const day of [0, 1]) rmSync(join(folder, `${world.days[day]}.ndjson`));
    const { sql } = await world.freshDatabase();
    const { exact, renewed } = await recover(
      world.recovery(sql, { exports: await exportsIn(folder) }),
    );
    assert.deepEqual([exact, renewed], [[world.days[2]], world.days.slice(0, 2)]);
    const { ok, mismatches, known } = await world.audit(sql);
    assert.equal(ok, true, JSON.stringify(mismatches));
    assert.deepEqual(
      known.map(({ kind, day }) => [kind, day]),
      [["chain", world.days[2]]],
    );
  });
}

test("a star of a forever mint comes back with the points that its day gave", async () => {
  const folder = await finalDays([0], ["event/mint", "token/0.0.9001"]);
  const before = await stateOf(world.network.sql, { numbers: true });
  const { sql } = await world.freshDatabase();
  const settings = { ...world.settings, xpPerStar: 3 };
  await recover(world.recovery(sql, { exports: await exportsIn(folder), settings }));
  const { stars, scores } = await stateOf(sql, { numbers: true });
  assert.deepEqual([stars, scores], [before.stars, before.scores]);
});

test("a loss that was accepted before the journal's first star stands in the export of its day", async () => {
  const { settings } = world.network;
  const [first = "", second = ""] = world.wallets;
  const stars = [first, second].map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await world.goTo(world.network.sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
  const { sql, url } = await world.freshDatabase();
  await world.goTo(sql, 0, 23 * HOUR_MS);
  await until("the loss is found", async () => {
    await world.publish(url);
    return (await countLost(sql)) === stars.length;
  });
  await acceptLoss(sql);
  await world.goTo(sql, 1, HOUR_MS);
  await world.cast(url, stars);
  await world.publish(url);
  await world.goTo(sql, 2, HOUR_MS);
  await world.finalize(sql);
  const listed = await listExports(sql);
  assert.deepEqual(
    listed.slice(0, 2).map(({ day, final }) => [day, final]),
    world.days.slice(0, 2).map((day) => [day, true]),
  );
  const { ok, knownCount } = await world.audit(sql);
  assert.deepEqual([ok, knownCount], [true, stars.length]);
});

test.run();
