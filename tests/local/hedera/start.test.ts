import * as assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "uvu";
import { freePort } from "../../../src/local/free-port.ts";
import { startConsensusNodes } from "../../../src/local/hedera/consensus-node.ts";
import { openLedger } from "../../../src/local/hedera/ledger.ts";
import { startLocalHedera } from "../../../src/local/hedera/start.ts";

async function isListening(address: string): Promise<boolean> {
  const [host = "", port = ""] = address.split(":");
  const socket = connect(Number(port), host);
  const open = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return open;
}

test("a network has three nodes away from 127.0.0.1, a mirror node, and takes the ports it is given", async () => {
  const [mirrorPort, nodePort] = [await freePort(), await freePort(0, "127.0.0.2")];
  const options = { now: Date.now, mirrorPort, nodePorts: [nodePort] };
  const hedera = await startLocalHedera(options);
  assert.equal(hedera.mirrorUrl, `http://127.0.0.1:${mirrorPort}`);
  assert.equal(hedera.nodes[0]?.address, `127.0.0.2:${nodePort}`);
  assert.deepEqual(
    hedera.nodes.map(({ account }) => account),
    ["0.0.3", "0.0.4", "0.0.5"],
  );
  assert.ok(hedera.nodes.every(({ address }) => address.startsWith("127.0.0.2:")));
  await hedera.close();
  for (const { address } of hedera.nodes) assert.equal(await isListening(address), false);
  await hedera.close();
});

test("a taken port is an error, and nothing stays open", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  if (address === null || typeof address === "string") throw new Error("it has a port");
  const nodePort = await freePort(0, "127.0.0.2");
  const options = { now: Date.now, nodePorts: [nodePort], mirrorPort: address.port };
  await assert.rejects(startLocalHedera(options), { code: "EADDRINUSE" });
  assert.equal(await isListening(`127.0.0.2:${nodePort}`), false);
  taken.close();
});

test("the port on which the SDK insists on TLS is refused", async () => {
  const ledger = await openLedger({ now: Date.now });
  await assert.rejects(startConsensusNodes({ ledger, ports: [50_212] }), RangeError);
  await ledger.close();
});

test("two ledgers know nothing of each other", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => openLedger({ now: Date.now })));
  assert.equal(await one?.createAccount({ key: null }), "0.0.1001");
  assert.equal(await two?.createAccount({ key: null }), "0.0.1001");
  assert.equal(await one?.createAccount({ key: null }), "0.0.1002");
  await Promise.all([one?.close(), two?.close()]);
});

test.run();
