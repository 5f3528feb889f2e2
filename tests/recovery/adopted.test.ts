// timeout: 120 s
/**
 * Goal: a star that waits gets its message, also beside a worker that reads it. Of a star with two, as
 * two workers on two copies of a journal may send them, the first one is its own, and the other one is
 * named. Method: the bytes of a published star are sent once more under another id; then an empty
 * journal, and one in which the star waits, are recovered.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createHederaTopic } from "../../src/ledger/hedera-topic.ts";
import { parseTimestamp } from "../../src/ledger/transaction-id.ts";
import { countLost } from "../../src/publishing/journal-behind.ts";
import { recover } from "../../src/recovery/recover.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { openLostWorld, stateOf } from "./world.ts";

test("the first message of a star is its own, and a second one is named", async () => {
  const world = await openLostWorld({ wallets: 2, days: 1 });
  const { sql, settings, hedera } = world.network;
  await world.goTo(sql, 0, 1);
  const stars = world.wallets.map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
  const before = await stateOf(sql, { numbers: false });
  const [star] = await sql<{ id: string; message: string; topic: string; at: string }[]>`
    select star_id as id, message, topic_id as topic, consensus_timestamp as at
    from outbox order by sequence_number`;
  assert.ok(star);
  const topic = await createHederaTopic({
    network: "local",
    nodes: hedera.nodes.map(({ address, account }) => ({ address, account })),
    operatorId: settings.HEDERA_OPERATOR_ID ?? "",
    operatorKey: settings.HEDERA_OPERATOR_KEY ?? "",
  });
  const { transactionId, signedBytes } = await topic.prepareMessage({
    ...{ topicId: star.topic, message: star.message, memo: star.id },
    validStart: parseTimestamp(star.at) - 1_000_000_000n,
  });
  await topic.send(signedBytes);
  await until(
    "it is there twice",
    async () => (await topic.receipt(transactionId)).kind === "success",
  );
  topic.close();

  const fresh = await world.freshDatabase();
  // Beside a service that has noticed them: of a star that is back, no message is an accepted loss.
  await world.publish(fresh.url);
  await until("the topics are read", async () => (await countLost(fresh.sql)) === 3, 20_000);
  const named = [`${star.topic} #3: a second message of star ${star.id}`];
  const recovered = async () => {
    const looked = await recover(world.recovery(fresh.sql, { isDryRun: true }));
    const { recovered, adopted, unprovable, written } = await recover(world.recovery(fresh.sql));
    const found = [recovered, adopted, unprovable];
    assert.deepEqual([looked.recovered, looked.adopted, looked.unprovable], found, "the dry run");
    assert.equal(written, true);
    return found;
  };
  assert.deepEqual(await recovered(), [2, 0, named]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: false }), before);

  await fresh.sql`alter table outbox disable trigger user`;
  await fresh.sql`
    update outbox set state = 'pending', topic_id = null, transaction_id = null, sequence_number = null,
      consensus_timestamp = null, running_hash = null, message = message || ' '
    where star_id = ${star.id}`;
  // Other bytes than the star's are not its message.
  const first = `${star.topic} #1: a second message of star ${star.id}`;
  assert.deepEqual(await recovered(), [0, 0, [first, ...named]]);
  await fresh.sql`update outbox set message = rtrim(message) where star_id = ${star.id}`;
  await fresh.sql`alter table outbox enable trigger user`;
  assert.deepEqual(await recovered(), [0, 1, named]);
  assert.deepEqual(await recovered(), [0, 0, named]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: false }), before);
  await world.close();
});

/** A recovered journal whose stars wait again, and a worker's connection that may publish them. */
async function openWaiting({ wallets = 1 } = {}) {
  const world = await openLostWorld({ wallets, days: 1 });
  const { sql, settings } = world.network;
  await world.goTo(sql, 0, 1);
  const stars = world.wallets.map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
  const before = await stateOf(sql, { numbers: false });
  const fresh = await world.freshDatabase();
  await recover(world.recovery(fresh.sql));
  const worker = await reserveConnection(fresh.sql);
  await worker`set session_replication_role = replica`;
  await worker`update outbox set state = 'pending'`;
  return { world, fresh, worker, before };
}

test("a worker that reads a star's message at the same time is not in the way of it, nor of the next star", async () => {
  const { world, fresh, worker, before } = await openWaiting({ wallets: 2 });
  await worker`begin`;
  await worker`
    update outbox set state = 'published' where star_id = (select min(star_id::text)::uuid from outbox)`;
  const recovering = recover(world.recovery(fresh.sql, { piece: 1 }));
  await until("the recovery waits for the star", async () => {
    const rows = await fresh.sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return rows.length === 1;
  });
  await worker`commit`;
  await worker`set session_replication_role = origin`;
  worker.release();
  const { recovered, adopted, unprovable } = await recovering;
  assert.deepEqual([recovered, adopted, unprovable], [0, 1, []]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: false }), before);
  await world.close();
});

test("a message that a worker gave its star after a dry run is no second one", async () => {
  const { world, fresh, worker, before } = await openWaiting();
  const dry = await recover(world.recovery(fresh.sql, { isDryRun: true }));
  assert.deepEqual([dry.recovered, dry.adopted], [0, 1]);
  await worker`update outbox set state = 'published'`;
  await worker`set session_replication_role = origin`;
  worker.release();
  const again = await recover(world.recovery(fresh.sql, { isDryRun: true }));
  assert.deepEqual([again.recovered, again.adopted, again.unprovable], [0, 0, []]);
  const { recovered, adopted, unprovable } = await recover(world.recovery(fresh.sql));
  assert.deepEqual([recovered, adopted, unprovable], [0, 0, []]);
  assert.equal((await fresh.sql`select from recovery_message`).length, 0);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: false }), before);
  await world.close();
});

test.run();
