/**
 * Goal: the far ends of what may be asked get an answer of the contract, never a 5xx, and no
 * answer is later than promised or of a day that is over. Method: a web process on real parts.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { until } from "../../support/processes.ts";
import { reserveConnection } from "../../support/reserve-connection.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { SLACK_MS } from "../../support/slack.ts";

const test = suite<{ service: Service; token: string }>("edges of the voting API");

test.before(async (context) => {
  context.service = await startService();
  context.token = await signIn(context.service, await newWallet(context.service));
});
test.after((context) => context.service.close());

test("days before the year 1 are no days; the last day of the year 9999 is one without stars", async ({
  service,
  token,
}) => {
  for (const day of ["0000-01-01", "0000-12-31", "10000-01-01", "2026-02-29"]) {
    const { status, body } = await send(service, `GET /voting/stars?day=${day}`, { token });
    assert.deepEqual([day, status, body.code, body.field], [day, 400, "INVALID_REQUEST", "day"]);
  }
  for (const day of ["0001-01-01", "9999-12-31"]) {
    const { status, body } = await send(service, `GET /voting/stars?day=${day}`, { token });
    assert.deepEqual([status, body], [200, { day, stars: [] }]);
  }
});

test("an id with an instant beyond the year 9999 is no star's", async ({ service }) => {
  for (const id of [
    "ffffffff-ffff-7fff-bfff-ffffffffffff",
    "e677d21f-dc00-7000-8000-000000000000",
    "00000000-0000-7000-8000-000000000000",
  ]) {
    const { status, body } = await send(service, `GET /voting/stars/${id}`);
    assert.deepEqual([id, status, body.code], [id, 404, "NOT_FOUND"]);
  }
});

test("an account number larger than the ledger has is no account; the largest may be one", async ({
  service,
}) => {
  for (const wallet of ["0.0.274877906944", "0.0.999999999999"]) {
    const { status, body } = await send(service, "POST /voting/challenges", { json: { wallet } });
    assert.deepEqual([wallet, status, body.code], [wallet, 404, "UNKNOWN_WALLET"]);
  }
  const largest = { wallet: "0.0.274877906943" };
  assert.equal((await send(service, "POST /voting/challenges", { json: largest })).status, 201);
});

test("several slow waits do not add up: a star is answered within 3 s, the rest within 2 s", async () => {
  // A service of its own: with another outbox the journal counts as another one, whose topics are
  // read before the next star.
  const service = await startService();
  const token = await signIn(service, await newWallet(service));
  await cast(service, token, "event/meetup");
  // Each look-up takes 1.6 s, none of them too long by itself; a list needs two. A star needs
  // one, and then waits for a lock.
  await service.sql.unsafe(`
    alter table session rename to session_kept;
    alter table outbox rename to outbox_kept;
    create view session as select session_kept.* from session_kept, pg_sleep(1.6);
    create view outbox as select outbox_kept.* from pg_sleep(1.6), outbox_kept;
    grant select on session, outbox to starboard_app`);
  const holder = await reserveConnection(service.sql);
  await holder`begin`;
  await holder`lock table event_total, item_day in exclusive mode`;

  const timed = async (work: Promise<{ status: number }>) => {
    const startedAt = performance.now();
    const { status } = await work;
    return { status, ms: performance.now() - startedAt };
  };
  const [star, receipts] = await Promise.all([
    timed(cast(service, token, "token/0.0.9001")),
    timed(send(service, "GET /voting/stars", { token })),
  ]);
  await holder`rollback`;
  holder.release();
  await service.close();
  assert.equal(star.status, 503);
  assert.ok(star.ms > 2_900 && star.ms < 3_000 + SLACK_MS, `${star.ms} ms`);
  // The list's two look-ups together: 3.2 s, and then 200.
  assert.equal(receipts.status, 503);
  assert.ok(receipts.ms > 1_900, `${receipts.ms} ms`);
});

test("the database's clock jumps over midnight: no answer is of the old day any more", async ({
  service,
}) => {
  const token = await signIn(service, await newWallet(service));
  const first = await cast(service, token, "token/0.0.9001");
  assert.equal(first.status, 201);
  assert.equal((await cast(service, token, "token/0.0.9001")).status, 409);
  const mint = await cast(service, token, "event/mint");
  const [before] = await service.sql<{ left: number }[]>`
    select 86400000 - now_ms() % 86400000 + 60000 as left`;
  await service.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${before?.left} $$`);
  const [today] = await service.sql<{ day: string }[]>`select utc_day(now_ms()) as day`;
  const yesterday = first.body.star.day;
  const preview = await send(service, "GET /voting/preview?type=token&id=0.0.9001", { token });
  const { alreadyStarred, lastStarredDay, allowance: left } = preview.body;
  assert.deepEqual([alreadyStarred, lastStarredDay, left.used], [false, yesterday, 0]);
  const again = await cast(service, token, "token/0.0.9001");
  assert.deepEqual([again.status, again.body.star?.day], [201, today?.day]);
  // Nothing accumulates: the counter is this star's alone.
  assert.equal(again.body.counter.totalVotes, again.body.star.weight);
  const mintAgain = await cast(service, token, "event/mint");
  for (const asked of ["type=token&id=0.0.9001", "type=event&id=mint"]) {
    const { body } = await send(service, `GET /voting/preview?${asked}`, { token });
    assert.equal(body.lastStarredDay, today?.day, asked);
  }
  const allowance = await send(service, "GET /voting/allowance", { token });
  assert.deepEqual([allowance.body.day, allowance.body.used], [today?.day, 2]);
  for (const [query, day, ...stars] of [
    [`?day=${yesterday}`, yesterday, mint, first],
    ["", today?.day, mintAgain, again],
  ]) {
    const { body } = await send(service, `GET /voting/stars${query}`, { token });
    const ids = stars.map((star) => star.body.star.id);
    assert.deepEqual([body.day, body.stars.map(({ id }: { id: string }) => id)], [day, ids]);
  }
});

test("after a recovery no star is refused for one that was remembered and stands in its wallet's day no more", async ({
  service,
}) => {
  const token = await signIn(service, await newWallet(service));
  const { body } = await cast(service, token, "token/0.0.9001");
  await cast(service, token, "token/0.0.9002");
  const says = (code: string) =>
    until(code, async () => {
      return (await cast(service, token, "token/0.0.9002")).body.code === code;
    });
  await service.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.502', 99, '')`;
  await says("JOURNAL_BEHIND");
  // As where the first star is set aside, and a lost one comes back in its place.
  await service.sql.unsafe(`set session_replication_role = replica;
    update star set id = gen_random_uuid(), target_id = '0.0.9003' where id = '${body.star.id}';
    update publishing_finding set resolved_at = now_ms();
    reset session_replication_role`);
  await says("ALREADY_STARRED");
  const again = await cast(service, token, "token/0.0.9001");
  assert.deepEqual([again.status, again.body.allowance?.used], [201, 3]);
});

test.run();
