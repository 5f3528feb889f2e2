// timeout: 240 s
/**
 * Goal: exports that are damaged, or lack days, cost no other day its hash, and what they tell comes back as it
 * was. Method: some days are made final, their exports kept, damaged or removed, and an empty database is
 * recovered.
 */
import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { openExportSource } from "../../src/audit/export-source.ts";
import { listExports } from "../../src/journal/export-days.ts";
import { acceptLoss, countLost } from "../../src/publishing/journal-behind.ts";
import { recover } from "../../src/recovery/recover.ts";
import { until } from "../support/processes.ts";
import { starboard } from "../support/starboard.ts";
import { type LostWorld, openLostWorld, stateOf } from "./world.ts";

const HOUR_MS = 3_600_000;
let world: LostWorld;
test.before.each(async () => {
  world = await openLostWorld({ wallets: 4, days: 4 });
});
test.after.each(() => world.close());

/** Stars on some days, which are final then. @returns the folder of their exports */
async function finalDays(
  days: readonly number[],
  targets = ["token/0.0.9001"],
  wallet = world.wallets[0] ?? "",
): Promise<string> {
  const { sql, settings } = world.network;
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

test("a final day that does not come back to its bytes ends the command with status 1, unless accepted", async () => {
  const [day = ""] = world.days;
  const bases = [await world.freshDatabase(), await world.freshDatabase()];
  for (const [index, { url, sql }] of bases.entries()) {
    await world.goTo(sql, 0, HOUR_MS);
    await world.cast(url, [{ wallet: world.wallets[index + 1] ?? "", target: "token/0.0.9001" }]);
  }
  const folder = await finalDays([0]);
  // The day is final without these stars.
  for (const { url, sql } of bases) {
    await world.goTo(sql, 3, HOUR_MS);
    await world.publish(url);
  }
  const said = `export of ${day}: the journal did not come back to its bytes`;
  const args = ["journal", "recover", "--export", folder, "--json"];
  for (const [index, accept] of [[], ["--accept"]].entries()) {
    const settings = { ...world.network.settings, DATABASE_URL: bases[index]?.url ?? "" };
    const { status, stdout, stderr } = await starboard([...args, ...accept], settings);
    const { written, unprovable } = JSON.parse(stdout);
    assert.deepEqual([status, written, unprovable], [1 - index, true, [said]], stderr);
  }
});

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

test("stars of a mint whose day has no export stand before those of later exports", async () => {
  const folder = await finalDays([0, 1, 2], ["event/mint", "token/0.0.9001"], world.wallets[1]);
  const before = await stateOf(world.network.sql, { numbers: true });
  for (const gone of [0, 1]) {
    const { sql } = await world.freshDatabase();
    const { source, days } = await exportsIn(folder);
    const exports = { source, days: days.filter((day) => day !== world.days[gone]) };
    const { exact, unprovable } = await recover(world.recovery(sql, { exports }));
    assert.deepEqual([exact.length, unprovable], [2, []]);
    assert.deepEqual((await stateOf(sql, { numbers: true })).mints, before.mints);
    const { ok, mismatches } = await world.audit(sql);
    assert.equal(ok, true, JSON.stringify(mismatches));
  }
});

type Line = Record<string, unknown>;

/** Changes the lines of an export but the last, which gets their hash. */
function forge(folder: string, day: string, change: (lines: readonly Line[]) => readonly Line[]) {
  const file = join(folder, `${day}.ndjson`);
  const lines: Line[] = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const footer = lines.at(-1);
  const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");
  const body = change(lines.slice(0, -1)).map((line) => `${JSON.stringify(line)}\n`);
  const sha256 = sha256Of(body.join(""));
  const chain = sha256Of(`${lines[0]?.previous}${sha256}`);
  writeFileSync(file, `${body.join("")}${JSON.stringify({ ...footer, sha256, chain })}\n`);
}

/** What a recovery of an empty database says against the exports of a folder; it writes nothing. */
async function doubtsOf(folder: string): Promise<string> {
  const { sql } = await world.freshDatabase();
  const { unprovable, written } = await recover(
    world.recovery(sql, { exports: await exportsIn(folder) }),
  );
  assert.equal(written, false);
  return unprovable.join("\n");
}

test("an export under another day's name, or with a star twice, tells nothing of that day", async () => {
  const [first = "", second = ""] = world.days;
  const mixedUp = await finalDays([0, 1], ["event/mint", "token/0.0.9001"]);
  const { folder: twice } = await world.keepExports(world.network.sql);
  copyFileSync(join(mixedUp, `${first}.ndjson`), join(mixedUp, `${second}.ndjson`));
  const isOfMint = ({ mintOrder }: Line) => typeof mintOrder === "number";
  forge(twice, second, (lines) => [...lines, ...lines.filter(isOfMint)]);
  for (const folder of [mixedUp, twice]) {
    assert.match(await doubtsOf(folder), new RegExp(`^export of ${second}: expected`));
    const { sql } = await world.freshDatabase();
    const exports = await exportsIn(folder);
    const { exact } = await recover(world.recovery(sql, { exports, accepts: true }));
    assert.deepEqual(exact, [first, world.days[2]]);
    const { ok, mismatches } = await world.audit(sql);
    assert.equal(ok, true, JSON.stringify(mismatches));
  }
});

test("an export that is not the one which the next day's follows has to be accepted", async () => {
  const folder = await finalDays([0, 1]);
  forge(folder, world.days[0] ?? "", ([header, ...lines]) => [
    { ...header, xpPerStar: 9 },
    ...lines,
  ]);
  assert.match(await doubtsOf(folder), /: expected header\.previous [0-9a-f]{64}, found/);
});

for (const [field, value] of [
  ["seq", Number.MAX_SAFE_INTEGER],
  ["xpPerStar", 100_000],
] as const) {
  test(`an export whose ${field} no journal could go on from is no export`, async () => {
    const folder = await finalDays([0]);
    forge(folder, world.days[0] ?? "", (lines) =>
      lines.map((line) => (field in line ? { ...line, [field]: value } : line)),
    );
    assert.match(await doubtsOf(folder), new RegExp(`found line \\d: ${field}`));
  });
}

test("a release that histories or the mint's machine refute has to be accepted", async () => {
  const [day = ""] = world.days;
  const [, wallet = "", buyer = ""] = world.wallets;
  const { sql, settings } = world.network;
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet, target: "event/mint" }]);
  await world.publish(settings.DATABASE_URL ?? "");
  await world.goTo(sql, 0, 4 * HOUR_MS);
  await world.transfer("A", 1, buyer);
  await world.goTo(sql, 0, 5 * HOUR_MS);
  await world.check(sql);
  await world.goTo(sql, 3, HOUR_MS);
  await world.finalize(sql);
  const changed = async (change: Line): Promise<string> => {
    const { folder } = await world.keepExports(sql);
    forge(folder, day, (lines) =>
      lines.map((line) => (line.kind === "release" ? { ...line, ...change } : line)),
    );
    return doubtsOf(folder);
  };
  const early = { listedAt: `${day}T03:00:00.000Z`, readAt: `${day}T03:00:00.000Z` };
  assert.match(await changed(early), /mint mint, removal: expected \S+ holds it/);
  assert.match(await changed({ weight: 50 }), /mint mint, removal: expected 1: A 1 of .*says 50:/);
  // Its star may be on earlier topics, which another run reads.
  const elsewhere = await changed({ starId: "01a20621-ad54-7a13-9e5c-06f8fd3d5cba" });
  assert.doesNotMatch(elsewhere, /removal/);
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

test("stars of the day on which a wallet was excluded come back without a doubt", async () => {
  const { sql, settings } = world.network;
  const [, , , holder = ""] = world.wallets;
  const excluded = world.settings.excludedWallets as string[];
  const star = { wallet: holder, target: "token/0.0.9001" };
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [star]);
  await world.publish(settings.DATABASE_URL ?? "");
  await world.goTo(sql, 1, HOUR_MS);
  await world.finalize(sql);
  await world.cast(settings.DATABASE_URL ?? "", [star]);
  await world.publish(settings.DATABASE_URL ?? "");
  excluded.push(holder);
  await world.goTo(sql, 2, HOUR_MS);
  await world.finalize(sql);
  const { folder } = await world.keepExports(sql);
  const fresh = await world.freshDatabase();
  const { exact, unprovable } = await recover(
    world.recovery(fresh.sql, { exports: await exportsIn(folder) }),
  );
  assert.deepEqual([exact, unprovable], [world.days.slice(0, 2), []]);
});

test("no day becomes final while other topics hold stars that the journal lacks", async () => {
  const folder = await finalDays([0]);
  const { sql } = await world.freshDatabase();
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.9', 1, 'on a topic of other settings')`;
  const exports = await exportsIn(folder);
  const first = await recover(world.recovery(sql, { exports }));
  assert.deepEqual([first.recovered, first.exact, first.renewed], [1, [], []]);
  await acceptLoss(sql);
  const { exact } = await recover(world.recovery(sql, { exports }));
  assert.deepEqual(exact, world.days.slice(0, 3));
});

test("what a buyer's star ended before the day's check comes back as that star's, not as a check by hand", async () => {
  const { sql, settings } = world.network;
  const [, wallet = "", buyer = ""] = world.wallets;
  await world.goTo(sql, 0, 2 * HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet, target: "event/mint" }]);
  await world.transfer("A", 1, buyer);
  await world.goTo(sql, 1, HOUR_MS);
  await world.cast(settings.DATABASE_URL ?? "", [{ wallet: buyer, target: "event/mint" }]);
  await world.publish(settings.DATABASE_URL ?? "");
  const { folder } = await world.keepExports(sql);
  const fresh = await world.freshDatabase();
  const report = await recover(world.recovery(fresh.sql, { exports: await exportsIn(folder) }));
  assert.equal(report.recovered, 2, JSON.stringify(report.unprovable));
  const runs = async (of: typeof sql) => [
    ...(await of`select id, day, kind from holdings_check_run`),
  ];
  const known = await runs(sql);
  assert.equal(known.length, 1);
  assert.deepEqual(await runs(fresh.sql), known);
});

test.run();
