// timeout: 180 s
/**
 * Goal: a recovery that dies in the middle of a statement leaves nothing behind that the next one
 * cannot take up, also while the service is up, and ends as an undisturbed one does. Method: the
 * real command as a process of its own, which meets a locked table at each of its stages and is
 * killed there; the statement it left goes on when the lock goes, beside the next run. At the end
 * an outsider audits the service that was up all the time.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { issueKey } from "../../src/keys/api-keys.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { starboard } from "../support/starboard.ts";
import { openLostWorld, stateOf } from "./world.ts";

const world = await openLostWorld({ wallets: 8, days: 3 });
const { network, wallets } = world;
let web: Child | undefined;
test.after(async () => {
  await web?.kill();
  await world.close();
});

/** Keeps a table from being written. @returns lets it be written again */
const lock = (sql: Sql, table: string) =>
  hold(sql, `lock table ${table} in share row exclusive mode`);

/** Keeps a day from being made final, and nothing else. @returns lets it become final */
const lockDay = (sql: Sql, day: Day) =>
  hold(
    sql,
    `insert into export_day (day, header, stars, releases, bytes, sha256, previous, chain)
      select '${day}', '', 0, 0, 1, zeros, zeros, encode(sha256(convert_to(zeros || zeros, 'UTF8')), 'hex')
      from repeat('0', 64) as zeros`,
  );

async function hold(sql: Sql, statement: string): Promise<() => Promise<void>> {
  const holder = await reserveConnection(sql);
  await holder.unsafe(`begin; ${statement}`);
  return async () => {
    await holder.unsafe("rollback");
    holder.release();
  };
}

/** How many statements of that kind wait for a lock. */
async function waiting(sql: Sql, kind: string): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(distinct pid)::int as waiting from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database() and query ~ ${kind}`;
  return row?.waiting ?? 0;
}

test("a recovery killed at each of its stages and made again, while the service is up", async () => {
  const { sql, settings } = network;
  for (const day of [0, 1]) {
    await world.goTo(sql, day, 3_600_000);
    const targets = [
      "event/meetup",
      "event/mint",
      "token/0.0.9001",
      `project/${day ? "dex" : "wiki"}`,
    ];
    await world.cast(
      settings.DATABASE_URL ?? "",
      wallets.flatMap((wallet) => targets.map((target) => ({ wallet, target }))),
    );
    await world.publish(settings.DATABASE_URL ?? "");
  }
  await world.finalize(sql);
  const { folder } = await world.keepExports(sql);
  const before = await stateOf(sql, { numbers: true });
  const [{ oldest } = { oldest: "" }] = await sql<
    { oldest: Day }[]
  >`select min(day)::text as oldest from export_day`;

  const fresh = await world.freshDatabase();
  const own = { ...(await network.webSettings()), DATABASE_URL: fresh.url };
  web = startProcess("serve", own);
  const ready = async (): Promise<unknown> =>
    fetch(`http://127.0.0.1:${own.PORT}/readyz`).then(
      async (reply) => ((await reply.json()) as { journal?: string }).journal,
      () => undefined,
    );
  await until("the service says that it is behind", async () => (await ready()) === "behind");
  const args = ["journal", "recover", "--export", folder, "--json"];
  const meets = (what: string, child: Child, [kind, commands]: readonly [string, number]) => {
    let isOver = false;
    void child.exited.then(() => {
      isOver = true;
    });
    const isMet = async (): Promise<boolean> => {
      assert.equal(isOver, false, `${what}: it ended: ${child.said()}${child.log()}`);
      return (await waiting(fresh.sql, kind)) === commands;
    };
    return until(what, isMet, 60_000);
  };
  const release = await lock(fresh.sql, "recovery_message");
  const first = startProcess(args, own);
  await meets("the first reads", first, ["insert into recovery_message", 1]);
  const beside = await starboard(["journal", "recover", "--dry-run"], own);
  assert.deepEqual([beside.status, beside.stdout], [1, ""]);
  assert.match(beside.stderr, /^another `journal recover` is at work on this database$/m);
  await first.kill();
  await release();
  const releaseStars = await lock(fresh.sql, "mint_star");
  const second = startProcess(args, own);
  await meets("the second writes stars", second, ["recover_stars", 1]);
  await second.kill();
  // The statement that the second left under way goes on beside the third.
  const third = startProcess(args, own);
  await meets("the third waits for it", third, ["recover_stars|wait_for_recovery", 2]);
  const releaseDay = await lockDay(fresh.sql, oldest);
  await releaseStars();
  await meets("the third makes days final", third, ["insert into export_day", 1]);
  await third.kill();
  await releaseDay();
  const { status, stdout, stderr } = await starboard(args, own);
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(JSON.parse(stdout).unprovable, []);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
  await until("the service is not behind any more", async () => (await ready()) === "ok");

  await world.goTo(fresh.sql, 2, Date.now() - startOfDay(dayOf(Date.now())));
  const { key } = await issueKey(fresh.sql, "audit");
  const api = ["--api", `http://127.0.0.1:${own.PORT}`, "--key", key];
  const audit = await starboard(["audit", ...api, "--json"], own);
  assert.equal(audit.status, 0, audit.stdout + audit.stderr);
  const { checked, mismatches, unprovable } = JSON.parse(audit.stdout);
  assert.deepEqual([checked.messages, mismatches, unprovable], [before.stars.length, [], []]);
  assert.ok(checked.rankings > 0, JSON.stringify(checked));
});

test.run();
