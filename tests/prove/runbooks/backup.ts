/** `docs/operating/backup.md`: some stars before the dump, some after it; all of them come back. */
import * as assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../../../src/store/postgres.ts";
import { openLostWorld, stateOf } from "../../recovery/world.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine, untilReady } from "./machine.ts";

const servers = openServers(temporaryFolder("backup"), requirePrograms());
const [dump = "", exports = "", load = "", bringBack = "", ...more] = blocksOf("backup");
assert.deepEqual(more, []);
const old = await servers.create("old");
process.env.STARBOARD_TEST_DATABASE_URL = old.urlOf("postgres");
const world = await openLostWorld({ wallets: 8, days: 2 });
const fresh = await servers.create("new");
const machine = await openMachine(servers);
try {
  const { sql, settings } = world.network;
  const own = await world.network.webSettings();
  const stars = (...targets: readonly string[]) =>
    world.wallets.flatMap((wallet) => targets.map((target) => ({ wallet, target })));
  const backup = join(servers.folder, "kept");
  mkdirSync(backup);
  Object.assign(machine.env, settings, {
    BACKUP: backup,
    URL: `http://127.0.0.1:${own.PORT}`,
    SERVER_URL: fresh.urlOf("postgres"),
    OWNER_PASSWORD: "owner",
    WEB_PASSWORD: "web",
    NEW_DATABASE_URL: fresh.urlOf("starboard_new").replace("postgres@", "starboard@"),
  });
  machine.configure("starboard.env", own);

  await world.goTo(sql, 0, 3_600_000);
  await world.cast(own.DATABASE_URL ?? "", stars("event/meetup", "event/mint", "token/0.0.9001"));
  await world.publish(own.DATABASE_URL ?? "");
  await machine.run(dump);
  await world.goTo(sql, 1, 3_600_000);
  await world.cast(own.DATABASE_URL ?? "", stars("event/meetup", "event/mint", "project/dex"));
  await world.publish(own.DATABASE_URL ?? "");
  await world.finalize(sql);
  await machine.run(`systemctl start starboard-serve@${own.PORT}`);
  await untilReady(own.PORT);
  await machine.run(exports);
  await machine.run(`systemctl stop starboard-serve@${own.PORT}`);
  const before = await stateOf(sql, { numbers: true });
  await machine.run(load);
  const restored = openPostgres(machine.env.NEW_DATABASE_URL ?? "");
  // The dump has the clock of its day.
  await world.goTo(restored, 1, 0);
  await machine.run(bringBack);
  assert.deepEqual(await stateOf(restored, { numbers: true }), before);
  await restored.end();
} finally {
  await machine.close();
  await world.close();
  servers.close();
}
