import * as assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "uvu";
import { freePort } from "../../src/local/free-port.ts";

/** Any address of this machine but the default one. */
const OTHER_HOST = process.platform === "linux" ? "127.0.0.3" : "::1";

test("a port that is taken at the host asked for is not given, though it is free elsewhere", async () => {
  const server = createServer().listen(0, OTHER_HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.notEqual(await freePort(port, OTHER_HOST), port);
  server.close();
  await once(server, "close");
  assert.equal(await freePort(port, OTHER_HOST), port);
});

test("a host that is no address of this machine has no free port", async () => {
  await assert.rejects(freePort(0, "192.0.2.1"), { message: "no free TCP port on 192.0.2.1" });
});

test.run();
