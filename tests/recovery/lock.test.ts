// timeout: 180 s
/**
 * Goal: a recovery that no longer keeps others out stops, for what it has marked another would forget.
 * Method: the real command waits for a locked table while the connection that holds its lock is cut.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { starboard } from "../support/starboard.ts";
import { openLostWorld } from "./world.ts";

test("a recovery whose lock is cut stops, and leaves the rest to the next one", async () => {
  const world = await openLostWorld({ wallets: 2, days: 1 });
  const { sql, settings } = world.network;
  await world.goTo(sql, 0, 1);
  const stars = world.wallets.map((wallet) => ({ wallet, target: "token/0.0.9001" }));
  await world.cast(settings.DATABASE_URL ?? "", stars);
  await world.publish(settings.DATABASE_URL ?? "");
  const fresh = await world.freshDatabase();
  const own = { ...settings, DATABASE_URL: fresh.url };
  const holder = await reserveConnection(fresh.sql);
  await holder`begin`;
  await holder`lock table recovery_message in share row exclusive mode`;
  const cut = starboard(["journal", "recover"], own);
  // What it has sent goes on beside the next one, as after a kill.
  const waiting = fresh.sql`
    pg_stat_activity as waiting where waiting.datname = current_database()
      and waiting.wait_event_type = 'Lock' and waiting.query ~ 'insert into recovery_message'`;
  await until(
    "it takes messages in, and is cut",
    async () => {
      const rows = await fresh.sql`
        select pg_terminate_backend(lock.pid) from pg_locks as lock, ${waiting}
          and lock.locktype = 'advisory' and lock.granted and lock.database = waiting.datid`;
      return rows.length === 1;
    },
    60_000,
  );
  const { status, stdout, stderr } = await cut;
  assert.equal(
    (await fresh.sql`select from ${waiting}`).length,
    1,
    "its statement is not waited for",
  );
  const phases = await fresh.sql`select phase from operator_log order by id`;
  assert.deepEqual(
    phases.map(({ phase }) => phase),
    ["started", "failed"],
  );
  await holder`rollback`;
  holder.release();
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^the connection was cut that keeps other recoveries out: run .* again$/m);
  const next = await starboard(["journal", "recover", "--json"], own);
  assert.equal(next.json<{ recovered: number }>().recovered, 2, next.stderr);
  await world.close();
});

test.run();
