/**
 * Goal: each state and transition of the machines shows over HTTP. Method: voters walk through the
 * states while passes come and go, NFTs are sold and other web processes, that have seen nothing,
 * answer in between; `/ops/api` shows the states.
 */
import * as assert from "node:assert/strict";
import { createClient } from "redis";
import { suite } from "uvu";
import { targetOf } from "../../../actors/content.ts";
import { DAY_MS, dayOf, endOfDay } from "../../../actors/day.ts";
import { createGroupCommit } from "../../../src/journal/group-commit.ts";
import type { DecidedStar } from "../../../src/journal/star-record.ts";
import { MirrorClient } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { createHoldingsCheck } from "../../../src/upkeep/holdings-check/check.ts";
import { decidedStar, goingFrom } from "../../support/engine.ts";
import {
  cast,
  newVoter,
  type Reply,
  type Service,
  send,
  startService,
  type Voter,
} from "../../support/service.ts";
import { CONSOLE, signInOperator, TOKEN } from "../console/browser-session.ts";

const SEASON = "00000000-0000-7000-8000-00000000000a";

const test = suite<{ service: Service }>("machines");
test.before(async (context) => {
  const service = await startService(CONSOLE);
  await service.sql`insert into season (id, name, starts_at, ends_at)
    select ${SEASON}, 'Now', now_ms() - 1000, now_ms() + ${10 * DAY_MS}`;
  context.service = service;
});
test.after((context) => context.service.close());

const numberOf = ({ id }: Voter): number => Number(id.slice("0.0.".length));
const grant = ({ sql }: Service, to: Voter) =>
  sql`insert into premium_pass (wallet, season_id, granted_at) values (${numberOf(to)}, ${SEASON}, 0)`;
const takeBack = ({ sql }: Service, from: Voter) =>
  sql`delete from premium_pass where wallet = ${numberOf(from)}`;

/** Casts stars on so many tokens, from the `first` one on; each must be accepted. */
async function castMany(
  at: Pick<Service, "url">,
  { token }: Voter,
  { first = 1, count }: { readonly first?: number; readonly count: number },
): Promise<Reply["body"][]> {
  const bodies = [];
  for (let n = first; n < first + count; n += 1) {
    const { status, body, text } = await cast(at, token, `token/0.0.${9000 + n}`);
    assert.equal(status, 201, text);
    bodies.push(body);
  }
  return bodies;
}

const limitAndUsed = ({ status, body }: Reply) =>
  status === 201
    ? [status, body.allowance.limit, body.allowance.used]
    : [status, body.limit, body.used];

/** An actor as operators see it; `what` is the rest of its name. */
async function show(service: Pick<Service, "url">, id: string): Promise<Reply["body"]> {
  const reply = await send(service, `GET /ops/api/actors/${id}`, { token: TOKEN });
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
}

/** Has the console play an actor's journal through the machines again, each star decided anew. */
async function assertReplays(service: Service, id: string, stars: number): Promise<void> {
  const operator = await signInOperator(service);
  const { status, text } = await operator.get(`/ops/actors/${id}?replay=1`);
  assert.equal(status, 200, text);
  assert.match(
    text,
    new RegExp(`${stars} stars of the journal make exactly the state that is live`),
  );
}

async function dayShown(service: Service, of: Voter): Promise<unknown[]> {
  const [row] = await service.sql<{ now: number }[]>`select now_ms() as now`;
  const { state, context } = await show(service, `wallet-day/${of.id}/${dayOf(row?.now ?? 0)}`);
  return [state, context.limit, context.stars.length];
}

test("a wallet's day is open until its last vote, and open again while a pass is in force", async ({
  service,
}) => {
  const ann = await newVoter(service);
  await castMany(service, ann, { count: 4 });
  assert.deepEqual(await dayShown(service, ann), ["open", 5, 4]);
  assert.equal((await cast(service, ann.token, "token/0.0.9001")).status, 409);
  await castMany(service, ann, { first: 5, count: 1 });
  assert.deepEqual(await dayShown(service, ann), ["spent", 5, 5]);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9006")), [429, 5, 5]);
  const repeat = await cast(service, ann.token, "token/0.0.9002");
  assert.deepEqual([repeat.status, repeat.body.code], [409, "ALREADY_STARRED"]);

  await grant(service, ann);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9006")), [201, 20, 6]);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9007")), [201, 20, 7]);
  assert.deepEqual(await dayShown(service, ann), ["open", 20, 7]);
  await takeBack(service, ann);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9008")), [429, 5, 7]);
  assert.deepEqual(await dayShown(service, ann), ["spent", 5, 7]);

  // Another process knows nothing: it restores the snapshot, or folds the journal.
  const second = await service.another();
  assert.deepEqual(limitAndUsed(await cast(second, ann.token, "token/0.0.9008")), [429, 5, 7]);
  await grant(service, ann);
  const redis = await createClient({ url: service.redisUrl }).connect();
  await redis.flushAll();
  await redis.close();
  const third = await service.another();
  const eighth = await cast(third, ann.token, "token/0.0.9008");
  assert.deepEqual(limitAndUsed(eighth), [201, 20, 8]);
  await assertReplays(service, `wallet-day/${ann.id}/${eighth.body.star.day}`, 8);
});

test("a pass granted and taken back with votes left changes the limit and nothing else", async ({
  service,
}) => {
  const ann = await newVoter(service);
  await castMany(service, ann, { count: 2 });
  await grant(service, ann);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9003")), [201, 20, 3]);
  await takeBack(service, ann);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9004")), [201, 5, 4]);
  assert.deepEqual(await dayShown(service, ann), ["open", 5, 4]);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9005")), [201, 5, 5]);
});

test("a premium day is spent by its twentieth star, and stays spent when the pass is taken back", async ({
  service,
}) => {
  const ann = await newVoter(service);
  await grant(service, ann);
  await castMany(service, ann, { count: 20 });
  assert.deepEqual(await dayShown(service, ann), ["spent", 20, 20]);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9021")), [429, 20, 20]);
  await takeBack(service, ann);
  assert.deepEqual(limitAndUsed(await cast(service, ann.token, "token/0.0.9021")), [429, 5, 20]);
});

test("an event's day counts each NFT once, and shows what has counted", async ({ service }) => {
  const [ann, bob] = [await newVoter(service), await newVoter(service)];
  const { ledger } = service.hedera;
  const [serial = 0] = await ledger.mint(service.collectionA, { count: 1, to: ann.id });
  assert.equal((await cast(service, ann.token, "event/hack")).body.star.weight, 2);
  await ledger.transfer(service.collectionA, serial, bob.id);
  const { star, counter } = (await cast(service, bob.token, "event/hack")).body;
  assert.deepEqual([star.weight, counter.totalVotes], [1, 3]);
  const { state, version, context } = await show(service, `event-day/hack/${star.day}`);
  assert.deepEqual([state, version, context.weight], ["counting", 2, 3]);
  assert.deepEqual(context.counted, { A: { [serial]: ann.id }, B: {} });
  await assertReplays(service, `event-day/hack/${star.day}`, 2);
});

/** The holdings check, as a worker runs it. */
async function checkHoldings({ sql, hedera, collectionA, collectionB }: Service): Promise<void> {
  const mirror = new MirrorClient({ urls: [hedera.mirrorUrl], log: silentLogger });
  const check = createHoldingsCheck({
    sql,
    mirror,
    clock: { now: () => Date.now() },
    log: silentLogger,
    collections: { A: collectionA, B: collectionB },
    pause: () => Promise.resolve(),
  });
  await check.runNow();
  await mirror.close();
}

test("a forever mint counts a wallet once; its +5 comes, stays, goes with its carrier and comes again", async ({
  service,
}) => {
  const { ledger } = service.hedera;
  const [ann, bob, cat] = [
    await newVoter(service, { a: 1 }),
    await newVoter(service),
    await newVoter(service),
  ];
  const mintTo = (of: Voter, collection: string) =>
    ledger.mint(collection, { count: 1, to: of.id }).then(([serial = 0]) => serial);
  const star = async (of: Voter) => {
    const { status, body, text } = await cast(service, of.token, "event/mint");
    assert.equal(status, 201, text);
    return body.star.weight;
  };
  /** What the mint shows: its state and weight, and where each voter stands. */
  const shown = async () => {
    const { state, context } = await show(service, "forever-mint/mint");
    const standings = [ann, bob, cat].map(({ id }) => context.wallets[id]?.state ?? "unstarred");
    return [state, context.weight, ...standings];
  };
  // From here on the mint is shown from its snapshot and the facts that came after it.
  assert.deepEqual(await shown(), ["collecting", 0, "unstarred", "unstarred", "unstarred"]);
  const carrier = await mintTo(ann, service.collectionB);
  assert.deepEqual([await star(ann), await star(bob), await star(bob)], [1 + 1 + 5, 1, 0]);
  assert.deepEqual(await shown(), ["collecting", 8, "carrying", "counted", "unstarred"]);
  assert.deepEqual([await star(bob), await star(ann)], [0, 0]);
  assert.deepEqual(await shown(), ["collecting", 8, "carrying", "counted", "unstarred"]);
  await mintTo(bob, service.collectionB);
  assert.deepEqual([await star(bob), await star(cat)], [5, 1]);
  assert.deepEqual(await shown(), ["collecting", 14, "carrying", "carrying", "counted"]);
  // A second collection B NFT adds nothing while the first carries the bonus, and stands in for it.
  const spare = await mintTo(ann, service.collectionB);
  assert.equal(await star(ann), 0);
  await ledger.transfer(service.collectionB, carrier, cat.id);
  await checkHoldings(service);
  assert.deepEqual(await shown(), ["collecting", 14, "carrying", "carrying", "counted"]);
  await ledger.transfer(service.collectionB, spare, cat.id);
  await checkHoldings(service);
  assert.deepEqual(await shown(), ["collecting", 9, "counted", "carrying", "counted"]);
  await mintTo(ann, service.collectionB);
  assert.deepEqual([await star(ann), await star(cat)], [5, 5]);
  assert.deepEqual(await shown(), ["collecting", 19, "carrying", "carrying", "carrying"]);
  await assertReplays(service, "forever-mint/mint", 10);
});

test("a star whose instant slips over midnight is the next day's: it is no repeat, and within the limit", async ({
  service,
}) => {
  const { sql, databaseUrl } = service;
  const writer = openPostgres(databaseUrl, { connections: 1, writer: true });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const now = row?.now ?? 0;
  const midnight = endOfDay(dayOf(now));
  const { commit } = createGroupCommit({ sql: writer, now: goingFrom(now) });
  const [ann, bob] = [await newVoter(service), await newVoter(service)];
  /** Stores so many stars, the last of them in the day's last millisecond. */
  const castBeforeMidnight = async ({ id: wallet }: Voter, count: number) => {
    let follows: string | null = null;
    for (let slot = 1; slot <= count; slot += 1) {
      const target = targetOf({
        type: "token",
        id: `0.0.${9000 + slot}`,
        eventKind: null,
        ledgerId: null,
      });
      const now = midnight - 1 - count + slot;
      const star: DecidedStar = decidedStar({ wallet, now, slot, target, follows });
      assert.equal((await commit(star)).kind, "stored");
      follows = star.star.id;
    }
  };
  await castBeforeMidnight(ann, 1);
  await castBeforeMidnight(bob, 5);
  await writer.end();
  // This day takes no more of their stars, and the next one has not come yet.
  for (const of of [ann, bob]) {
    const early = await cast(service, of.token, "token/0.0.9001");
    assert.deepEqual([early.status, early.body.code], [503, "UNAVAILABLE"]);
  }
  await sql`update session set expires_at = expires_at + ${2 * DAY_MS}`;
  await sql.unsafe(`create or replace function now_ms() returns bigint language sql volatile
    as 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${midnight - now}'`);
  for (const of of [ann, bob]) {
    const { status, body, text } = await cast(service, of.token, "token/0.0.9001");
    assert.equal(status, 201, text);
    assert.deepEqual([body.star.day, body.allowance.used], [dayOf(midnight), 1]);
  }
});

test.run();
