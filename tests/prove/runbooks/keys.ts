/**
 * `docs/operating/keys.md`: each secret is replaced while the service is up. The old one opens nothing,
 * the new one does; stars before and after another operator's key are all published, and audited.
 */
import * as assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../src/local/free-port.ts";
import { seedDirectory } from "../../support/engine.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNetwork } from "../../support/network.ts";
import { testDatabase } from "../../support/postgres.ts";
import { until } from "../../support/processes.ts";
import { cast, newKey, newWallet, signIn } from "../../support/service.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine, untilReady } from "./machine.ts";

const servers = openServers(temporaryFolder("keys"), requirePrograms());
const blocks = blocksOf("keys");
const [issue = "", revoke = "", operators = "", tokens = ""] = blocks;
const [stopWorkers = "", topics = "", start = "", look = "", ...more] = blocks.slice(4);
assert.deepEqual(more, []);
const server = await servers.create("server");
process.env.STARBOARD_TEST_DATABASE_URL = server.urlOf("postgres");
const network = await startNetwork();
const machine = await openMachine(servers);
try {
  const { HEDERA_OPERATOR_ID = "", HEDERA_OPERATOR_KEY = "", ...settings } = network.settings;
  const [port, workerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const old = { OPERATOR_TOKEN: "the old operator token", METRICS_TOKEN: "the old metrics token" };
  machine.configure("starboard.env", { ...settings, ...old });
  machine.configure("operator.env", { HEDERA_OPERATOR_ID, HEDERA_OPERATOR_KEY });
  Object.assign(machine.env, settings, {
    CLIENT: "client",
    OPERATOR: "ada",
    WEBS: String(port),
    WORKERS: String(workerPort),
    OLD_EVENT_TOPIC: network.topics.event,
    OLD_ASSET_TOPIC: network.topics.asset,
  });
  await machine.run("systemctl start starboard-serve@$WEBS starboard-work@$WORKERS");
  await untilReady(port);
  const statusOf = async (path: string, token: string): Promise<number> =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).status;
  const keyIn = (text: string): string => /starboard_live_\w+/.exec(text)?.[0] ?? "";
  const listed = async (): Promise<
    readonly { readonly id: string; readonly revokedAt: unknown }[]
  > => JSON.parse(await machine.run("starboard keys list --json"));

  const oldKey = keyIn(await machine.run(issue));
  machine.env.OLD_KEY_ID = (await listed())[0]?.id ?? "";
  const key = keyIn(await machine.run(issue));
  assert.deepEqual(
    [await statusOf("/v1/events", oldKey), await statusOf("/v1/events", key)],
    [200, 200],
  );
  await machine.run(revoke);
  assert.deepEqual(
    [await statusOf("/v1/events", oldKey), await statusOf("/v1/events", key)],
    [401, 200],
  );

  const tokenIn = (text: string): string =>
    /starboard_operator_\w+|starboard_op\w*_\w+/.exec(text)?.[0] ?? "";
  const oldToken = tokenIn(await machine.run('starboard operators add "$OPERATOR" --role admin'));
  assert.equal(await statusOf("/ops/api/health", oldToken), 200);
  const token = tokenIn(await machine.run(operators));
  assert.deepEqual(
    [await statusOf("/ops/api/health", oldToken), await statusOf("/ops/api/health", token)],
    [401, 200],
  );
  assert.equal(await statusOf("/ops/api/health", old.OPERATOR_TOKEN), 200);
  await machine.run(tokens);
  assert.equal(await statusOf("/ops/api/health", old.OPERATOR_TOKEN), 401);
  assert.equal(await statusOf("/metrics", old.METRICS_TOKEN), 401);
  const file = readFileSync(join(machine.env.CONFIG ?? "", "starboard.env"), "utf8");
  const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(file)?.[1] ?? "";
  assert.equal(await statusOf("/ops/api/health", setting("OPERATOR_TOKEN")), 200);
  assert.equal(await statusOf("/metrics", setting("METRICS_TOKEN")), 200);
  await untilReady(workerPort);
  const ofWorker = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${workerPort}/metrics`, { headers })).status;
  };
  assert.deepEqual(
    [await ofWorker(old.METRICS_TOKEN), await ofWorker(setting("METRICS_TOKEN"))],
    [401, 200],
  );

  const star = async (...targets: readonly string[]): Promise<void> => {
    const session = await signIn({ url }, await newWallet(network));
    for (const target of targets) {
      const { status, text } = await cast({ url }, session, target);
      assert.equal(status, 201, text);
    }
  };
  await star("token/0.0.9001", "event/meetup");
  await until(
    "the old topics have their stars",
    async () => {
      const [row] =
        await network.sql`select count(*) as left from outbox where state <> 'published'`;
      return row?.left === 0;
    },
    120_000,
  );
  const fresh = newKey("ed25519");
  const account = await network.hedera.ledger.createAccount({ key: fresh.publicKey });
  machine.env.NEW_OPERATOR_ENV = join(machine.env.HOME ?? "", "next.env");
  const next = `HEDERA_OPERATOR_ID=${account}\nHEDERA_OPERATOR_KEY=${fresh.key}\n`;
  writeFileSync(machine.env.NEW_OPERATOR_ENV, next, { mode: 0o600 });
  await machine.run(stopWorkers);
  await star("token/0.0.9002", "event/meetup");
  await machine.run(topics);
  await machine.run(start);
  await star("token/0.0.9003", "project/dex");
  await machine.run(look);
  const rows = await network.sql<{ topics: number; stars: number }[]>`
    select count(distinct topic_id)::int as topics, count(*)::int as stars from outbox where state = 'published'`;
  assert.deepEqual({ ...rows[0] }, { topics: 4, stars: 6 });

  // "run it once with the old ids and once with the new ones"
  const empty = await testDatabase({ migrated: true });
  await seedDirectory(empty.sql as never);
  machine.env.DATABASE_URL = empty.url;
  await machine.run("starboard journal recover");
  await machine.run('set -a; . "$CONFIG/topics.env"; starboard journal recover');
  const [back] = await empty.sql`select count(*)::int as stars from star`;
  assert.equal(back?.stars, 6);
  await empty.close();
} finally {
  await machine.close();
  await network.close();
  servers.close();
}
