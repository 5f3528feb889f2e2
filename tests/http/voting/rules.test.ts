/**
 * Goal: the specification's rules on weight, allowance and content, sentence by sentence, as a
 * voting client meets them. Method: NFTs change hands on a real ledger between stars.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { entityNumber } from "../../../src/ledger/entity-id.ts";
import {
  cast,
  newVoter,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
  type Voter,
} from "../../support/service.ts";

const test = suite<{ service: Service }>("rules");
/** An account that the ledger makes in this test: ids go up by one. */
const EXCLUDED = "0.0.1100";
test.before(async (context) => {
  context.service = await startService({ EXCLUDED_WALLETS: EXCLUDED });
});
test.after((context) => context.service.close());

/** Casts a star that must be accepted; its weight and the counter after it. */
async function weigh(
  service: Service,
  { token }: Voter,
  target: string,
): Promise<[number, number]> {
  const { status, body, text } = await cast(service, token, target);
  assert.equal(status, 201, text);
  const { base, collectionA, collectionB } = body.star.breakdown;
  assert.equal(body.star.weight, base + collectionA + collectionB);
  return [body.star.weight, body.counter.totalVotes];
}

async function newEvent(
  service: Service,
  id: string,
  { isForeverMint = false, startsAt = 0 } = {},
): Promise<string> {
  const endsAt = isForeverMint ? null : startsAt + 1;
  await service.sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
    values (${id}, ${id}, 'MINT_EVENT', ${isForeverMint}, ${startsAt}, ${endsAt}, 0, 0)`;
  return `event/${id}`;
}

test("weight = 1 + A + 5 if at least one B is held; ten A give +10, three B give +5", async ({
  service,
}) => {
  for (const [nfts, weight] of [
    [{}, 1],
    [{ a: 10 }, 11],
    [{ b: 3 }, 6],
    [{ a: 2, b: 1 }, 8],
  ] as const) {
    const [carried] = await weigh(service, await newVoter(service, nfts), "token/0.0.9001");
    assert.equal(carried, weight);
  }
});

test("an NFT reaches an event once per UTC day, whichever wallet brings it; the base always counts", async ({
  service,
}) => {
  const event = await newEvent(service, "once-a-day");
  const { ledger } = service.hedera;
  const [first, second] = [await newVoter(service), await newVoter(service)];
  const a = await ledger.mint(service.collectionA, { count: 3, to: first.id });
  const [b = 0] = await ledger.mint(service.collectionB, { count: 1, to: first.id });
  assert.deepEqual(await weigh(service, first, event), [1 + 3 + 5, 9]);
  await ledger.transfer(service.collectionA, a, second.id);
  await ledger.transfer(service.collectionB, b, second.id);
  await ledger.mint(service.collectionA, { count: 1, to: second.id });
  assert.deepEqual(await weigh(service, second, event), [1 + 1, 11]);
  // The same NFTs still count for another event on the same day.
  const other = await newEvent(service, "another-one");
  assert.deepEqual(await weigh(service, second, other), [1 + 4 + 5, 10]);
});

test("an event, unlike a forever mint, is starred once per UTC day", async ({ service }) => {
  const { token } = await newVoter(service);
  const event = await newEvent(service, "starred-once");
  assert.equal((await cast(service, token, event)).status, 201);
  const { status, body } = await cast(service, token, event);
  assert.deepEqual([status, body.code], [409, "ALREADY_STARRED"]);
});

test("a wallet in EXCLUDED_WALLETS carries the base 1 alone, and the export names it", async ({
  service,
}) => {
  let excluded = await newWallet(service);
  while (entityNumber(excluded.id) < entityNumber(EXCLUDED)) excluded = await newWallet(service);
  assert.equal(excluded.id, EXCLUDED);
  await service.hedera.ledger.mint(service.collectionA, { count: 2, to: EXCLUDED });
  await service.hedera.ledger.mint(service.collectionB, { count: 1, to: EXCLUDED });
  const token = await signIn(service, excluded);
  let day = "";
  for (const target of ["token/0.0.9001", "event/meetup", "event/mint"]) {
    const { star } = (await cast(service, token, target)).body;
    day = star.day;
    assert.deepEqual([star.votingPower, star.weight], [1, 1], target);
    assert.deepEqual(star.holdings, { collectionA: 0, collectionB: 0 });
  }
  const { body: preview } = await send(service, "GET /voting/preview?type=project&id=dex", {
    token,
  });
  assert.deepEqual([preview.votingPower, preview.weight], [1, 1]);
  const exported = await (await fetch(`${service.url}/exports/${day}`)).text();
  const [header = ""] = exported.split("\n", 1);
  assert.deepEqual(JSON.parse(header).excludedWallets, [EXCLUDED]);
});

test("tokens, collections and projects carry the full voting power, whichever wallet brought the NFTs before", async ({
  service,
}) => {
  const { ledger } = service.hedera;
  const [first, second] = [await newVoter(service, { a: 2, b: 1 }), await newVoter(service)];
  assert.equal((await weigh(service, first, "project/wiki"))[0], 8);
  const serials = await ledger.mint(service.collectionA, { count: 2, to: first.id });
  await ledger.transfer(service.collectionA, serials, second.id);
  assert.equal((await weigh(service, second, "project/wiki"))[0], 3);
});

test("a forever mint: a wallet's star counts once; starring again adds only NFTs that have not counted", async ({
  service,
}) => {
  const mint = await newEvent(service, "for-ever", { isForeverMint: true });
  const { ledger } = service.hedera;
  const first = await newVoter(service, { a: 2, b: 1 });
  assert.deepEqual(await weigh(service, first, mint), [8, 8]);
  assert.deepEqual(await weigh(service, first, mint), [0, 8]);
  await ledger.mint(service.collectionA, { count: 1, to: first.id });
  await ledger.mint(service.collectionB, { count: 1, to: first.id });
  // The third A is new; the second B is not needed: this wallet carries its +5 already.
  assert.deepEqual(await weigh(service, first, mint), [1, 9]);
  const { body } = await send(service, "GET /voting/allowance", { token: first.token });
  assert.equal(body.used, 3, "each star costs a vote, whatever it adds");
});

test("a forever mint: a serial attributed to another wallet adds nothing until it is free again", async ({
  service,
}) => {
  const mint = await newEvent(service, "held-by-another", { isForeverMint: true });
  const { ledger } = service.hedera;
  const [first, second] = [await newVoter(service), await newVoter(service)];
  const a = await ledger.mint(service.collectionA, { count: 2, to: first.id });
  assert.deepEqual(await weigh(service, first, mint), [3, 3]);
  await ledger.transfer(service.collectionA, a, second.id);
  await ledger.mint(service.collectionB, { count: 1, to: second.id });
  assert.deepEqual(await weigh(service, second, mint), [1 + 0 + 5, 9]);
});

test("five votes a day over all content types together; a pass makes it twenty while its season is on", async ({
  service,
}) => {
  const spender = await newVoter(service);
  for (const target of [
    "token/0.0.9002",
    "collection/0.0.8001",
    "project/dex",
    "event/hack",
    "event/mint",
  ]) {
    await weigh(service, spender, target);
  }
  const sixth = await cast(service, spender.token, "token/0.0.9003");
  assert.deepEqual([sixth.status, sixth.body.code], [429, "ALLOWANCE_EXHAUSTED"]);
  const id = "00000000-0000-7000-8000-00000000000a";
  await service.sql`insert into season (id, name, starts_at, ends_at) select ${id}, 'Now', now_ms() - 1000, now_ms() + 600000`;
  await service.sql`insert into premium_pass values (${Number(spender.id.slice(4))}, ${id}, 0)`;
  const { body } = await send(service, "GET /voting/allowance", { token: spender.token });
  assert.deepEqual([body.premium, body.limit, body.used, body.remaining], [true, 20, 5, 15]);
  for (let n = 0; n < 15; n += 1) await weigh(service, spender, `token/0.0.${9010 + n}`);
  assert.equal((await cast(service, spender.token, "token/0.0.9030")).body.limit, 20);
  // The season ends mid-day: 20 are used, 5 are allowed, nothing is owed.
  const late = await newVoter(service);
  await service.sql`insert into premium_pass values (${Number(late.id.slice(4))}, ${id}, 0)`;
  for (let n = 0; n < 6; n += 1) await weigh(service, late, `token/0.0.${9010 + n}`);
  await service.sql`update season set ends_at = now_ms() where id = ${id}`;
  const after = await cast(service, late.token, "token/0.0.9031");
  assert.deepEqual([after.status, after.body.limit, after.body.used], [429, 5, 6]);
  const left = (await send(service, "GET /voting/allowance", { token: late.token })).body;
  assert.deepEqual([left.premium, left.limit, left.used, left.remaining], [false, 5, 6, 0]);
});

test("ended events and upcoming ones may be starred: the specification lists every restriction", async ({
  service,
}) => {
  const upcoming = { startsAt: Date.UTC(9999, 0) };
  for (const event of [
    await newEvent(service, "ended"),
    await newEvent(service, "upcoming", upcoming),
    await newEvent(service, "upcoming-mint", { ...upcoming, isForeverMint: true }),
  ]) {
    assert.deepEqual(await weigh(service, await newVoter(service), event), [1, 1], event);
  }
});

test.run();
