/**
 * Goal: a forever mint's NFTs sold before midnight and starred by their buyer seconds after it count
 * for the buyer, as the preview says, and the export shows why. Method: a real web process on real
 * parts, whose database's clock passes midnight; no worker has made the day's check yet.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { dayOf, endOfDay } from "../../../actors/day.ts";
import { linesOf } from "../../support/export-rig.ts";
import { cast, newWallet, send, signIn, startService } from "../../support/service.ts";

test("a buyer's star ends what the seller no longer holds, and says so in the export", async () => {
  const service = await startService();
  try {
    const { sql, hedera, collectionA, collectionB } = service;
    const [seller, buyer, other] = [
      await newWallet(service, { a: 2, b: 1 }),
      await newWallet(service),
      await newWallet(service),
    ];
    const [selling, buying, looking] = [
      await signIn(service, seller),
      await signIn(service, buyer),
      await signIn(service, other),
    ];
    assert.equal((await cast(service, selling, "event/mint")).body.star.weight, 8);
    await hedera.ledger.transfer(collectionA, [1], buyer.id);
    await hedera.ledger.transfer(collectionB, [1], buyer.id);
    const preview = () =>
      send(service, "GET /voting/preview?type=event&id=mint", { token: buying });
    assert.equal((await preview()).body.weight, 1, "today they count for the seller");

    const shift = endOfDay(dayOf(Date.now())) - Date.now() + 1_000;
    await sql.unsafe(`create or replace function now_ms() returns bigint language sql volatile as $$
      select ${shift} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
    // A star that the database dates otherwise makes the process look at the clock.
    const { body: first } = await cast(service, looking, "event/meetup");
    assert.equal((await preview()).body.weight, 1 + 1 + 5);
    const { status, body } = await cast(service, buying, "event/mint");
    assert.equal(status, 201);
    assert.deepEqual([body.star.weight, body.counter.totalVotes], [7, 8 - 6 + 7]);
    assert.equal((await preview()).body.weight, 0, "they have counted");
    assert.equal((await cast(service, selling, "event/mint")).body.star.weight, 0);

    const reply = await fetch(`${service.url}/exports/${first.star.day}`);
    const lines = linesOf(await reply.text());
    const star = lines.find((line) => line.kind === "star" && line.id === body.star.id);
    assert.ok(star?.kind === "star");
    const releases = lines.flatMap((line) => (line.kind === "release" ? [line] : []));
    assert.deepEqual(
      releases.map(({ collection, serial, wallet, weight }) => [
        collection,
        serial,
        wallet,
        weight,
      ]),
      [
        ["A", 1, seller.id, 1],
        ["B", 1, seller.id, 5],
      ],
    );
    for (const { runId, owner, mintOrder, readAt } of releases) {
      assert.deepEqual([runId, owner, readAt], [star.id, buyer.id, star.held.readAt]);
      assert.ok(mintOrder < (star.mintOrder ?? 0), "they ended before the star brought them");
    }
  } finally {
    await service.close();
  }
});

test.run();
