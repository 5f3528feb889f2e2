/**
 * Goal: from an export alone the counter of a forever mint adds up, through sales and the daily
 * check. Method: real stars and a real check over a local ledger; the lines are folded here by
 * the words of the format, with nothing of the service's own rules.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { headerOf } from "../../src/journal/export-days.ts";
import type { ExportRelease, ExportStar } from "../../src/journal/export-format.ts";
import { writeExport } from "../../src/journal/write-export.ts";
import { linesOf, SETTINGS } from "../support/export-rig.ts";
import { type Stage, setStage } from "../upkeep/holdings-check/stage.ts";

type Happening = ExportStar | ExportRelease;

async function exportToday(stage: Stage): Promise<readonly Happening[]> {
  const [row] = await stage.sql<{ day: string }[]>`select utc_day(now_ms()) as day`;
  let text = "";
  for await (const piece of writeExport(stage.sql, headerOf(row?.day ?? "", SETTINGS, null))) {
    text += piece;
  }
  return linesOf(text).filter(
    (line): line is Happening => line.kind === "star" || line.kind === "release",
  );
}

/** The counter of a mint, and the NFTs that count on it, by the lines in the order of commits. */
function fold(lines: readonly Happening[]): { total: number; counting: string[] } {
  const counting = new Set<string>();
  let total = 0;
  const inOrder = [...lines].sort((one, other) => (one.mintOrder ?? 0) - (other.mintOrder ?? 0));
  for (const line of inOrder) {
    if (line.kind === "release") {
      total -= line.weight;
      assert.ok(counting.delete(line.collection + line.serial), "only what counted can end");
      if (line.spare !== null) counting.add(`B${line.spare}`);
      continue;
    }
    const { collectionA = [], collectionB = null } = line.counted ?? {};
    total += line.weight;
    assert.equal(line.breakdown.collectionA, collectionA.length);
    assert.equal(line.breakdown.collectionB, collectionB === null ? 0 : 5);
    const brought = collectionA.map((serial) => `A${serial}`);
    if (collectionB !== null) brought.push(`B${collectionB}`);
    for (const nft of brought) {
      assert.ok(!counting.has(nft), `${nft} counts once`);
      counting.add(nft);
    }
  }
  return { total, counting: [...counting].sort() };
}

test("stars, sales and the check add up to the counter", async () => {
  const stage = await setStage();
  const { ledger } = stage.hedera;
  const [seller, buyer] = [await stage.wallet(3, 2), await stage.wallet(1)];
  await stage.star(seller);
  await stage.star(buyer);
  const [soldA = 0] = seller.a;
  const [carrier = 0, spare = 0] = seller.b;
  await ledger.transfer(stage.collections.A, soldA, buyer.id);
  await ledger.transfer(stage.collections.B, carrier, buyer.id);
  await stage.check().runNow();
  await stage.star(buyer);
  await stage.star(seller);

  const lines = await exportToday(stage);
  const { total, counting } = fold(lines);
  assert.equal(total, await stage.total());
  const expected = [
    ...[...seller.a, ...buyer.a].map((serial) => `A${serial}`),
    `B${carrier}`,
    `B${spare}`,
  ];
  assert.deepEqual(counting, expected.sort());
  const [first] = lines.filter((line) => line.kind === "star");
  // What a star brought stays with it; the spare was the check's doing.
  assert.deepEqual(first?.counted, { collectionA: [...seller.a], collectionB: carrier });
  const releases = lines.filter((line) => line.kind === "release");
  assert.deepEqual(
    releases.map(({ collection, serial, weight, spare: next, owner }) => {
      return { collection, serial, weight, next, owner };
    }),
    [
      { collection: "A", serial: soldA, weight: 1, next: null, owner: buyer.id },
      { collection: "B", serial: carrier, weight: 0, next: spare, owner: buyer.id },
    ],
  );
  assert.ok(releases.every(({ readAt, listedAt }) => readAt >= listedAt));
  await stage.close();
});

test.run();
