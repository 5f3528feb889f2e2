/**
 * Goal: an audit is patient, keeps to the rate a mirror node allows, asks for no more than it must,
 * and ends when it is closed. Method: stubs that count.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { newestFirst, openAuditMirror } from "../../src/audit/audit-mirror.ts";
import { readOwnership } from "../../src/audit/read-ownership.ts";
import { replayTopics } from "../../src/audit/replay-topic.ts";
import { MirrorError, type MirrorFault } from "../../src/ledger/mirror/error.ts";
import { silentLogger } from "../../src/log.ts";
import {
  type MirrorStub,
  mirrorStub,
  NOT_FOUND,
  nftRow,
  type Reply,
  sendJson,
} from "../ledger/mirror/stub.ts";

const A = "0.0.5001";
const TOPIC = "0.0.8001";

const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;

async function withMirror(
  reply: Reply,
  run: (mirror: ReturnType<typeof openAuditMirror>, stub: MirrorStub) => Promise<void>,
): Promise<void> {
  const stub = await mirrorStub(reply);
  const mirror = openAuditMirror({ urls: [stub.url], log: silentLogger });
  try {
    await run(mirror, stub);
  } finally {
    await mirror.close();
    await stub.close();
  }
}

const message = (sequence: number) => ({
  chunk_info: null,
  consensus_timestamp: `${1_700_000_000 + sequence}.000000000`,
  message: "e30=",
  payer_account_id: "0.0.1001",
  running_hash: "A".repeat(64),
  running_hash_version: 3,
  sequence_number: sequence,
  topic_id: TOPIC,
});

test("a closed audit does not retry a page that was being fetched", async () => {
  // The first page comes; the second one, fetched ahead, meets a node that has gone.
  const reply: Reply = (response, path) =>
    path.includes("sequencenumber")
      ? response.writeHead(503).end()
      : sendJson(response, 200, { messages: [message(1)], links: { next: "/api/v1/more" } });
  const stub = await mirrorStub(reply);
  const mirror = openAuditMirror({ urls: [stub.url], log: silentLogger });
  const batches = replayTopics(mirror, [{ topic: TOPIC, after: 0, last: 2 }]);
  await batches.next();
  const onItsWay = batches.next();
  while (stub.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await mirror.close();
  await assert.rejects(onItsWay, /mirror node/);
  const asked = stub.asked.length;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(stub.asked.length, asked);
  await stub.close();
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout");
  assert.deepEqual(timers, []);
});

test("a node that never answers, and one that is down, are given up with the right fault", async () => {
  const stub = await mirrorStub(() => undefined);
  const silent = openAuditMirror({ urls: [stub.url], log: silentLogger });
  const gone = openAuditMirror({ urls: ["http://127.0.0.1:9"], log: silentLogger });
  await Promise.all([
    assert.rejects(silent.topicMessages(TOPIC, {}), faultOf("timeout")),
    assert.rejects(gone.topicMessages(TOPIC, {}), faultOf("network")),
  ]);
  await Promise.all([silent.close(), gone.close(), stub.close()]);
});

test("no second sees more than 50 requests", async () => {
  const at: number[] = [];
  const reply: Reply = (response) => {
    at.push(performance.now());
    sendJson(response, 404, NOT_FOUND);
  };
  const startedAt = performance.now();
  await withMirror(reply, async (mirror) => {
    const reads = Array.from({ length: 120 }, (_, i) => mirror.account(`0.0.${2_000 + i}`));
    await Promise.all(reads);
  });
  // A busy machine sees some of them late, and none of them early.
  for (const [n, seenAt] of at.entries()) assert.ok(seenAt - startedAt >= n * 20, `request ${n}`);
});

test("an NFT burned before the time audited costs no request; one whose collection was deleted does", async () => {
  const since = 1_800_000_000_000;
  const nfts = [
    nftRow(1),
    nftRow(2, { account_id: null, deleted: true }),
    nftRow(3, { deleted: true }),
    nftRow(4, { account_id: null, deleted: true, modified_timestamp: "1800000001.000000000" }),
  ];
  const reply: Reply = (response, path) =>
    path.includes("/transactions")
      ? sendJson(response, 200, { transactions: [], links: { next: null } })
      : sendJson(response, 200, { nfts, links: { next: null } });
  await withMirror(reply, async (mirror, stub) => {
    const { tenures } = await readOwnership({
      mirror,
      collection: A,
      since,
      onProgress: () => undefined,
    });
    const histories = stub.asked.filter((path) => path.includes("/transactions"));
    assert.deepEqual(histories.map((path) => path.split("/")[6]).sort(), ["3", "4"]);
    assert.deepEqual(
      tenures.get("0.0.1001")?.map(({ serial }) => serial),
      [1],
    );
  });
});

/** A mirror node that has come so far, in seconds, and has so many messages. */
const reached =
  (seconds: number, messages: number): Reply =>
  (response, path) => {
    const timestamp = { from: "1.000000000", to: `${seconds}.000000000` };
    if (path.includes("/blocks"))
      return sendJson(response, 200, { blocks: [{ number: 1, timestamp }] });
    const rows = Array.from({ length: messages }, (_, n) => message(n + 1));
    sendJson(response, 200, { messages: rows, links: { next: null } });
  };

test("of several mirror nodes one that is minutes behind is asked last, from the first read on and later", async () => {
  const [old, none, current] = await Promise.all([
    mirrorStub(reached(1_700_000_000, 1)),
    mirrorStub((response) => response.writeHead(404).end("<html>")),
    mirrorStub(reached(1_700_000_600, 2)),
  ]);
  const urls = [old.url, none.url, current.url];
  assert.deepEqual(await newestFirst(urls), [none.url, current.url, old.url]);
  assert.deepEqual(await newestFirst([old.url]), [old.url]);
  const mirror = openAuditMirror({ urls: [old.url, current.url], log: silentLogger });
  let seen = 0;
  for (let turn = 0; turn < 400 && seen < 2; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    seen = (await mirror.topicMessages(TOPIC, {})).messages.length;
  }
  assert.equal(seen, 2);
  await Promise.all([mirror, old, none, current].map((each) => each.close()));
});

test.run();
