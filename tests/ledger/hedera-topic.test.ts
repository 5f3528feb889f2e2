import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { suite } from "uvu";
import { createHederaTopic } from "../../src/ledger/hedera-topic.ts";
import { MirrorClient } from "../../src/ledger/mirror/node.ts";
import type { Topic } from "../../src/ledger/topic.ts";
import { startConsensusNodes } from "../../src/local/hedera/consensus-node.ts";
import { ecdsaKey, ed25519Key } from "../../src/local/hedera/keys.ts";
import { silentLogger } from "../../src/log.ts";
import { type TestNetwork, testNetwork } from "../local/hedera/network.ts";
import type { SendFault } from "../support/fake-topic.ts";
import type { ConsensusFault } from "../support/node-faults.ts";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";
import { SLACK_MS } from "../support/slack.ts";
import { topicContract } from "./topic.contract.ts";

/** The unmodified SDK against three consensus nodes of this machine. */
const test = suite("hedera topic");
let opened: Promise<TestNetwork> | undefined;
const network = (): Promise<TestNetwork> => {
  opened ??= testNetwork();
  return opened;
};

function openTopic(here: TestNetwork, operatorKey = derOf(here)): Promise<Topic> {
  const { hedera, operator } = here;
  return createHederaTopic({
    network: "local",
    nodes: hedera.nodes,
    operatorId: operator.id,
    operatorKey,
    callDeadlineMs: DEADLINE_MS,
  });
}

function derOf({ operator }: TestNetwork): string {
  return operator.privateKey.export({ format: "der", type: "pkcs8" }).toString("hex");
}

function newTopicId({ hedera, operator }: TestNetwork): Promise<string> {
  return hedera.ledger.createTopic({ submitKey: ed25519Key(operator.publicKey) });
}

const SECOND = 1_000_000_000n;
/** Nodes of this machine answer in milliseconds. */
const DEADLINE_MS = 500;
const tenSecondsAgo = (): bigint => BigInt(Date.now()) * 1_000_000n - 10n * SECOND;

function toNodeFault(fault: SendFault): ConsensusFault {
  if (fault.kind === "answer lost") return { kind: "accept-then-drop" };
  if (fault.kind === "refused") return { kind: "refuse", code: fault.status as never };
  if (fault.kind === "failed") return { kind: "fail-at-consensus", code: fault.status as never };
  return { kind: "drop" };
}

topicContract("the SDK and three nodes", async () => {
  const here = await network();
  const { hedera } = here;
  const topic = await openTopic(here);
  const topicId = await newTopicId(here);
  const mirror = new MirrorClient({ urls: [hedera.mirrorUrl], log: silentLogger });
  const heal = (): void => {
    for (const { faults } of hedera.nodes) faults.heal();
  };
  return {
    topic: {
      ...topic,
      // The fault waits at every node for the one that is asked.
      send: (signedBytes) => topic.send(signedBytes).finally(heal),
    },
    topicId,
    now: () => BigInt(Date.now()) * 1_000_000n,
    async messages() {
      const { messages } = await mirror.topicMessages(topicId, {});
      return messages.map(({ bytes, runningHash }) => ({ text: bytes.toString(), runningHash }));
    },
    fault(fault) {
      for (const { faults } of hedera.nodes) faults.inject(toNodeFault(fault));
    },
    async close() {
      topic.close();
      await mirror.close();
    },
  };
});

async function submit(topic: Topic, topicId: string, message = "hello") {
  const validStart = tenSecondsAgo() + BigInt(Math.floor(Math.random() * 1e6));
  const prepared = await topic.prepareMessage({ topicId, message, memo: "", validStart });
  return { ...prepared, outcome: await topic.send(prepared.signedBytes) };
}

test("stored bytes are sent as they are by another process with another key", async () => {
  const here = await network();
  const [first, topicId] = [await openTopic(here), await newTopicId(here)];
  const validStart = tenSecondsAgo();
  const { signedBytes, transactionId } = await first.prepareMessage({
    topicId,
    message: "m",
    memo: "",
    validStart,
  });
  first.close();
  const otherKey = generateKeyPairSync("ed25519").privateKey;
  const der = otherKey.export({ format: "der", type: "pkcs8" }).toString("hex");
  const second = await openTopic(here, der);
  assert.deepEqual(await second.send(Buffer.from(signedBytes)), { kind: "accepted" });
  await second.receipt(transactionId);
  const { maxFee } = here.hedera.ledger.order.state.transactions.at(-1) ?? {};
  // A tenth of an HBAR; by itself the SDK would allow two.
  assert.equal(maxFee, 10_000_000n);
  second.close();
});

test("a key that is not the operator's is a refusal for the configuration", async () => {
  const here = await network();
  const otherKey = generateKeyPairSync("ed25519").privateKey;
  const topic = await openTopic(
    here,
    otherKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
  );
  const { outcome } = await submit(topic, await newTopicId(here));
  assert.deepEqual(outcome, {
    kind: "refused",
    status: "INVALID_SIGNATURE",
    refusal: "configuration",
  });
  topic.close();
});

test("an ECDSA operator signs in a way the nodes accept, whichever way its key is written", async () => {
  const here = await network();
  const { secretKey, publicKey } = secp256k1.keygen();
  const operatorId = await here.hedera.ledger.createAccount({ key: ecdsaKey(publicKey) });
  const topicId = await here.hedera.ledger.createTopic({ submitKey: ecdsaKey(publicKey) });
  const raw = Buffer.from(secretKey).toString("hex");
  for (const operatorKey of [`0x${raw}`, `3030020100300706052b8104000a04220420${raw}`]) {
    const topic = await createHederaTopic({
      network: "local",
      nodes: here.hedera.nodes,
      operatorId,
      operatorKey,
    });
    assert.equal(topic.publicKey.key, Buffer.from(publicKey).toString("hex"));
    assert.deepEqual((await submit(topic, topicId)).outcome, { kind: "accepted" });
    topic.close();
  }
});

test("a node that is down is asked last, and nothing waits for it twice", async () => {
  const here = await network();
  const [topic, topicId] = [await openTopic(here), await newTopicId(here)];
  const [down] = here.hedera.nodes;
  down?.faults.inject({ kind: "unavailable", calls: "all" });
  const outcomes = [];
  for (let i = 0; i < 9; i++) outcomes.push((await submit(topic, topicId)).outcome.kind);
  assert.ok(outcomes.filter((kind) => kind === "unknown").length <= 1, outcomes.join());
  assert.ok(outcomes.filter((kind) => kind === "accepted").length >= 8);
  down?.faults.heal();
  topic.close();
});

test("when all nodes were silent for a while, the first good one is used at once", async () => {
  const here = await network();
  const [topic, topicId] = [await openTopic(here), await newTopicId(here)];
  for (const { faults } of here.hedera.nodes) faults.inject({ kind: "unavailable", calls: "all" });
  for (let i = 0; i < 6; i++) assert.equal((await submit(topic, topicId)).outcome.kind, "unknown");
  for (const { faults } of here.hedera.nodes) faults.heal();
  assert.deepEqual((await submit(topic, topicId)).outcome, { kind: "accepted" });
  topic.close();
});

/** Sets the machine's clock, not the ledger's and not timers. @returns sets it right again */
function setMachineBack(ms: number): () => void {
  const machine = Date;
  const now = (): number => machine.now() - ms;
  globalThis.Date = new Proxy(machine, {
    construct: (target, given, type) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, type),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  return () => {
    globalThis.Date = machine;
  };
}

test("a machine clock that is set back keeps no node from being asked", async () => {
  const here = await network();
  const [topic, topicId] = [await openTopic(here), await newTopicId(here)];
  let validStart = tenSecondsAgo();
  const send = async (): Promise<string> => {
    validStart += 1n;
    const message = { topicId, message: "hello", memo: "", validStart };
    return (await topic.send((await topic.prepareMessage(message)).signedBytes)).kind;
  };
  const setRight = setMachineBack(600_000);
  try {
    for (const _ of here.hedera.nodes) assert.equal(await send(), "accepted");
    for (const { faults } of here.hedera.nodes) {
      faults.inject({ kind: "unavailable", calls: "all" });
      // Two fail and are renewed one after the other.
      for (let n = 0; n < 6; n += 1) await send();
    }
    for (const { faults } of here.hedera.nodes) faults.heal();
    for (let n = 0; n < 6; n += 1) assert.equal(await send(), "accepted");
  } finally {
    setRight();
    for (const { faults } of here.hedera.nodes) faults.heal();
    topic.close();
  }
});

test("a node that never answers is given up at the deadline", async () => {
  const here = await network();
  const [topic, topicId] = [await openTopic(here), await newTopicId(here)];
  for (const { faults } of here.hedera.nodes) faults.inject({ kind: "drop" });
  const started = performance.now();
  assert.equal((await submit(topic, topicId)).outcome.kind, "unknown");
  assert.ok(performance.now() - started < DEADLINE_MS + SLACK_MS);
  for (const { faults } of here.hedera.nodes) faults.heal();
  topic.close();
});

test("a call that was answered leaves no timer behind", async () => {
  const here = await network();
  const [topic, topicId] = [await openTopic(here), await newTopicId(here)];
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const call = async (): Promise<void> => {
    const { transactionId, outcome } = await submit(topic, topicId);
    assert.equal(outcome.kind, "accepted");
    await topic.receipt(transactionId);
  };
  // Connections have timers of their own, one each.
  for (const _ of here.hedera.nodes) await call();
  const before = timers();
  for (let n = 0; n < 6; n += 1) await call();
  assert.ok(timers() <= before, `${timers()} timers run, ${before} before six calls`);
  topic.close();
});

test("a topic is made with the operator's submit key, at the operator's expense, and no admin key", async () => {
  const here = await network();
  const topic = await openTopic(here);
  const validStart = tenSecondsAgo();
  const { signedBytes, transactionId } = await topic.prepareTopic({ memo: "stars", validStart });
  assert.deepEqual(await topic.send(signedBytes), { kind: "accepted" });
  const receipt = await topic.receipt(transactionId);
  assert.ok(receipt.kind === "success" && receipt.sequenceNumber === null);
  const mirror = new MirrorClient({ urls: [here.hedera.mirrorUrl], log: silentLogger });
  const made = await mirror.topic(String(receipt.topicId));
  assert.equal(made?.memo, "stars");
  assert.equal(made?.adminKey, null);
  assert.deepEqual(made?.submitKey, topic.publicKey);
  const row = await fetch(`${here.hedera.mirrorUrl}/api/v1/topics/${receipt.topicId}`);
  // Who pays the rent is not read by the client.
  assert.equal(((await row.json()) as Record<string, unknown>).auto_renew_account, topic.payer);
  await mirror.close();
  topic.close();
});

test("the bytes for each node are those of one transaction, for three nodes", async () => {
  const here = await network();
  const topic = await openTopic(here);
  const validStart = tenSecondsAgo();
  const message = { topicId: "0.0.5000", message: "x".repeat(1_024), memo: "m", validStart };
  const { signedBytes } = await topic.prepareMessage(message);
  assert.ok(signedBytes.length > 3 * 1_024 && signedBytes.length < 3 * 1_500);
  topic.close();
});

test("bytes that were signed for other nodes are sent to none", async () => {
  const here = await network();
  const topic = await openTopic(here);
  const other = await createHederaTopic({
    network: "local",
    nodes: [{ address: "127.0.0.2:1", account: "0.0.77" }],
    operatorId: here.operator.id,
    operatorKey: "11".repeat(32),
  });
  const { signedBytes } = await other.prepareMessage({
    topicId: "0.0.5000",
    message: "m",
    memo: "",
    validStart: tenSecondsAgo(),
  });
  assert.equal((await topic.send(signedBytes)).kind, "unsendable");
  topic.close();
  other.close();
});

test("importing this file does not load the SDK", () => {
  const module = scriptOf(new URL("../../src/ledger/hedera-topic.ts", import.meta.url));
  const script = `
    await import(${JSON.stringify(module)});
    const { createRequire } = await import("node:module");
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(loaded.filter((file) => /hashgraph|hiero/.test(file)).length);`;
  const out = execFileSync(process.execPath, [...NODE_FLAGS, "--input-type=module", "-e", script]);
  assert.equal(String(out).trim(), "0");
});

test("nodes whose connections were cut are used again before gRPC would try by itself", async () => {
  const here = await network();
  const topicId = await newTopicId(here);
  const start = (ports: readonly number[]) =>
    startConsensusNodes({ ledger: here.hedera.ledger, ports, consensusDelayMs: 0 });
  const up = await start([]);
  const ports = up.nodes.map(({ address }) => Number(address.split(":")[1]));
  const topic = await createHederaTopic({
    network: "local",
    nodes: up.nodes,
    operatorId: here.operator.id,
    operatorKey: derOf(here),
    // No short deadline: nodes that are away refuse at once, and a busy machine connects late.
  });
  assert.equal((await submit(topic, topicId)).outcome.kind, "accepted");
  await up.close();
  // By then gRPC tries about every sixth second: after 1 s, and each time 1.6 times as late.
  const cutUntil = performance.now() + 10_000;
  while (performance.now() < cutUntil) {
    assert.equal((await submit(topic, topicId)).outcome.kind, "unknown");
  }
  const back = await start(ports);
  const returned = performance.now();
  while ((await submit(topic, topicId)).outcome.kind !== "accepted");
  // gRPC's own next try would come about six seconds after the return.
  assert.ok(performance.now() - returned < 5_000);
  topic.close();
  await back.close();
});

test.after(async () => (await network()).close());
test.run();
