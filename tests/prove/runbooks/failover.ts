/**
 * `docs/operating/failover.md`: a synchronous standby takes over from a primary that is killed under
 * stars, by the page's commands; `npm run prove:failover` does it many times and counts.
 */
import * as assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../../../src/local/free-port.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNetwork } from "../../support/network.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine, untilReady } from "./machine.ts";

const servers = openServers(temporaryFolder("failover"), requirePrograms());
const [copy = "", wait = "", promote = "", lead = "", look = "", recover = "", ...more] =
  blocksOf("failover");
assert.deepEqual(more, []);
const primary = await servers.create("primary");
process.env.STARBOARD_TEST_DATABASE_URL = primary.urlOf("postgres");
const network = await startNetwork();
const standby = await servers.at(join(servers.makeFolder("second"), "data"));
const machine = await openMachine(servers);
try {
  const { HEDERA_OPERATOR_KEY = "", ...settings } = network.settings;
  const [port, workerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const database = new URL(settings.DATABASE_URL ?? "").pathname.slice(1);
  machine.configure("starboard.env", settings);
  machine.configure("operator.env", { HEDERA_OPERATOR_KEY });
  Object.assign(machine.env, settings, {
    SERVER_URL: primary.urlOf("postgres"),
    STANDBY_URL: standby.urlOf("postgres"),
    PRIMARY: `host=127.0.0.1 port=${primary.port} user=postgres`,
    STANDBY_DATA: standby.data,
    STANDBY_PORT: String(standby.port),
    NEW_DATABASE_URL: standby.urlOf(database),
    UNITS: `starboard-serve@${port} starboard-work@${workerPort}`,
    URL: url,
  });
  await machine.run(copy, { asServer: true });
  await machine.run(wait);
  await machine.run("systemctl start $UNITS");
  await untilReady(port);
  const acknowledged: string[] = [];
  const star = async (targets: readonly string[]): Promise<void> => {
    const token = await signIn({ url }, await newWallet(network));
    for (const target of targets) {
      const { status, text, body } = await cast({ url }, token, target);
      assert.equal(status, 201, text);
      acknowledged.push(body.star.id);
    }
  };
  for (let n = 0; n < 4; n += 1) await star(["token/0.0.9001", "event/meetup", "project/dex"]);
  primary.crash();
  await machine.run(promote);
  await machine.run(lead);
  assert.match(await machine.run(look), /"journal":"ok"/);
  const promoted = openPostgres(machine.env.NEW_DATABASE_URL ?? "");
  const rows = await promoted`select id from star where id = any(${acknowledged}::uuid[])`;
  assert.equal(rows.length, acknowledged.length);
  await star(["token/0.0.9002"]);
  // Nothing is behind, so nothing comes back.
  await machine.run(recover);
  const [row] = await promoted`select count(*)::int as stars from star`;
  assert.equal(row?.stars, acknowledged.length);
  await promoted.end();
} finally {
  await machine.close();
  servers.close();
  await network.close().catch(() => undefined);
}
// The network was closed without its database, which went with the primary.
process.exit(0);
