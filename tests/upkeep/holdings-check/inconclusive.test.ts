/**
 * Goal: "only a complete, successful mirror reading may remove anything". Method: a wallet has
 * sold NFTs that count, so a careless check would find something; then the mirror node fails in
 * every way it can, and must cost no wallet any weight; then it heals, and the check catches up.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { DAY_MS } from "../../../actors/day.ts";
import type { MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { type Logger, silentLogger } from "../../../src/log.ts";
import type { Redis } from "../../../src/store/redis.ts";
import { checkByHand } from "../../../src/upkeep/holdings-check/by-hand.ts";
import type { MirrorFault } from "../../support/mirror-faults.ts";
import { setUp } from "../../support/set-up.ts";
import { brief, gate, type Stage, setStage, type Voter } from "./stage.ts";

const test = suite<{ stage: Stage; holder: Voter }>("holdings check in doubt");

test.before(async (context) => {
  context.stage = await setStage();
  // More than a page of each collection stays with this wallet.
  context.holder = await context.stage.wallet(110, 3);
  await context.stage.star(context.holder);
});
test.before.each(({ stage }) => stage.reconnect());
test.after.each(
  setUp(async ({ stage }) => {
    stage.hedera.mirror.faults.heal();
    assert.deepEqual(await stage.differences(), [], "the fold equals the projection");
  }),
);
test.after(({ stage }) => stage.close());

/** A wallet that starred and then sold: an A NFT, and the carrier of its +5 without a spare. */
async function sellOut(stage: Stage): Promise<Voter> {
  const voter = await stage.wallet(1, 1);
  await stage.star(voter);
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  await stage.hedera.ledger.transfer(stage.collections.B, voter.b, stage.treasury);
  return voter;
}

/** A reading is tried until its deadline: five seconds are long for a fault that stays. */
const SOON = { deadlineMs: 1_000 };

const A_PAGES = (stage: Stage) => new RegExp(`/tokens/${stage.collections.A}/nfts\\?`);
const A_PAGE_2 = (stage: Stage) => new RegExp(`/tokens/${stage.collections.A}/nfts\\?.*gt:100`);

/** How it fails, and which parts of a mint that leaves open. */
const faults: readonly {
  readonly name: string;
  readonly fault: (stage: Stage) => MirrorFault;
  readonly open: "A" | "own reading";
}[] = [
  {
    name: "fails on its second page",
    fault: (stage) => ({ kind: "fail", status: 503, path: A_PAGE_2(stage) }),
    open: "A",
  },
  {
    name: "refuses with a gateway's HTML",
    fault: (stage) => ({ kind: "fail", status: 429, html: true, path: A_PAGES(stage) }),
    open: "A",
  },
  {
    name: "hangs on its second page",
    fault: (stage) => ({ kind: "hang", path: A_PAGE_2(stage) }),
    open: "A",
  },
  {
    name: "breaks off its answer",
    fault: (stage) => ({ kind: "garbage", path: A_PAGE_2(stage) }),
    open: "A",
  },
  {
    name: "answers an empty collection",
    fault: (stage) => ({
      kind: "garbage",
      body: '{"nfts":[],"links":{"next":null}}',
      path: A_PAGES(stage),
    }),
    open: "A",
  },
  {
    name: "links to somewhere else",
    fault: (stage) => ({
      kind: "foreign-next",
      url: "http://127.0.0.1:9/api/v1/tokens/0.0.1/nfts",
      path: A_PAGES(stage),
    }),
    open: "A",
  },
  {
    name: "links to another list of its own",
    fault: (stage) => ({
      kind: "foreign-next",
      url: `/api/v1/tokens/${stage.collections.B}/nfts?limit=100&order=asc`,
      path: A_PAGES(stage),
    }),
    open: "A",
  },
  {
    name: "fails when asked for one NFT",
    fault: () => ({ kind: "fail", status: 500, path: /\/nfts\/\d+$/ }),
    open: "own reading",
  },
  {
    name: "does not know the NFT when asked for it",
    fault: () => ({
      kind: "garbage",
      body: '{"account_id":"0.0.1","deleted":false,"serial_number":1,"token_id":"0.0.1"}',
      path: /\/nfts\/\d+$/,
    }),
    open: "own reading",
  },
];

for (const { name, fault, open } of faults) {
  test(`a mirror node that ${name} removes nothing, and is tried again (A15 sweep-vs-vote, P11)`, async ({
    stage,
  }) => {
    const voter = await sellOut(stage);
    const before = await stage.total();
    stage.hedera.mirror.faults.inject(fault(stage));
    const troubled = brief(await stage.checkNow(SOON));
    if (open === "A") {
      assert.deepEqual(troubled.deferred, ["A/all"]);
      assert.deepEqual(troubled.removed, [`B/${voter.b[0]}-5`], "collection B was read whole");
      assert.equal(await stage.total(), before - 5);
    } else {
      assert.deepEqual(troubled.deferred, [`A/${voter.a[0]}`, `B/${voter.b[0]}`]);
      assert.deepEqual(troubled.removed, []);
      assert.equal(await stage.total(), before);
    }
    stage.hedera.mirror.faults.heal();
    await stage.reconnect();
    const healed = brief(await stage.checkNow());
    assert.deepEqual(healed.deferred, []);
    assert.ok(healed.removed.includes(`A/${voter.a[0]}-1`));
    assert.equal(await stage.total(), before - 6);
  });
}

test("a reading that an old replica answered in part is not believed against a look at the NFT", async ({
  stage,
}) => {
  const before = stage.hedera.ledger.lastConsensus();
  const [bought = 0] = await stage.hedera.ledger.mint(stage.collections.A, { count: 1 });
  const unsold = stage.hedera.ledger.lastConsensus();
  const voter = await stage.wallet();
  await stage.hedera.ledger.transfer(stage.collections.A, bought, voter.id);
  await stage.star(voter);
  const total = await stage.total();
  // In the replica it is not minted yet, or belongs to the treasury.
  for (const asOf of [before, unsold]) {
    stage.hedera.mirror.faults.heal();
    // Of the list's pages every second one is the replica's: the NFT is on the second page.
    stage.hedera.mirror.faults.inject({ kind: "replica-flip", asOf, path: A_PAGES(stage) });
    const { removed, deferred } = brief(await stage.checkNow());
    assert.deepEqual([removed, deferred], [[], [`A/${bought}`]]);
    assert.equal(await stage.total(), total);
  }
});

test("requests that alternate between an old and a new replica never cost a holder its weight", async ({
  stage,
}) => {
  const { ledger, mirror } = stage.hedera;
  const sold = await ledger.mint(stage.collections.A, { count: 2 });
  const carriers = await ledger.mint(stage.collections.B, { count: 1 });
  const unsold = ledger.lastConsensus();
  const voter = await stage.wallet();
  await ledger.transfer(stage.collections.A, sold, voter.id);
  await ledger.transfer(stage.collections.B, carriers, voter.id);
  assert.equal(await stage.star(voter), 1 + 2 + 5);
  const total = await stage.total();
  for (const asksBefore of [0, 1, 2, 3]) {
    mirror.faults.heal();
    mirror.faults.inject({ kind: "replica-flip", asOf: unsold });
    // So the replicas answer other requests of the check each time.
    for (let n = 0; n < asksBefore; n += 1) await stage.mirror.nft(stage.collections.A, 1);
    assert.deepEqual(brief(await stage.checkNow()).removed, []);
    assert.equal(await stage.total(), total);
  }
});

test("a mirror node that is behind a star removes nothing that the star brought", async ({
  stage,
}) => {
  const { ledger, mirror } = stage.hedera;
  const voter = await stage.wallet(1, 1);
  const seller = await stage.wallet();
  const bought = await ledger.mint(stage.collections.A, { count: 1, to: seller.id });
  const LAG_MS = 3_000;
  await new Promise((resolve) => setTimeout(resolve, LAG_MS + 500));
  await ledger.transfer(stage.collections.A, bought, voter.id);
  assert.equal(await stage.star(voter), 1 + 2 + 5);
  const total = await stage.total();
  // A replica that stands where the seller still has it; each of its answers agrees with the others.
  mirror.faults.inject({ kind: "lag", ms: LAG_MS });
  const behind = await stage.checkNow();
  const { removed, deferred } = brief(behind);
  assert.deepEqual([removed, deferred], [[], [`A/${bought[0]}`]]);
  const [part] = behind.mints.find(({ id }) => id === "mint")?.deferred ?? [];
  assert.match(part?.reason ?? "", /behind the star/);
  assert.equal(await stage.total(), total);
  // It has no answer to how far it has come: nothing is assumed.
  mirror.faults.inject({ kind: "fail", status: 503, path: /\/blocks/ });
  const silent = brief(await stage.checkNow(SOON));
  assert.deepEqual([silent.removed, silent.deferred], [[], [`A/${bought[0]}`]]);
  assert.equal(await stage.total(), total);
  mirror.faults.heal();
  // What has moved since the star is gone, however new the mirror node's last block is.
  await ledger.transfer(stage.collections.A, bought, seller.id);
  assert.deepEqual(brief(await stage.checkNow()).removed, [`A/${bought[0]}-1`]);
});

test("a replica that is behind the star, and takes over while the check runs, removes nothing either", async ({
  stage,
}) => {
  const { ledger, mirror } = stage.hedera;
  const voter = await stage.wallet();
  const [bought = 0] = await ledger.mint(stage.collections.A, { count: 1 });
  const LAG_MS = 1_000;
  await new Promise((resolve) => setTimeout(resolve, LAG_MS));
  await ledger.transfer(stage.collections.A, bought, voter.id);
  assert.equal(await stage.star(voter), 1 + 1);
  const total = await stage.total();
  let isBehind = false;
  const now = String(Math.floor(stage.clock.now() / 1_000) + 1);
  const current = { number: 1, from: `${now}.000000000`, to: `${now}.000000000` };
  const changing: Pick<MirrorNode, "nft" | "nftOwners" | "newestBlock"> = {
    nft: stage.mirror.nft,
    nftOwners(...asked) {
      if (!isBehind) mirror.faults.inject({ kind: "lag", ms: LAG_MS });
      isBehind = true;
      return stage.mirror.nftOwners(...asked);
    },
    newestBlock: async (limits) => (isBehind ? stage.mirror.newestBlock(limits) : current),
  };
  const { removed, deferred } = brief(await stage.checkNow({ mirror: changing }));
  assert.deepEqual([removed, deferred], [[], [`A/${bought}`]]);
  assert.equal(await stage.total(), total);
});

test("a spare that cannot be confirmed neither keeps nor loses the +5", async ({ stage }) => {
  const voter = await stage.wallet(0, 2);
  const [carrier = 0, spare = 0] = voter.b;
  await stage.star(voter);
  const before = await stage.total();
  await stage.hedera.ledger.transfer(stage.collections.B, carrier, stage.treasury);
  stage.hedera.mirror.faults.inject({
    kind: "fail",
    status: 500,
    path: new RegExp(`${stage.collections.B}/nfts/${spare}$`),
  });
  const { removed, deferred } = brief(await stage.checkNow(SOON));
  assert.deepEqual([removed, deferred], [[], [`B/${carrier}`]]);
  assert.equal(await stage.total(), before);
  stage.hedera.mirror.faults.heal();
  await stage.reconnect();
  // Sold since the collection was listed.
  const mirror: typeof stage.mirror = {
    ...stage.mirror,
    async nft(...asked) {
      const found = await stage.mirror.nft(...asked);
      return found?.serial === spare ? { ...found, owner: stage.treasury } : found;
    },
  };
  const sold = brief(await stage.checkNow({ mirror }));
  assert.deepEqual([sold.removed, sold.deferred], [[], [`B/${carrier}`]]);
  assert.equal(await stage.total(), before);
  assert.deepEqual(brief(await stage.checkNow()).removed, [`B/${carrier}-0`]);
});

test("where the database's clock is set back between two readings, a check reads again", async ({
  stage,
}) => {
  const voter = await sellOut(stage);
  stage.clock.shiftMs += 60_000;
  let isSetBack = false;
  const failpoint = (name: string): void => {
    if (name !== "forever.page" || isSetBack) return;
    isSetBack = true;
    stage.clock.shiftMs -= 30_000;
  };
  const { removed, deferred } = brief(await stage.checkNow({ failpoint }));
  stage.clock.shiftMs -= 30_000;
  assert.deepEqual([removed, deferred], [[`A/${voter.a[0]}-1`, `B/${voter.b[0]}-5`], []]);
});

test("carriers swapped by two wallets keep both +5 when they are settled only at a later try", async ({
  stage,
}) => {
  const [one, two] = [await stage.wallet(0, 1), await stage.wallet(0, 1)];
  await stage.star(one);
  await stage.star(two);
  await stage.check().runDue();
  stage.clock.shiftMs += 86_400_000;
  const before = await stage.total();
  await stage.hedera.ledger.transfer(stage.collections.B, one.b, two.id);
  await stage.hedera.ledger.transfer(stage.collections.B, two.b, one.id);
  stage.hedera.mirror.faults.inject({ kind: "fail", status: 500, path: /\/nfts\/\d+$/ });
  const troubled = await stage.check(SOON).runDue();
  assert.ok(troubled.kind === "checked");
  assert.deepEqual(brief(await stage.report(troubled.run)).deferred, [
    `B/${one.b[0]}`,
    `B/${two.b[0]}`,
  ]);
  stage.hedera.mirror.faults.heal();
  stage.clock.shiftMs += 10_000;
  await stage.reconnect();
  const settled = await stage.check().runDue();
  assert.ok(settled.kind === "checked");
  const { removed, deferred } = brief(await stage.report(settled.run));
  assert.deepEqual([removed, deferred], [[`B/${one.b[0]}-0`, `B/${two.b[0]}-0`], []]);
  assert.equal(await stage.total(), before);
});

test("a collection that the mirror node does not know removes nothing", async ({ stage }) => {
  const voter = await sellOut(stage);
  const unknown = { A: "0.0.99999999", B: stage.collections.B };
  const { removed, deferred } = brief(await stage.checkNow({ collections: unknown }));
  assert.deepEqual([removed, deferred], [[`B/${voter.b[0]}-5`], ["A/all"]]);
  assert.deepEqual(brief(await stage.checkNow()).removed, [`A/${voter.a[0]}-1`]);
});

test("a dry run that a stop of its process cuts short has failed: what it did not read is no answer", async ({
  stage,
}) => {
  await stage.star(await stage.wallet(1));
  const kept: string[] = [];
  const redis = { set: async (_key: string, text: string) => kept.push(text) };
  const stop = gate();
  const { sql, mirror, clock, collections } = stage;
  const byHand = checkByHand({
    ...{ sql, mirror, clock, collections, log: silentLogger, failpoint: stop.pass },
    redis: redis as unknown as Redis,
  });
  const starting = byHand.startDryRun("Ada");
  await stop.arrival;
  const closing = byHand.close();
  stop.open();
  await Promise.allSettled([starting, closing]);
  const { state, report } = JSON.parse(kept.at(-1) ?? "");
  assert.deepEqual([state, report], ["failed", null]);
});

test("a stop of its process leaves parts of a check open: the next start goes on at once with a day's, and of others it warns", async ({
  stage,
}) => {
  await stage.star(await stage.wallet(1));
  await stage.check().runDue();
  stage.clock.shiftMs += DAY_MS;
  const said: string[] = [];
  const note = (level: string) => (_facts: unknown, text: string) => said.push(`${level} ${text}`);
  const log: Logger = Object.assign(Object.create(silentLogger), {
    info: note("info"),
    warn: note("warn"),
  });
  const stopAmid = async (how: "runDue" | "runNow") => {
    const stop = gate();
    const check = stage.check({ log, failpoint: stop.pass });
    const running = check[how]();
    await Promise.race([stop.arrival, running]);
    const closing = check.close();
    stop.open();
    await Promise.all([running, closing]);
    return [...new Set(said.splice(0))];
  };
  assert.deepEqual(await stopAmid("runNow"), ["warn forever mints were checked"]);
  for (let stops = 0; stops < 3; stops += 1)
    assert.deepEqual(await stopAmid("runDue"), ["info forever mints were checked"]);
  const due = await stage.check().runDue();
  assert.ok(due.kind === "checked");
  assert.equal(due.run.passes, 1, "no stop is counted as a failure");
  assert.deepEqual(brief(await stage.report(due.run)).deferred, []);
  stage.clock.shiftMs = 0;
});

test("with nothing that counts, the mirror node is not even asked", async () => {
  const fresh = await setStage();
  assert.equal(await fresh.star(await fresh.wallet()), 1);
  fresh.asked.length = 0;
  assert.deepEqual(brief(await fresh.checkNow()), { removed: [], kept: 0, deferred: [] });
  assert.deepEqual(fresh.asked, []);
  await fresh.close();
});

test.run();
