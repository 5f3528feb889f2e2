/**
 * Goal: a star that crosses the check is counted as if one of them had come first. Method: the
 * crossings that could go wrong are staged step by step with gates; then stars, transfers and
 * two checks run wild together, and after each round the history in the order of commits,
 * decided again by the machine, has to equal the projection.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { listClaims } from "../../../src/journal/live-claims.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { applyReleases } from "../../../src/upkeep/holdings-check/apply.ts";
import { reserveConnection } from "../../support/reserve-connection.ts";
import { setUp } from "../../support/set-up.ts";
import { brief, gate, type Stage, setStage, type Voter } from "./stage.ts";

const test = suite<{ stage: Stage }>("holdings check and stars");

test.before(async (context) => {
  context.stage = await setStage();
});
test.after.each(
  setUp(async ({ stage }) => {
    stage.beforeCommit = () => Promise.resolve();
    assert.deepEqual(await stage.differences(), [], "the fold equals the projection");
  }),
);
test.after(({ stage }) => stage.close());

/** A check by hand that stops once at a failpoint until the gate is opened. */
function checkStoppingAt(stage: Stage, failpoint: string) {
  const stop = gate();
  let stopped = false;
  const report = stage.checkNow({
    failpoint: (name) => {
      if (name !== failpoint || stopped) return undefined;
      stopped = true;
      return stop.pass();
    },
  });
  return { report: report.then((done) => brief(done)), ...stop };
}

/** A voter who has sold what the star brought; a check has judged that and stands before its release. */
async function soldUnderCheck(stage: Stage, [a, b]: readonly [number, number]) {
  const { ledger } = stage.hedera;
  const voter = await stage.wallet(a, b);
  await stage.star(voter);
  const before = await stage.total();
  const { A, B } = stage.collections;
  if (a > 0) await ledger.transfer(A, voter.a, stage.treasury);
  if (b > 0) await ledger.transfer(B, voter.b, stage.treasury);
  const check = checkStoppingAt(stage, "forever.judged");
  await check.arrival;
  return { ledger, voter, before, check };
}

test("decided before a release and stored after it, a star is decided again: its NFT counts", async ({
  stage,
}) => {
  const { ledger, voter, before, check } = await soldUnderCheck(stage, [1, 0]);
  await ledger.transfer(stage.collections.A, voter.a, voter.id);
  const commit = gate();
  let decisions = 0;
  stage.beforeCommit = () => {
    decisions += 1;
    return decisions === 1 ? commit.pass() : Promise.resolve();
  };
  const star = stage.star(voter);
  await commit.arrival;
  // The star saw its NFT still counting; now it is released.
  check.open();
  assert.deepEqual((await check.report).removed, [`A/${voter.a[0]}-1`]);
  commit.open();
  assert.equal(await star, 1, "it was bought back, so the star counts it anew");
  assert.equal(decisions, 2);
  assert.equal(await stage.total(), before);
});

test("a database clock that is set back dates no release before its evidence", async ({
  stage,
}) => {
  const { voter, check } = await soldUnderCheck(stage, [2, 0]);
  const owner = openPostgres(stage.url, { connections: 1 });
  const clock = (backMs: number) =>
    owner.unsafe(`
      create or replace function now_ms() returns bigint language sql volatile as $$
        select floor(extract(epoch from clock_timestamp()) * 1000)::bigint - ${backMs} $$`);
  await clock(10_000);
  check.open();
  await check.report;
  await clock(0);
  await owner.end();
  const releases = await stage.sql<{ isAfter: boolean }[]>`
    select released_at >= read_at as "isAfter" from claim_release
    where wallet = ${Number(voter.id.slice(4))}`;
  assert.deepEqual(
    releases.map(({ isAfter }) => isAfter),
    [true, true],
  );
});

test("the same with the carrier of the +5", async ({ stage }) => {
  const { ledger, voter, before, check } = await soldUnderCheck(stage, [0, 1]);
  const [bought = 0] = await ledger.mint(stage.collections.B, { count: 1, to: voter.id });
  const commit = gate();
  stage.beforeCommit = () => commit.pass();
  const star = stage.star(voter);
  await commit.arrival;
  check.open();
  assert.deepEqual((await check.report).removed, [`B/${voter.b[0]}-5`]);
  commit.open();
  assert.equal(await star, 5, "it saw a +5 that is gone, and brings another");
  assert.equal(await stage.total(), before);
  const [carrier] = await stage.sql<{ serial: number }[]>`
    select carrier_on_mint('mint', ${Number(voter.id.slice(4))}) as serial`;
  assert.equal(carrier?.serial, bought);
});

test("stored after the check's readings and before its release, a star that brings the NFT wins", async ({
  stage,
}) => {
  const { ledger, voter, before, check } = await soldUnderCheck(stage, [1, 0]);
  await ledger.transfer(stage.collections.A, voter.a, voter.id);
  assert.equal(await stage.star(voter), 0, "it counts already");
  check.open();
  const { removed, deferred } = await check.report;
  assert.deepEqual([removed, deferred], [[], []], "looked at again, it is held");
  assert.equal(await stage.total(), before);
});

test("a new B NFT starred with meanwhile carries the +5 on", async ({ stage }) => {
  const { ledger, voter, before, check } = await soldUnderCheck(stage, [0, 1]);
  await ledger.mint(stage.collections.B, { count: 1, to: voter.id });
  assert.equal(await stage.star(voter), 0, "the wallet carries its +5 already");
  check.open();
  assert.deepEqual((await check.report).removed, [`B/${voter.b[0]}-0`]);
  assert.equal(await stage.total(), before);
});

test("a spare that another wallet takes meanwhile carries nothing for its old holder", async ({
  stage,
}) => {
  const { ledger } = stage.hedera;
  const [seller, buyer] = [await stage.wallet(0, 2), await stage.wallet()];
  const [carrier = 0, spare = 0] = seller.b;
  await stage.star(seller);
  const before = await stage.total();
  await ledger.transfer(stage.collections.B, carrier, stage.treasury);
  let looks = 0;
  const stop = gate();
  const checked = stage.checkNow({
    // The first look is at the carrier, the second at its spare.
    failpoint: (name) => (name === "forever.confirmed" && ++looks === 2 ? stop.pass() : undefined),
  });
  const report = checked.then((done) => brief(done));
  await stop.arrival;
  await ledger.transfer(stage.collections.B, spare, buyer.id);
  assert.equal(await stage.star(buyer), 6);
  stop.open();
  assert.deepEqual((await report).removed, [`B/${carrier}-5`]);
  assert.equal(await stage.total(), before + 6 - 5);
});

test("a loss that was decided while another wallet had the only spare is decided again once that is free", async ({
  stage,
}) => {
  const { sql, clock, collections, hedera } = stage;
  const [loser, other] = [await stage.wallet(0, 1), await stage.wallet(0, 1)];
  for (const voter of [loser, other]) await stage.star(voter);
  await hedera.ledger.transfer(collections.B, other.b, loser.id);
  const asked = { mint: "mint", collection: "B", serials: loser.b } as const;
  const claims = await listClaims(sql, asked);
  const readAt = clock.now();
  const ends = claims.map((claim) => ({
    ...{ ...claim, weight: 5, spare: null, heldB: other.b, countedB: other.b },
    evidence: { owner: stage.treasury, deleted: false, listedAt: readAt, readAt },
  }));
  assert.deepEqual(brief(await stage.checkNow()).removed, [`B/${other.b[0]}-5`]);
  const before = await stage.total();
  const [run] = await sql<{ id: string }[]>`
    select id from holdings_check_run order by started_at desc limit 1`;
  const scope = { runId: run?.id ?? "", mint: "mint" };
  const deferred = await applyReleases({ sql, clock }, scope, ends);
  assert.deepEqual(
    deferred.map(({ serial }) => serial),
    loser.b,
  );
  assert.equal(await stage.total(), before);
});

test("a claim made after the reading began is not judged by it", async ({ stage }) => {
  const voter = await stage.wallet();
  stage.asked.length = 0;
  const check = checkStoppingAt(stage, "forever.page");
  await check.arrival;
  // The page was read: there the NFT belongs to the treasury, or does not exist.
  const serials = await stage.hedera.ledger.mint(stage.collections.A, { count: 1, to: voter.id });
  assert.equal(await stage.star(voter), 2);
  check.open();
  const { removed, deferred } = await check.report;
  assert.deepEqual([removed, deferred], [[], []]);
  const looks = stage.asked.filter((path) => path.endsWith(`/nfts/${serials[0]}`));
  assert.deepEqual(looks, [], "no check even looked");
});

test("where stars hold a mint's total, the check gives way and comes again", async ({ stage }) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  // The service's own role locks a total by functions alone.
  const owner = openPostgres(stage.url, { connections: 1 });
  const holder = await reserveConnection(owner);
  await holder`begin`;
  await holder`select from event_total where event_id = 'mint' for update`;
  const held = brief(await stage.checkNow());
  assert.deepEqual([held.removed, held.deferred], [[], [`A/${voter.a[0]}`]]);
  await holder`rollback`;
  holder.release();
  await owner.end();
  assert.deepEqual(brief(await stage.checkNow()).removed, [`A/${voter.a[0]}-1`]);
});

test("two checks at once, and eight workers: each attribution ends once", async ({ stage }) => {
  const { ledger } = stage.hedera;
  const voters = await Promise.all(Array.from({ length: 6 }, () => stage.wallet(3, 2)));
  for (const voter of voters) await stage.star(voter);
  await stage.check().runDue();
  stage.clock.shiftMs += 86_400_000;
  const before = await stage.total();
  for (const { a, b } of voters) {
    await ledger.transfer(stage.collections.A, a.slice(0, 2), stage.treasury);
    await ledger.transfer(stage.collections.B, b, stage.treasury);
  }
  const [byHand, alsoByHand, ...due] = await Promise.all([
    stage.checkNow(),
    stage.checkNow(),
    ...Array.from({ length: 8 }, () => stage.check().runDue()),
  ]);
  const checked = due.filter((outcome) => outcome.kind === "checked");
  assert.equal(checked.length, 1, "one worker has the day's run");
  const scheduled = await Promise.all(checked.map(({ run }) => stage.report(run)));
  const removed = [byHand, alsoByHand, ...scheduled].flatMap((report) => brief(report).removed);
  assert.equal(removed.length, 6 * 3);
  assert.equal(new Set(removed).size, removed.length);
  assert.equal(await stage.total(), before - 6 * (2 + 5));
});

test("stars, transfers and two checks at once, many rounds: some order of commits explains all (A15 sweep-vs-vote, P11)", async ({
  stage,
}) => {
  const random = generator(20_261_120);
  const voters = await Promise.all(Array.from({ length: 12 }, () => stage.wallet(3, 2)));
  const nfts = (["A", "B"] as const).flatMap((of) =>
    voters.flatMap((voter) => (of === "A" ? voter.a : voter.b).map((serial) => ({ of, serial }))),
  );
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  let [stars, removals] = [0, 0];
  // A check gives way to stars, so it is luck how much it removes in a round.
  for (let round = 0; round < 12 || (removals < 6 && round < 60); round += 1) {
    const trade = async () => {
      for (let n = 0; n < 12; n += 1) {
        const { of, serial } = pick(nfts);
        await stage.hedera.ledger.transfer(stage.collections[of], serial, pick(voters).id);
      }
    };
    const vote = async (voter: Voter) => {
      // Five votes a day are not enough for all rounds, so some are refused.
      await stage.star(voter).then(
        () => {
          stars += 1;
        },
        (error) => assert.match(String(error), /ALLOWANCE_EXHAUSTED/),
      );
    };
    const check = async () => {
      removals += brief(await stage.checkNow()).removed.length;
    };
    await Promise.all([
      trade(),
      check(),
      ...Array.from({ length: 5 }, () => vote(pick(voters))),
      check(),
    ]);
    assert.deepEqual(await stage.differences(), [], `round ${round}`);
  }
  assert.ok(stars >= 30 && removals >= 6, `${stars} stars, ${removals} removals are too few`);
  await settle(stage);
});

/** When everything has come to rest, one check leaves nothing that is not held. */
async function settle(stage: Stage): Promise<void> {
  assert.deepEqual(brief(await stage.checkNow()).deferred, []);
  const { removed, deferred, kept } = brief(await stage.checkNow());
  assert.deepEqual([removed, deferred], [[], []]);
  const live = await stage.sql<{ collection: "A" | "B"; serial: number; wallet: number }[]>`
    select collection, serial, wallet from serial_claim
    where event_id = 'mint' and released_at is null and collection <> 'base'`;
  assert.equal(live.length, kept);
  for (const { collection, serial, wallet } of live) {
    const nft = await stage.mirror.nft(stage.collections[collection], serial);
    assert.equal(nft?.owner, `0.0.${wallet}`);
  }
}

/** Numbers in [0, 1), the same in each run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.run();
