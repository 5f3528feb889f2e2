/**
 * `docs/operating/point-in-time.md`: stars, an instant, a mistake and more stars; the server of that
 * instant has no mistake, and gets the later stars back from the ledger.
 */
import * as assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../../../src/store/postgres.ts";
import { openLostWorld, stateOf } from "../../recovery/world.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { until } from "../../support/processes.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine } from "./machine.ts";

const servers = openServers(temporaryFolder("point-in-time"), requirePrograms());
const [archive = "", base = "", switchLog = "", restore = "", bringBack = "", ...more] =
  blocksOf("point-in-time");
assert.deepEqual(more, []);
const old = await servers.create("old");
process.env.STARBOARD_TEST_DATABASE_URL = old.urlOf("postgres");
const world = await openLostWorld({ wallets: 8, days: 2 });
const fresh = await servers.at(join(servers.makeFolder("fresh"), "data"));
const machine = await openMachine(servers, async (verb, unit) => {
  assert.deepEqual([verb, unit], ["restart", "postgresql"]);
  await old.stop();
  await old.start();
});
try {
  const { sql, settings } = world.network;
  const url = settings.DATABASE_URL ?? "";
  const stars = (...targets: readonly string[]) =>
    world.wallets.flatMap((wallet) => targets.map((target) => ({ wallet, target })));
  const backup = servers.makeFolder("kept");
  Object.assign(machine.env, settings, {
    ARCHIVE: servers.makeFolder("archive"),
    BACKUP: backup,
    SERVER_URL: old.urlOf("postgres"),
    NEW_DATA: fresh.data,
    NEW_PORT: String(fresh.port),
    NEW_DATABASE_URL: fresh.urlOf(new URL(url).pathname.slice(1)),
  });
  await machine.run(archive);
  await machine.run(base, { asServer: true });

  await world.goTo(sql, 0, 3_600_000);
  await world.cast(url, stars("event/meetup", "event/mint", "token/0.0.9001"));
  await world.publish(url);
  const [clock] = await sql`select clock_timestamp()::text as now, pg_sleep(1)`;
  machine.env.TARGET = String(clock?.now);
  await sql`delete from token where id = '0.0.9002'`;
  await world.goTo(sql, 1, 3_600_000);
  await world.cast(url, stars("event/meetup", "event/mint", "project/dex"));
  await world.publish(url);
  await world.finalize(sql);
  const { folder } = await world.keepExports(sql);
  cpSync(folder, join(backup, "exports"), { recursive: true });
  const before = await stateOf(sql, { numbers: true });

  await machine.run(switchLog);
  await machine.run(restore, { asServer: true });
  const restored = openPostgres(machine.env.NEW_DATABASE_URL ?? "");
  const [then] = await restored`
    select count(*)::int as stars, (select count(*)::int from token where id = '0.0.9002') as tokens from star`;
  assert.deepEqual({ ...then }, { stars: 24, tokens: 1 });
  await until("the server has reached its instant", async () => {
    const [row] = await restored`select pg_is_in_recovery() as recovers`;
    return row?.recovers === false;
  });
  await world.goTo(restored, 1, 0);
  await machine.run(bringBack);
  assert.deepEqual(await stateOf(restored, { numbers: true }), before);
  await restored.end();
} finally {
  await machine.close();
  await world.close();
  servers.close();
}
