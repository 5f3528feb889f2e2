// timeout: 240 s
/**
 * Goal: `kill -9` of web and worker processes loses no acknowledged star and puts none twice on
 * its topic. Method: real `serve` and `work` processes; a client that repeats each star under its
 * Idempotency-Key until it is acknowledged; meanwhile web and worker are killed alternately; then
 * journal and topics, as the mirror node shows them, are compared with the acknowledged stars.
 * `npm run prove:chaos` kills hundreds of times.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { messagesOf, type Network, startNetwork } from "../support/network.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { newWallet, signIn } from "../support/service.ts";
import { setUp } from "../support/set-up.ts";

const WALLETS = 40;
const STARS_EACH = 5;
const STARS_PER_LIFE = 50;
const TARGETS = [
  "token/0.0.9001",
  "event/meetup",
  "collection/0.0.8001",
  "event/mint",
  "project/dex",
];

interface Star {
  readonly id: string;
  readonly weight: number;
}

let network: Network;
let web: Child;
let worker: Child;
test.before(
  setUp(async () => {
    network = await startNetwork();
  }),
);
test.after(async () => {
  await Promise.all([web?.kill(), worker?.kill()]);
  await network?.close();
});

test("200 stars under alternate kill -9 of web and worker: none lost, none twice on the topic (A3 kill9-everywhere, P1, P6)", async () => {
  const settings = await network.webSettings();
  const url = `http://127.0.0.1:${settings.PORT}`;
  const isUp = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  web = startProcess(["serve", "--json"], settings);
  worker = startProcess(["work", "--json"], network.settings);
  await until("the web process is up", isUp);
  // One after another: forty at once take a busy machine longer than a request may take.
  const tokens: string[] = [];
  for (let n = 0; n < WALLETS; n += 1) {
    const wallet = await newWallet(network, { a: n % 4, b: n % 2 });
    tokens.push(await signIn({ url }, wallet));
  }

  const acknowledged = new Map<string, Star>();
  let isDone = false;
  const voting = Promise.all(
    tokens.map(async (token, n) => {
      for (const target of TARGETS.slice(0, STARS_EACH)) {
        acknowledged.set(`${n}/${target}`, await castUntilAcknowledged(url, token, target));
      }
    }),
  ).finally(() => {
    isDone = true;
  });
  // Awaited below; a star that is refused meanwhile fails the test there.
  voting.catch(() => undefined);
  let kills = 0;
  const restart = async (child: Child, start: () => Child): Promise<Child> => {
    await child.kill();
    kills += 1;
    return start();
  };
  do {
    // Each life of the processes moves the work on, however slowly this machine starts them.
    const before = acknowledged.size;
    await until(
      "some stars are acknowledged",
      () => isDone || acknowledged.size >= before + STARS_PER_LIFE,
      60_000,
    );
    web = await restart(web, () => startProcess(["serve", "--json"], settings));
    await pause(500);
    worker = await restart(worker, () => startProcess(["work", "--json"], network.settings));
    await until("the web process is back", isUp);
  } while (!isDone && kills < 40);
  await voting;
  assert.equal(acknowledged.size, WALLETS * STARS_EACH);
  assert.ok(kills >= 6, `${kills} kills`);

  await until(
    "every star is published",
    async () => {
      const [row] =
        await network.sql`select count(*) as waiting from outbox where state <> 'published'`;
      return row?.waiting === 0;
    },
    120_000,
  );
  const stars = await network.sql<
    { id: string; weight: number; message: string; sequence: number; topic: "event" | "asset" }[]
  >`
    select id, weight, message, sequence_number as sequence, topic from star join outbox on star_id = id`;
  const journal = new Map(stars.map((row) => [row.id, row]));
  for (const { id, weight } of acknowledged.values()) assert.equal(journal.get(id)?.weight, weight);
  assert.equal(stars.length, acknowledged.size, "each stored star is acknowledged");
  for (const topic of ["event", "asset"] as const) {
    const onLedger = await messagesOf(network, network.topics[topic]);
    assert.deepEqual(
      onLedger.map(({ sequence }) => sequence),
      onLedger.map((_, index) => index + 1),
    );
    const stored = stars.filter((row) => row.topic === topic);
    assert.deepEqual(
      onLedger.map(({ sequence, text }) => `${sequence} ${text}`).sort(),
      stored.map(({ sequence, message }) => `${sequence} ${message}`).sort(),
    );
  }
  process.stdout.write(`# ${acknowledged.size} stars, ${kills} kills\n`);
  // The last kill may be so new that a start is still under way.
  await until("both are up", () => web?.said() !== "" && worker?.said() !== "");
  assert.equal(await web.stop(), 0, web.log());
  assert.equal(await worker.stop(), 0, worker.log());
});

/** Repeats one star until a 201 comes back, as a client does after a lost reply. */
async function castUntilAcknowledged(url: string, token: string, target: string): Promise<Star> {
  const [type, id] = target.split("/");
  const key = `${token.slice(0, 8)} ${target}`;
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    const reply = await fetch(`${url}/voting/stars`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ target: { type, id } }),
    }).catch(() => undefined);
    if (reply?.status === 201) return ((await reply.json()) as { star: Star }).star;
    if (reply !== undefined && reply.status < 500) {
      throw new Error(`${target}: ${reply.status} ${await reply.text()}`);
    }
    await reply?.text();
    await pause(100);
  }
  throw new Error(`${target} was never acknowledged`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test.run();
