import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "uvu";
import { startLocalHedera } from "../../../src/local/hedera/start.ts";
import { nanosOfMs, SECOND } from "../../../src/local/hedera/timestamps.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { nodeArguments } from "../../support/script.ts";
import { type HapiClient, hapiClient, submitMessage, transactionBytes } from "./hapi-client.ts";
import { type Holder, newHolder } from "./network.ts";
import { brokenLinks, readTopic } from "./topic-chain.ts";

const folder = temporaryFolder("ledger");

/** Starts the network in a child; resolves with it and the address of its first node. */
async function startChild() {
  const script = join(import.meta.dirname, "network-process.ts");
  const child = spawn(process.execPath, [...nodeArguments(script), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const [address] = JSON.parse(String(line)) as string[];
  return { child, address: address ?? "" };
}

interface Sent {
  readonly text: string;
  readonly bytes: Buffer;
  readonly validStart: bigint;
  /** From its SUCCESS receipt; undefined when the answer never came. */
  sequence?: number;
  runningHash?: Buffer;
}

interface Load {
  readonly client: HapiClient;
  readonly payer: Holder;
  readonly topic: string;
  readonly sent: Sent[];
  confirmed(): void;
}

/** One sender: message after message, each confirmed by its receipt, until the node is gone. */
async function sendUntilGone({ client, payer, topic, sent, confirmed }: Load): Promise<void> {
  try {
    for (;;) {
      const validStart = nanosOfMs(Date.now()) - 10n * SECOND + BigInt(sent.length);
      const text = `message ${sent.length}`;
      const body = submitMessage(topic, Buffer.from(text));
      const bytes = transactionBytes({ payer, node: "0.0.3", validStart, body });
      const one: Sent = { text, bytes, validStart };
      sent.push(one);
      const { code } = await client.send(bytes);
      if (code !== "OK") continue;
      const { status, receipt } = await client.receipts(payer.id, validStart);
      if (status !== "SUCCESS") continue;
      one.sequence = Number(receipt.topicSequenceNumber);
      one.runningHash = Buffer.from(receipt.topicRunningHash ?? []);
      confirmed();
    }
  } catch {
    // Killed.
  }
}

test("kill -9 under load loses nothing that a receipt called SUCCESS, and the chain goes on", async () => {
  const seeding = await startLocalHedera({ folder, now: Date.now });
  const payer = await newHolder(seeding);
  const topic = await seeding.ledger.createTopic({});
  await seeding.close();

  const sent: Sent[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { child, address } = await startChild();
    const client = hapiClient(address);
    let left = 150;
    let enough = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const confirmed = (): void => {
      left -= 1;
      if (left === 0) enough();
    };
    const sender = () => sendUntilGone({ client, payer, topic, sent, confirmed });
    const load = Array.from({ length: 20 }, sender);
    await reached;
    child.kill("SIGKILL");
    await Promise.all([once(child, "exit"), ...load]);
    client.close();
  }

  const hedera = await startLocalHedera({ folder, now: Date.now });
  const client = hapiClient(hedera.nodes[0]?.address ?? "");
  const before = await readTopic(hedera.mirrorUrl, topic);
  assert.deepEqual(brokenLinks(before), []);
  const confirmed = sent.filter(({ sequence }) => sequence !== undefined);
  assert.ok(confirmed.length >= 300);
  for (const { text, sequence = 0, runningHash, validStart } of confirmed) {
    const row = before[sequence - 1];
    assert.equal(Buffer.from(row?.message ?? "", "base64").toString(), text);
    assert.deepEqual(Buffer.from(row?.running_hash ?? "", "base64"), runningHash);
    // Its receipt survived as well.
    const { status, receipt } = await client.receipts(payer.id, validStart);
    assert.deepEqual([status, Number(receipt.topicSequenceNumber)], ["SUCCESS", sequence]);
  }

  // Everything sent again, byte for byte: each message is there exactly once in the end.
  for (const { bytes, validStart } of sent) {
    const { code } = await client.send(bytes);
    assert.ok(code === "OK" || code === "DUPLICATE_TRANSACTION", code);
    assert.equal((await client.receipts(payer.id, validStart)).status, "SUCCESS");
  }
  const after = await readTopic(hedera.mirrorUrl, topic);
  assert.deepEqual(brokenLinks(after), []);
  const texts = after.map(({ message }) => Buffer.from(message, "base64").toString());
  assert.deepEqual(texts.toSorted(), sent.map(({ text }) => text).toSorted());
  client.close();
  await hedera.close();
});

test("a row that the mirror node has shown is there after the restart", async () => {
  const first = await startLocalHedera({ folder, now: Date.now });
  const topic = await first.ledger.createTopic({ memo: "seen" });
  await first.ledger.closeBlock();
  const seen = await (await fetch(`${first.mirrorUrl}/api/v1/topics/${topic}`)).json();
  const blocks = await (await fetch(`${first.mirrorUrl}/api/v1/blocks?limit=1`)).json();
  const last = first.ledger.lastConsensus();
  await first.close();
  const second = await startLocalHedera({ folder, now: () => 0 });
  assert.deepEqual(await (await fetch(`${second.mirrorUrl}/api/v1/topics/${topic}`)).json(), seen);
  assert.deepEqual(await (await fetch(`${second.mirrorUrl}/api/v1/blocks?limit=1`)).json(), blocks);
  // A clock that starts from nothing cannot take consensus time back.
  await second.ledger.createTopic({});
  assert.ok(second.ledger.lastConsensus() > last);
  await second.close();
});

test.run();
