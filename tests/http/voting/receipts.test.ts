/**
 * Goal: with a star's id anyone can follow its message to the ledger. Method: real `serve` and
 * `work` processes over a local ledger; each state is held still by a fault, and
 * the receipt is compared with what the mirror node says.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { exportLine } from "../../../src/journal/export-format.ts";
import { startNetwork } from "../../support/network.ts";
import { startProcess, until } from "../../support/processes.ts";
import { cast, newWallet, send, signIn } from "../../support/service.ts";

const NOTHING = {
  state: "stored",
  topicId: null,
  transactionId: null,
  sequenceNumber: null,
  consensusTimestamp: null,
  runningHash: null,
};

test("a receipt has every field of its publication, in each state", async () => {
  const network = await startNetwork();
  const settings = await network.webSettings();
  const service = { url: `http://127.0.0.1:${settings.PORT}` };
  const web = startProcess("serve", settings);
  await until("the web process is up", () =>
    fetch(`${service.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const wallet = await newWallet(network, { a: 2, b: 1 });
  const token = await signIn(service, wallet);
  const stars: { id: string; topic: string }[] = [];
  for (const target of ["event/meetup", "token/0.0.9001"]) {
    const { body } = await cast(service, token, target);
    const topic = target.startsWith("event") ? network.topics.event : network.topics.asset;
    stars.push({ id: body.star.id, topic });
  }
  const publicationOf = async (id: string) =>
    (await send(service, `GET /voting/stars/${id}`)).body.publication;
  for (const { id } of stars) assert.deepEqual(await publicationOf(id), NOTHING);
  const { headers } = await send(service, `GET /voting/stars/${stars[0]?.id}`);
  assert.equal(headers.get("cache-control"), "no-cache");

  // A worker sends once it has read the topics; until then no node takes a message.
  for (const { faults } of network.hedera.nodes) faults.inject({ kind: "unavailable" });
  const worker = startProcess("work", network.settings);
  await until("the worker has read the topics", async () => {
    const [waiting] = await network.sql`select from outbox where state = 'pending'`;
    return waiting === undefined;
  });
  // The mirror node answers everything but messages: sent, and not seen yet.
  network.hedera.mirror.faults.inject({
    kind: "fail",
    status: 503,
    path: /\/topics\/[^/]+\/messages/,
    times: 1_000_000,
  });
  for (const { faults } of network.hedera.nodes) faults.heal();
  for (const { id, topic } of stars) {
    await until(
      "a message is submitted",
      async () => (await publicationOf(id)).state === "submitted",
    );
    const { transactionId, ...rest } = await publicationOf(id);
    assert.match(transactionId, /^0\.0\.[1-9]\d*@\d{10}\.\d{9}$/);
    assert.equal(transactionId.split("@")[0], network.settings.HEDERA_OPERATOR_ID);
    const { transactionId: _, ...nothing } = NOTHING;
    assert.deepEqual(rest, { ...nothing, state: "submitted", topicId: topic });
  }

  network.hedera.mirror.faults.heal();
  for (const { id, topic } of stars) {
    await until("a star is published", async () => (await publicationOf(id)).state === "published");
    const publication = await publicationOf(id);
    assert.ok(Number.isInteger(publication.sequenceNumber));
    const row = await messageOf(network.hedera.mirrorUrl, topic, publication.sequenceNumber);
    const { account_id, transaction_valid_start } = row.chunk_info.initial_transaction_id;
    assert.deepEqual(publication, {
      state: "published",
      topicId: topic,
      transactionId: `${account_id}@${transaction_valid_start}`,
      sequenceNumber: row.sequence_number,
      consensusTimestamp: row.consensus_timestamp,
      runningHash: row.running_hash,
    });
    assert.match(publication.consensusTimestamp, /^\d{10}\.\d{9}$/);
    assert.equal(Buffer.from(publication.runningHash, "base64").length, 48);
  }
  await assertExported(service, stars, publicationOf);
  assert.equal(await web.stop(), 0);
  assert.equal(await worker.stop(), 0);
  await network.close();
});

/** The day's export says the same of these stars as their receipts do. */
async function assertExported(
  service: { url: string },
  stars: readonly { id: string }[],
  publicationOf: (id: string) => Promise<unknown>,
): Promise<void> {
  const listed = await send(service, "GET /exports");
  const day = listed.body.exports.at(-1).day;
  const text = await (await fetch(`${service.url}/exports/${day}`)).text();
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => exportLine.parse(JSON.parse(line)));
  const exported = lines.filter((line) => line.kind === "star");
  assert.deepEqual(
    exported.map(({ id }) => id),
    stars.map(({ id }) => id),
  );
  for (const { id, publication } of exported) {
    assert.deepEqual(publication, await publicationOf(id));
  }
}

interface MessageRow {
  readonly chunk_info: {
    readonly initial_transaction_id: {
      readonly account_id: string;
      readonly transaction_valid_start: string;
    };
  };
  readonly sequence_number: number;
  readonly consensus_timestamp: string;
  readonly running_hash: string;
}

async function messageOf(mirror: string, topic: string, sequence: number): Promise<MessageRow> {
  return (await fetch(`${mirror}/api/v1/topics/${topic}/messages/${sequence}`)).json() as never;
}

test.run();
