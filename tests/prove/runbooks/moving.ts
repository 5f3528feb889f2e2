/** `docs/operating/moving.md`: a service that takes stars until it is stopped has all of them on the new server. */
import * as assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../../../src/local/free-port.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNetwork } from "../../support/network.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine, untilReady } from "./machine.ts";

const servers = openServers(temporaryFolder("moving"), requirePrograms());
const [copy = "", stop = "", takeOver = "", look = "", ...more] = blocksOf("moving");
assert.deepEqual(more, []);
const old = await servers.create("old");
process.env.STARBOARD_TEST_DATABASE_URL = old.urlOf("postgres");
const network = await startNetwork();
const fresh = await servers.at(join(servers.makeFolder("new"), "data"));
const machine = await openMachine(servers, async (verb, unit) => {
  assert.deepEqual([verb, unit], ["stop", "postgresql"]);
  await old.stop();
});
try {
  const { HEDERA_OPERATOR_KEY = "", ...settings } = network.settings;
  const [port, workerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  machine.configure("starboard.env", settings);
  machine.configure("operator.env", { HEDERA_OPERATOR_KEY });
  Object.assign(machine.env, settings, {
    SERVER_URL: old.urlOf("postgres"),
    NEW_SERVER_URL: fresh.urlOf("postgres"),
    OLD: `host=127.0.0.1 port=${old.port} user=postgres`,
    NEW_DATA: fresh.data,
    NEW_PORT: String(fresh.port),
    NEW_DATABASE_URL: fresh.urlOf(new URL(settings.DATABASE_URL ?? "").pathname.slice(1)),
    UNITS: `starboard-serve@${port} starboard-work@${workerPort}`,
    URL: url,
  });
  await machine.run("systemctl start $UNITS");
  await untilReady(port);
  await machine.run(copy, { asServer: true });
  const acknowledged: string[] = [];
  const star = async (target: string): Promise<void> => {
    const token = await signIn({ url }, await newWallet(network));
    const { status, text, body } = await cast({ url }, token, target);
    assert.equal(status, 201, text);
    acknowledged.push(body.star.id);
  };
  for (let n = 0; n < 10; n += 1) await star("event/meetup");
  await machine.run(stop);
  await machine.run(takeOver);
  await machine.run(look);
  await star("token/0.0.9001");
  const moved = openPostgres(machine.env.NEW_DATABASE_URL ?? "");
  const rows = await moved`select id from star order by id`;
  assert.deepEqual(
    rows.map(({ id }) => id),
    [...acknowledged].sort(),
  );
  await moved.end();
} finally {
  await machine.close();
  servers.close();
  await network.close().catch(() => undefined);
}
// The network was closed without its database, whose server has stopped.
process.exit(0);
