/**
 * Goal: until the day's check has done a mint, an NFT that was sold and is starred by its buyer
 * counts for the buyer, exactly once, and the seller's weight goes with the same commit. Method: a
 * real Postgres whose clock passes midnight, a local ledger with its mirror node, stars and checks
 * that cross each other. After each test the fold through the machine has to equal the projection,
 * and the auditor's fold of the exports has to agree with every line.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { DAY_MS, type Day, dayOf, startOfDay } from "../../../actors/day.ts";
import { noEventAccounts } from "../../../src/audit/event-accounts.ts";
import { addRelease, foldMint, type MintHappening } from "../../../src/audit/mint-order.ts";
import { releasesOfDay, starsOfDay } from "../../../src/journal/read-export.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { patiently } from "../../support/patiently.ts";
import { setUp } from "../../support/set-up.ts";
import { brief, gate, type Stage, setStage, type Voter } from "./stage.ts";

const test = suite<{ stage: Stage; owner: Sql; days: number }>("sold before the check");

test.before(async (context) => {
  context.stage = await setStage();
  context.owner = openPostgres(context.stage.url, { connections: 1 });
  context.days = 0;
  // The day of the very first call counts as checked.
  await context.stage.check().runDue();
});
test.after.each(
  setUp(async ({ stage, days }) => {
    stage.beforeCommit = () => Promise.resolve();
    stage.hedera.mirror.faults.heal();
    assert.deepEqual(await stage.differences(), [], "the fold equals the projection");
    assert.deepEqual(await auditorsMismatches(stage, days), [], "the auditor agrees");
  }),
);
test.after(async ({ stage, owner }) => {
  await owner.end();
  await stage.close();
});

const FIRST_DAY = Date.now();

/** Midnight passes. */
async function passMidnight(context: { stage: Stage; owner: Sql; days: number }): Promise<void> {
  context.days += 1;
  await shiftClock(context, context.days * DAY_MS);
}

/** Shifts the database's clock; a star of somebody else's lets the service look at it. */
async function shiftClock({ stage, owner }: { stage: Stage; owner: Sql }, shiftMs: number) {
  await owner.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select ${shiftMs} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
  await stage.star(await stage.wallet(), "meetup");
}

async function auditorsMismatches({ sql }: Stage, days: number) {
  const happenings: MintHappening[] = [];
  for (let n = 0; n <= days; n += 1) {
    const day: Day = dayOf(FIRST_DAY + n * DAY_MS);
    for await (const page of starsOfDay(sql, day)) {
      for (const star of page) {
        if (star.target.id !== "mint") continue;
        happenings.push({ order: star.mintOrder ?? 0, day, star });
      }
    }
    for await (const page of releasesOfDay(sql, day)) {
      for (const release of page) addRelease(happenings, release, day);
    }
  }
  const after = FIRST_DAY + (days + 2) * DAY_MS;
  const given = {
    accounts: noEventAccounts(),
    chains: [],
    reading: { from: after, until: after, ends: null },
  };
  const inOrder = happenings.toSorted((one, other) => one.order - other.order);
  return foldMint(given, inOrder);
}

async function sell(stage: Stage, seller: Voter, to: Voter, of: { a?: number; b?: number }) {
  const { ledger } = stage.hedera;
  await ledger.transfer(stage.collections.A, seller.a.slice(0, of.a ?? 0), to.id);
  await ledger.transfer(stage.collections.B, seller.b.slice(0, of.b ?? 0), to.id);
}

function releasesOf({ sql }: Stage, seller: Voter) {
  return sql<{ what: string; weight: number; spare: number | null; kind: string; owner: string }[]>`
    select collection || '/' || serial as what, weight, spare, run.kind, owner
    from claim_release join holdings_check_run run on run.id = run_id
    where wallet = ${Number(seller.id.slice("0.0.".length))} order by 1`;
}

test("sold before midnight, starred after it: the buyer's star brings them, the seller loses them once", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(3, 1), await stage.wallet()];
  assert.equal(await stage.star(seller), 9);
  await sell(stage, seller, buyer, { a: 2, b: 1 });
  await passMidnight(context);
  const before = await stage.total();
  assert.equal(await stage.star(buyer), 1 + 2 + 5);
  assert.equal(await stage.total(), before - 2 - 5 + 8);
  assert.deepEqual(
    [...(await releasesOf(stage, seller))],
    [
      ...seller.a.slice(0, 2).map((serial) => ({ what: `A/${serial}`, weight: 1, spare: null })),
      ...seller.b.map((serial) => ({ what: `B/${serial}`, weight: 5, spare: null })),
    ].map((release) => ({ ...release, kind: "star", owner: buyer.id })),
  );
  const due = await stage.check().runDue();
  assert.ok(due.kind === "checked");
  assert.deepEqual(
    brief(await stage.report(due.run)).removed,
    [],
    "the check finds nothing left to remove",
  );
  assert.equal(await stage.star(seller), 0, "what the seller kept has counted");
});

test("a seller's other NFT carries the +5 on, and the buyer brings a +5 of their own", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(0, 3), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await sell(stage, seller, buyer, { b: 1 });
  const before = await stage.total();
  assert.equal(await stage.star(buyer), 6);
  assert.equal(await stage.total(), before + 6);
  const [release] = await releasesOf(stage, seller);
  assert.deepEqual([release?.weight, release?.spare], [0, seller.b[1]]);
});

test("an NFT that moves from the buyer to the seller between their two readings carries no +5 of the seller's", async (context) => {
  const { stage } = context;
  const { ledger, mirror } = stage.hedera;
  const [other, buyer, seller] = [
    await stage.wallet(0, 1),
    await stage.wallet(0, 1),
    await stage.wallet(0, 1),
  ];
  await stage.star(seller);
  await ledger.transfer(stage.collections.B, other.b, seller.id);
  await sell(stage, seller, buyer, { b: 1 });
  await passMidnight(context);
  const { strike } = mirror.faults;
  mirror.faults.strike = (path) => {
    if (path.includes(`/accounts/${seller.id}/nfts`)) {
      mirror.faults.strike = strike;
      void ledger.transfer(stage.collections.B, buyer.b, seller.id);
    }
    return strike(path);
  };
  const before = await stage.total();
  assert.equal(await stage.star(buyer), 6);
  assert.equal(await stage.total(), before + 6);
  const [release] = await releasesOf(stage, seller);
  assert.deepEqual([release?.weight, release?.spare], [0, other.b[0]]);
});

test("a mirror node that is seconds behind ends no star of the last seconds before midnight", async (context) => {
  const { stage } = context;
  const { ledger, mirror } = stage.hedera;
  const [before, voter, buyer] = [
    await stage.wallet(1, 1),
    await stage.wallet(),
    await stage.wallet(),
  ];
  // Of a day that has not begun: the clock goes forward also in the last minutes before midnight.
  context.days += 1;
  const today = startOfDay(dayOf(Date.now() + context.days * DAY_MS));
  const shiftTo = (instant: number) => shiftClock(context, instant - Date.now());
  await shiftTo(today + DAY_MS - 120_000);
  await ledger.closeBlock();
  await shiftTo(today + DAY_MS - 2_000);
  await sell(stage, before, voter, { a: 1, b: 1 });
  assert.equal(await stage.star(voter), 1 + 1 + 5);
  context.days += 1;
  await shiftTo(today + DAY_MS + 1_000);
  const total = await stage.total();
  const behind = { kind: "lag", ms: 60_000 } as const;
  mirror.faults.inject(behind);
  await assert.rejects(stage.star(before), { code: "HOLDINGS_UNAVAILABLE" });
  mirror.faults.heal();
  // One of two replicas behind a balancer.
  mirror.faults.inject({ ...behind, path: new RegExp(`/accounts/${before.id}/nfts`) });
  await assert.rejects(stage.star(before), { code: "HOLDINGS_UNAVAILABLE" });
  mirror.faults.heal();
  assert.deepEqual([...(await releasesOf(stage, voter))], []);
  assert.equal(await stage.total(), total);
  assert.equal(await stage.star(before), 1, "it holds none of them");
  await ledger.transfer(stage.collections.A, before.a, buyer.id);
  assert.equal(await stage.star(buyer), 1 + 1, "and who has bought it since brings it");
  assert.equal((await releasesOf(stage, voter)).length, 1);
});

test("once the check has done the mint, and for what was attributed today, the next check decides", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(1, 1), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await stage.check().runDue();
  await sell(stage, seller, buyer, { a: 1, b: 1 });
  assert.equal(await stage.star(buyer), 1, "the check has done the mint");
  assert.deepEqual([...(await releasesOf(stage, seller))], []);
  const [fresh, other] = [await stage.wallet(1), await stage.wallet()];
  await passMidnight(context);
  await stage.star(fresh);
  await sell(stage, fresh, other, { a: 1 });
  assert.equal(await stage.star(other), 1, "attributed today");
  assert.equal(await stage.star(buyer), 6, "the next day's star is before that day's check");
});

test("a check that has judged the same NFT passes it over: it ended with the star", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(1, 1), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await sell(stage, seller, buyer, { a: 1, b: 1 });
  const stop = gate();
  let stops = 0;
  const check = stage.check({
    failpoint: (name) => {
      stops += name === "forever.judged" ? 1 : 0;
      return stops === 1 && name === "forever.judged" ? stop.pass() : undefined;
    },
  });
  const due = check.runDue();
  await stop.arrival;
  assert.equal(await stage.star(buyer), 7);
  stop.open();
  const done = await due;
  assert.ok(done.kind === "checked");
  const kinds = (await releasesOf(stage, seller)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["star", "star"], "each ended once, with the star");
});

test("a star that is about to end what the check ends first is decided again, and brings it too", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(1, 1), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await sell(stage, seller, buyer, { a: 1, b: 1 });
  const commit = gate();
  let decisions = 0;
  stage.beforeCommit = () => {
    decisions += 1;
    return decisions === 1 ? commit.pass() : Promise.resolve();
  };
  const star = stage.star(buyer);
  await commit.arrival;
  await stage.check().runDue();
  commit.open();
  assert.equal(await star, 7);
  assert.equal(decisions, 2);
  const kinds = (await releasesOf(stage, seller)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["scheduled", "scheduled"]);
});

test("a seller who has starred with the NFT since that reading has held it later: no vote is spent", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(1), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await sell(stage, seller, buyer, { a: 1 });
  const commit = gate();
  stage.beforeCommit = () => {
    stage.beforeCommit = () => Promise.resolve();
    return commit.pass();
  };
  const star = stage.star(buyer);
  star.catch(() => undefined);
  await commit.arrival;
  await stage.hedera.ledger.transfer(stage.collections.A, seller.a, seller.id);
  assert.equal(await stage.star(seller), 0);
  commit.open();
  await assert.rejects(star, { code: "HOLDINGS_UNAVAILABLE" });
  assert.equal(await stage.star(buyer), 1, "read again, the buyer holds nothing");
});

test("a mirror node that cannot say what the seller still holds refuses the star", async (context) => {
  const { stage } = context;
  const [seller, buyer] = [await stage.wallet(0, 2), await stage.wallet()];
  await stage.star(seller);
  await passMidnight(context);
  await sell(stage, seller, buyer, { b: 1 });
  const path = new RegExp(`/accounts/${seller.id.replaceAll(".", "\\.")}/nfts`);
  stage.hedera.mirror.faults.inject({ kind: "fail", status: 500, path });
  await assert.rejects(stage.star(buyer), { code: "HOLDINGS_UNAVAILABLE" });
  stage.hedera.mirror.faults.heal();
  assert.equal(await stage.star(buyer), 6);
});

test("forty buyers at the same moment do not send each other back", async (context) => {
  const { stage } = context;
  const seller = await stage.wallet(40);
  const buyers = await Promise.all(Array.from({ length: 40 }, () => stage.wallet(0, 1)));
  await stage.star(seller);
  await passMidnight(context);
  for (const [n, { id }] of buyers.entries()) {
    await stage.hedera.ledger.transfer(stage.collections.A, seller.a.slice(n, n + 1), id);
  }
  const decided = gate();
  let decisions = 0;
  stage.beforeCommit = () => {
    decisions += 1;
    if (decisions === buyers.length) decided.open();
    return decided.pass();
  };
  const weights = await Promise.all(buyers.map((buyer) => stage.star(buyer)));
  assert.deepEqual(new Set(weights), new Set([1 + 1 + 5]));
  assert.equal(decisions, buyers.length, "each was decided once");
});

test("six buyers, other voters and a check at the same moment: everything ends and counts once", async (context) => {
  const { stage } = context;
  const pairs = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => ({
      seller: await stage.wallet(2, n % 2),
      buyer: await stage.wallet(0, n % 3),
    })),
  );
  for (const { seller } of pairs) await stage.star(seller);
  await passMidnight(context);
  for (const { seller, buyer } of pairs) await sell(stage, seller, buyer, { a: 1, b: 1 });
  const others = await Promise.all(Array.from({ length: 6 }, () => stage.wallet(1)));
  const voters = [...pairs.map(({ buyer }) => buyer), ...others];
  const stars = voters.map((voter) => patiently(() => stage.star(voter)));
  await Promise.all([stage.check().runDue(), ...stars]);
  for (const { seller } of pairs) {
    const ended = (await releasesOf(stage, seller)).map(({ what }) => what);
    assert.deepEqual(ended, [`A/${seller.a[0]}`, ...seller.b.map((serial) => `B/${serial}`)]);
  }
  for (const { buyer } of pairs) assert.equal(await stage.star(buyer), 0, "all of it has counted");
});

test.run();
