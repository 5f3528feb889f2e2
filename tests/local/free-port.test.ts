import * as assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "uvu";
import { freePort, readPort } from "../../src/local/free-port.ts";
import { temporaryFolder } from "../support/folder.ts";

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

test("a file that keeps no port is as good as none", () => {
  const folder = temporaryFolder("free-port");
  const file = join(folder, "port");
  assert.equal(readPort(file), 0);
  for (const [text, port] of [
    ["5551", 5551],
    ["99999", 0],
    ["-1", 0],
    ["", 0],
  ] as const) {
    writeFileSync(file, text);
    assert.equal(readPort(file), port);
  }
  rmSync(folder, { recursive: true });
});

test.run();
