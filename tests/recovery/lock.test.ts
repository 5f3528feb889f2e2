// timeout: 180 s
/**
 * Goal: a recovery that no longer keeps others out stops, for what it has marked another would forget. One
 * that has done its work says all of it first.
 * Method: the real command waits for a locked table while the connection that holds its lock is cut. It
 * prints into a pipe that is full.
 */
import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { nodeArguments } from "../support/script.ts";
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

const ENTRY = new URL("../../src/processes/starboard.ts", import.meta.url);
/** Fills the pipe to a reader that reads once it is asked to, then runs what is given with its output there. */
const INTO_FULL_PIPE =
  'exec 3<&0; (head -c 65536 /dev/zero; "$@") | (read -r go <&3; tail -c +65537)';
/** Longer than a recovery that has failed stays. */
const UNREAD_MS = 2_500;

test("a recovery that is done waits for a reader who is slow, and prints its whole document", async () => {
  const world = await openLostWorld({ wallets: 1, days: 1 });
  const { sql, settings } = world.network;
  const command = [process.execPath, ...nodeArguments(ENTRY), "journal", "recover", "--json"];
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn("sh", ["-c", INTO_FULL_PIPE, "sh", ...command], {
    env: { PATH, HOME, ...settings },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const printed = text(child.stdout);
  await until("it is done", async () => {
    const ended = await sql`select from operator_log where phase = 'done'`;
    return ended.length === 1;
  });
  await sleep(UNREAD_MS);
  child.stdin.end("\n");
  const { recovered, unprovable } = JSON.parse(await printed);
  assert.deepEqual([recovered, unprovable], [0, []]);
  await world.close();
});

test.run();
