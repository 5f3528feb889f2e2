import * as assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import { createHederaTopic } from "../../src/ledger/hedera-topic.ts";
import { limitGrpcCalls } from "../../src/vendor-patches/grpc-call-deadlines.ts";

test("a node that holds its connections open and never answers keeps none of them", async () => {
  // Before the topic does it with its own, longer time.
  limitGrpcCalls(3_000);
  const sessions = new Set<ServerHttp2Session>();
  let started = 0;
  const node = createServer().listen(0, "127.0.0.1");
  node.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  node.on("stream", (stream) => {
    started += 1;
    stream.on("error", () => undefined).resume();
  });
  await once(node, "listening");
  const { port } = node.address() as AddressInfo;
  const { privateKey } = generateKeyPairSync("ed25519");
  const topic = await createHederaTopic({
    network: "local",
    nodes: [{ address: `127.0.0.1:${port}`, account: "0.0.3" }],
    operatorId: "0.0.2",
    operatorKey: privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
    callDeadlineMs: 2_000,
  });
  const validStart = BigInt(Date.now()) * 1_000_000n;
  const message = { topicId: "0.0.9", message: "hello", memo: "", validStart };
  const { signedBytes } = await topic.prepareMessage(message);
  assert.deepEqual(await topic.send(signedBytes), { kind: "unknown", why: "no answer in time" });
  assert.equal(started, 1);
  topic.close();

  const until = performance.now() + 5_000;
  while (sessions.size > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const left = sessions.size;
  for (const session of sessions) session.destroy();
  node.close();
  assert.equal(left, 0);
});

test.run();
