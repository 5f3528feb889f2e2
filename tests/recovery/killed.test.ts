// timeout: 180 s
/**
 * Goal: a recovery that dies in the middle of a statement leaves nothing behind that the next one
 * cannot take up, also while the service is up, and ends as one that was let be. Method: the real
 * command as a process of its own, which meets a locked table at each of its stages and is killed
 * there; the statement it left goes on when the lock goes, beside the next run. At the end an outsider
 * audits the service that was up all the time.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { dayOf, startOfDay } from "../../actors/day.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
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
async function lock(sql: Sql, table: string): Promise<() => Promise<void>> {
  const holder = await sql.reserve();
  await holder.unsafe(`begin; lock table ${table} in share row exclusive mode`);
  return async () => {
    await holder.unsafe("commit");
    holder.release();
  };
}

/** How many of the commands' statements wait for a lock. */
async function waiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(distinct pid)::int as waiting from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database()
      and query ~ 'stage_messages|adopt_messages|recover_stars|insert into export_day'`;
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
  const meets = (what: string, commands: number, child: Child) => {
    let isOver = false;
    void child.exited.then(() => {
      isOver = true;
    });
    const isMet = async (): Promise<boolean> => {
      assert.equal(isOver, false, `${what}: it ended: ${child.said()}${child.log()}`);
      return (await waiting(fresh.sql)) === commands;
    };
    return until(what, isMet, 60_000);
  };
  const release = await lock(fresh.sql, "recovery_message");
  const first = startProcess(args, own);
  await meets("the first reads", 1, first);
  await first.kill();
  await release();
  const releaseStars = await lock(fresh.sql, "mint_star");
  const second = startProcess(args, own);
  await meets("the second writes stars", 1, second);
  await second.kill();
  // The third meets the stars that the second left under way.
  const third = startProcess(args, own);
  await meets("the third waits for them", 2, third);
  const releaseDays = await lock(fresh.sql, "export_day");
  await releaseStars();
  await meets("the third makes days final", 1, third);
  await third.kill();
  await releaseDays();
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
