// timeout: 600 s
/**
 * Goal: "A revoked key stops working immediately", in every process. Method: real `serve`
 * processes are asked without pause with one key; it is revoked meanwhile; every request that was
 * sent after the revocation had returned must be refused. Then the next key.
 *
 *     npm run prove:revoke
 */
import * as assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { Agent, request } from "undici";
import { test } from "uvu";
import { issueKey, revokeKey } from "../../../src/keys/api-keys.ts";
import { givenNumber } from "../../support/given-number.ts";
import { type Network, startNetwork } from "../../support/network.ts";
import { type Child, startProcess, until } from "../../support/processes.ts";
import { setUp } from "../../support/set-up.ts";

const PATHS = ["/v1/tokens/top", "/v1/events", "/v1/ecosystem"];
/** Asked of each process once the key is revoked. */
const AFTER = 3;
/** Processes that start at once on a busy machine. */
const START_WITHIN_MS = 120_000;
const BUSY = "UNAVAILABLE";

const { values } = parseArgs({ options: { rounds: { type: "string" } }, strict: false });
/** As many as there are different moments to revoke at. */
const rounds = givenNumber("rounds", String(values.rounds ?? 25));
/** The proof asks four; two are enough to see that no process remembers a key. */
const PROCESSES = values.rounds === undefined ? 2 : 4;

let network: Network;
const children: Child[] = [];
const urls: string[] = [];
const agent = new Agent({ connections: 4, keepAliveTimeout: 4_000 });
test.before(
  setUp(async () => {
    network = await startNetwork();
    // One after the other: all at once take a busy machine longer than each waits for Postgres.
    while (children.length < PROCESSES) {
      const settings = await network.webSettings();
      const url = `http://127.0.0.1:${settings.PORT}`;
      const child = startProcess("serve", { ...settings, API_RATE_LIMIT: "1000000" });
      children.push(child);
      urls.push(url);
      const isReady = () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(`${url} answers`, isReady, START_WITHIN_MS).catch((late: Error) => {
        throw new Error(`${late.message}; it said: ${child.log()}`);
      });
    }
  }),
);
test.after(async () => {
  await agent.destroy();
  assert.deepEqual(
    await Promise.all(children.map((child) => child.stop())),
    children.map(() => 0),
  );
  await network.close();
});

interface Race {
  readonly key: string;
  revoked: boolean;
}

/** Asks one process until the key is revoked, and a few times more. */
async function keepAsking(url: string, race: Race, seen: Map<string, number>): Promise<void> {
  let after = 0;
  for (let turn = 0; after < AFTER; turn++) {
    // Read before the request is sent: what is sent later than that is judged more mildly, never harder.
    const wasRevoked = race.revoked;
    const { statusCode, body } = await request(`${url}${PATHS[turn % PATHS.length]}`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${race.key}` },
    });
    const text = await body.text();
    const said = statusCode === 200 ? "200" : JSON.parse(text).code;
    // A machine that is too busy for the key's look-up refuses too, and is asked again.
    if (wasRevoked && said !== BUSY) after += 1;
    const name = `${wasRevoked ? "after" : "before"} ${said}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
}

test(`${rounds} keys revoked under load: no late answer of any process (P13)`, async () => {
  const seen = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const { id, key } = await issueKey(network.sql, "race");
    const race: Race = { key, revoked: false };
    const asking = urls.flatMap((url) => [
      keepAsking(url, race, seen),
      keepAsking(url, race, seen),
    ]);
    // Now early, now late within the crowd of requests.
    await new Promise((resolve) => setTimeout(resolve, round % 25));
    await revokeKey(network.sql, id);
    race.revoked = true;
    await Promise.all(asking);
  }
  process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
  assert.equal(seen.get("after REVOKED_API_KEY"), rounds * PROCESSES * 2 * AFTER);
  assert.equal(seen.get("after 200"), undefined);
  assert.ok((seen.get("before 200") ?? 0) > rounds, "the key had worked");
  const others = [...seen.keys()].filter(
    (name) => !/ (200|REVOKED_API_KEY|UNAVAILABLE)$/.test(name),
  );
  assert.deepEqual(others, []);
});

test.run();
