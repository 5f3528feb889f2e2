import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { until } from "../support/processes.ts";
import { SLACK_MS } from "../support/slack.ts";
import { type Live, openLive, openPublisher, pause } from "./live.ts";

/** A publisher among failing nodes, mirror node and database, all of them real. */
const test = suite("publisher among faults");
let live: Live;
test.before(async () => {
  live = await openLive();
});
test.after(() => live.close());
test.after.each(() => live.heal());

test("lost answers, silence, BUSY and false DUPLICATEs end with each star there once", async () => {
  const publisher = await openPublisher(live.place);
  for (const { faults } of live.network.hedera.nodes) {
    faults.inject({ kind: "accept-then-drop", times: 3 });
    faults.inject({ kind: "refuse", code: "BUSY", times: 3 });
    faults.inject({ kind: "foreign-duplicate", times: 2 });
    faults.inject({ kind: "unavailable", calls: "all", times: 3 });
    faults.inject({ kind: "drop", times: 1 });
  }
  const stars = await live.box(60);
  publisher.wake();
  await live.published(stars, 60_000);
  await live.assertOnce(stars);
  await publisher.close();
});

test("within five seconds after all nodes were silent, publishing goes on by itself (P17)", async () => {
  const publisher = await openPublisher(live.place);
  for (const { faults } of live.network.hedera.nodes) faults.inject({ kind: "drop", calls: "all" });
  const stars = await live.box(40);
  publisher.wake();
  await pause(6_000);
  assert.equal(await live.countLeft(stars), 40);
  live.heal();
  await live.published(stars, 5_000 + SLACK_MS);
  await live.assertOnce(stars);
  await publisher.close();
});

test("while the mirror node fails, sending goes on; within five seconds after, all is confirmed", async () => {
  const publisher = await openPublisher(live.place);
  const healMirror = live.network.hedera.mirror.faults.inject({ kind: "fail", status: 500 });
  const stars = await live.box(20);
  publisher.wake();
  await until("all are sent", async () => (await live.states(stars)).every((is) => is === "sent"));
  await pause(2_000);
  healMirror();
  await live.published(stars, 5_000 + SLACK_MS);
  await live.assertOnce(stars);
  await publisher.close();
});

test("a mirror node that is seconds behind delays the confirmation by just that", async () => {
  const publisher = await openPublisher(live.place);
  live.network.hedera.mirror.faults.inject({ kind: "lag", ms: 3_000 });
  const stars = await live.box(10);
  publisher.wake();
  await live.published(stars, 6_000);
  await live.assertOnce(stars);
  await publisher.close();
});

test("connections to Postgres that are cut at any moment lose and double nothing", async () => {
  const publisher = await openPublisher(live.place);
  const stars = await live.box(100);
  publisher.wake();
  const allPublished = async (): Promise<boolean> => {
    if ((await live.countLeft(stars).catch(() => 1)) === 0) return true;
    // Not those that are only just made: their end while postgres.js reads the array types
    // is an error that cannot be caught.
    await live.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and query <> '' and query not like '%typcategory%'`.catch(() => undefined);
    await pause(400);
    return false;
  };
  await until("all are published", allPublished, 60_000);
  await live.assertOnce(stars);
  await publisher.close();
});

test.run();
