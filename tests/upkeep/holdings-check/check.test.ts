/**
 * Goal: what a wallet no longer holds stops counting on forever mints, and nothing else does.
 * Method: a real Postgres, a local ledger with its mirror node, stars cast as a web process
 * casts them. After each test the journal's fold through the machine has to equal the
 * projection.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { setUp } from "../../support/set-up.ts";
import { brief, type Stage, setStage } from "./stage.ts";

const test = suite<{ stage: Stage }>("holdings check");

test.before(async (context) => {
  context.stage = await setStage();
});
test.before.each(async ({ stage }) => {
  stage.asked.length = 0;
});
test.after.each(
  setUp(async ({ stage }) => {
    stage.hedera.mirror.faults.heal();
    assert.deepEqual(await stage.differences(), [], "the fold equals the projection");
  }),
);
test.after(({ stage }) => stage.close());

test("a transferred NFT loses its weight, with evidence, and counts for its new holder's next star", async ({
  stage,
}) => {
  const [seller, buyer] = [await stage.wallet(3), await stage.wallet()];
  const [sold = 0] = seller.a;
  assert.equal(await stage.star(seller), 4);
  const before = await stage.total();
  await stage.hedera.ledger.transfer(stage.collections.A, sold, buyer.id);
  assert.equal(await stage.star(buyer), 1, "until the check it counts for the seller");
  const report = await stage.checkNow();
  const mint = report.mints.find(({ id }) => id === "mint");
  assert.deepEqual(brief(report).removed, [`A/${sold}-1`]);
  const [removed] = mint?.removed ?? [];
  assert.deepEqual([removed?.wallet, removed?.evidence.owner], [seller.id, buyer.id]);
  assert.ok((removed?.evidence.readAt ?? "") >= (removed?.evidence.listedAt ?? "~"));
  assert.equal(await stage.total(), before + 1 - 1);
  assert.equal(await stage.star(buyer), 1, "free again, it counts for the buyer");
  assert.equal(await stage.star(seller), 0, "what the seller still holds has counted");
});

test("a check with nothing to find changes nothing, and says what it kept", async ({ stage }) => {
  const voter = await stage.wallet(2, 1);
  await stage.star(voter);
  const before = await stage.total();
  const first = brief(await stage.checkNow());
  const again = brief(await stage.checkNow());
  assert.deepEqual(first, again);
  assert.deepEqual([again.removed, again.deferred], [[], []]);
  const [live] = await stage.sql<{ claims: number }[]>`
    select count(*) as claims from serial_claim where released_at is null and collection <> 'base'`;
  assert.equal(again.kept, live?.claims);
  assert.equal(await stage.total(), before);
});

test("a burned and a wiped NFT have no holder", async ({ stage }) => {
  const { ledger } = stage.hedera;
  const voter = await stage.wallet(2);
  const [wiped = 0, burned = 0] = voter.a;
  await stage.star(voter);
  await ledger.wipe(stage.collections.A, wiped);
  await ledger.transfer(stage.collections.A, burned, stage.treasury);
  await ledger.burn(stage.collections.A, burned);
  const report = await stage.checkNow();
  assert.deepEqual(brief(report).removed, [`A/${wiped}-1`, `A/${burned}-1`]);
  const { removed = [] } = report.mints.find(({ id }) => id === "mint") ?? {};
  assert.deepEqual(
    removed.map(({ evidence }) => [evidence.owner, evidence.deleted]),
    [
      [null, true],
      [null, true],
    ],
  );
});

test("a sold carrier of the +5 is replaced by the lowest free B serial of that wallet", async ({
  stage,
}) => {
  const voter = await stage.wallet(0, 3);
  const other = await stage.wallet();
  const [carrier = 0, spare = 0] = voter.b;
  assert.equal(await stage.star(voter), 6);
  const before = await stage.total();
  await stage.hedera.ledger.transfer(stage.collections.B, carrier, other.id);
  const report = await stage.checkNow();
  const { removed = [] } = report.mints.find(({ id }) => id === "mint") ?? {};
  assert.deepEqual(
    removed.map(({ serial, weight, spare: by }) => ({ serial, weight, by })),
    [{ serial: carrier, weight: 0, by: spare }],
  );
  assert.equal(await stage.total(), before);
  assert.equal(await stage.star(other), 6, "the sold serial is free for the next wallet");
  assert.equal(await stage.star(voter), 0, "the wallet still carries its +5");
});

test("the sale of a carrier without a spare removes the 5, and the base stays", async ({
  stage,
}) => {
  const voter = await stage.wallet(0, 1);
  const [carrier = 0] = voter.b;
  await stage.star(voter);
  const before = await stage.total();
  await stage.hedera.ledger.transfer(stage.collections.B, carrier, stage.treasury);
  assert.deepEqual(brief(await stage.checkNow()).removed, [`B/${carrier}-5`]);
  assert.equal(await stage.total(), before - 5);
  assert.equal(await stage.star(voter), 0, "the base does not count twice");
});

test("two wallets that swapped their carriers keep their +5", async ({ stage }) => {
  const [one, two] = [await stage.wallet(0, 1), await stage.wallet(0, 1)];
  await stage.star(one);
  await stage.star(two);
  const before = await stage.total();
  const { ledger } = stage.hedera;
  await ledger.transfer(stage.collections.B, one.b, two.id);
  await ledger.transfer(stage.collections.B, two.b, one.id);
  const { removed } = brief(await stage.checkNow());
  assert.deepEqual(removed, [`B/${one.b[0]}-0`, `B/${two.b[0]}-0`]);
  assert.equal(await stage.total(), before);
});

test("sold and bought back before the check: nothing is removed", async ({ stage }) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  const { ledger } = stage.hedera;
  await ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  await ledger.transfer(stage.collections.A, voter.a, voter.id);
  assert.deepEqual(brief(await stage.checkNow()).removed, []);
});

test("sold in the collection's reading, bought back before its own: kept, after a second look", async ({
  stage,
}) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  const { ledger } = stage.hedera;
  await ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  let pages = 0;
  const report = await stage.checkNow({
    failpoint: async (name) => {
      // Both collections have one page: both are read when the NFT comes back.
      if (name === "forever.page" && ++pages === 2)
        await ledger.transfer(stage.collections.A, voter.a, voter.id);
    },
  });
  const { removed, deferred } = brief(report);
  assert.deepEqual([removed, deferred], [[], []]);
  assert.ok(stage.asked.some((path) => path.endsWith(`/nfts/${voter.a[0]}`)));
});

test("a scheduled run leaves moving NFTs open, reports them, and settles them at the next try", async ({
  stage,
}) => {
  const voter = await stage.wallet(2);
  const [moving = 0, sold = 0] = voter.a;
  await stage.star(voter);
  const { ledger } = stage.hedera;
  await stage.check().runDue();
  stage.clock.shiftMs += 86_400_000;
  await ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  let pages = 0;
  const check = stage.check({
    failpoint: async (name) => {
      // Both collections have one page: both are read when the NFT comes back.
      if (name === "forever.page" && ++pages === 2)
        await ledger.transfer(stage.collections.A, moving, voter.id);
    },
  });
  const outcome = await check.runDue();
  assert.ok(outcome.kind === "checked");
  const left = brief(await stage.report(outcome.run));
  assert.deepEqual(left.removed, [`A/${sold}-1`]);
  assert.deepEqual(left.deferred, [`A/${moving}`]);
  assert.equal(outcome.retryAfterMs, 5_000);
  assert.deepEqual(await check.runDue(), { kind: "nothing-due" }, "not before its time");
  stage.clock.shiftMs += 5_000;
  const settled = await check.runDue();
  assert.ok(settled.kind === "checked" && settled.retryAfterMs === null);
  assert.deepEqual(brief(await stage.report(settled.run)), {
    ...left,
    kept: left.kept + 1,
    deferred: [],
  });
  assert.deepEqual(await check.runDue(), { kind: "nothing-due" }, "done for today");
});

test("every forever mint is checked, approved or not, by one reading of each collection", async ({
  stage,
}) => {
  await stage.sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, created_at, approved_at)
    select 'mint-' || n, 'Mint', 'MINT_EVENT', true, 0, 0, 0 from generate_series(1, 5) n`;
  const voter = await stage.wallet(1, 1);
  for (const n of [1, 2, 3, 4]) await stage.star(voter, `mint-${n}`);
  await stage.sql`update event set approved_at = null where id = 'mint-2'`;
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  stage.asked.length = 0;
  const report = await stage.checkNow();
  for (const n of [1, 2, 3, 4]) {
    assert.deepEqual(brief(report, `mint-${n}`), {
      removed: [`A/${voter.a[0]}-1`],
      kept: 1,
      deferred: [],
    });
    assert.deepEqual(await stage.differences(`mint-${n}`), []);
  }
  assert.deepEqual(brief(report, "mint-5"), { removed: [], kept: 0, deferred: [] });
  const looks = stage.asked.filter((path) => path.endsWith(`/nfts/${voter.a[0]}`));
  assert.equal(looks.length, 2, "one look, of two requests, serves all mints");
});

test("ordinary events keep what has counted", async ({ stage }) => {
  const voter = await stage.wallet(1, 1);
  await stage.star(voter, "meetup");
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  const report = await stage.checkNow();
  assert.equal(
    report.mints.some(({ id }) => id === "meetup"),
    false,
  );
  assert.equal(await stage.total("meetup"), 7);
});

test("what was released stays written down, and cannot be changed", async ({ stage }) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  await stage.check().runNow();
  const [kept] = await stage.sql<{ released: number }[]>`
    select count(released_at) as released from serial_claim
    where event_id = 'mint' and collection = 'A' and serial = ${voter.a[0] ?? 0}`;
  assert.equal(kept?.released, 1);
  for (const attempt of [
    stage.sql`update serial_claim set released_at = null where released_at is not null`,
    stage.sql`update serial_claim set released_at = 1 where released_at is not null`,
    stage.sql`update claim_release set weight = 0`,
    stage.sql`delete from claim_release`,
    stage.sql`delete from mint_star`,
  ]) {
    await assert.rejects(attempt, /append-only|permission denied/);
  }
});

test("a deleted collection has no holders: deleted NFTs do not count", async ({ stage }) => {
  const voter = await stage.wallet(2, 2);
  await stage.star(voter);
  await stage.hedera.ledger.deleteCollection(stage.collections.B);
  const { removed, deferred } = brief(await stage.checkNow());
  assert.deepEqual(deferred, []);
  assert.ok(removed.includes(`B/${voter.b[0]}-5`), "no spare: the others are deleted too");
  const [left] = await stage.sql`
    select count(*) as live from serial_claim where collection = 'B' and released_at is null
      and event_id = 'mint'`;
  assert.equal(left?.live, 0);
});

test.run();
