// timeout: 300 s
/**
 * `npm start` with settings of the caller's own: what runs beside it finds it, and what stands in
 * its way is said before anything is started. Method: real processes in a folder of their own.
 */
import * as assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import { freePort } from "../../src/local/free-port.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { starboard } from "../support/starboard.ts";

interface Context {
  folder: string;
  port: number;
  child: Child;
}
const test = suite<Context>("npm start");
test.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  context.port = await freePort();
  await start(context);
});
test.after(async ({ child, folder }) => {
  await child.stop();
  rmSync(folder, { recursive: true, force: true });
});

const environmentOf = ({ folder }: Context): string =>
  join(folder, ".starboard", "environment.json");

async function start(context: Context): Promise<void> {
  const child = startProcess("dev", { PORT: String(context.port) }, context.folder);
  context.child = child;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await until("the start", () => child.said().includes("Starboard is up") || ended, 120_000);
  assert.ok(!ended, child.log());
}

/** Where a start says that Postgres and the mirror node are. */
const addresses = (said: string): readonly string[] =>
  said.match(/^ {2}(Mirror node|Postgres) .*$/gm) ?? [];

test("commands beside it find the port that it was given", async (context) => {
  const announced = JSON.parse(readFileSync(environmentOf(context), "utf8"));
  assert.equal(announced.PORT, String(context.port));
  const { status, stderr } = await starboard(["demo"], {}, context.folder);
  assert.equal(status, 0, stderr);
});

test("a second start in the same folder says where the first one runs", async (context) => {
  const port = String(await freePort());
  const { status, stderr } = await starboard(["dev"], { PORT: port }, context.folder);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`Starboard runs there, at http://127.0.0.1:${context.port}`));
});

test("the addresses of Postgres and the mirror node stay from start to start", async (context) => {
  const first = addresses(context.child.said());
  assert.equal(first.length, 2, context.child.said());
  assert.doesNotMatch(first.join(), /:[^/@]+@/);
  await context.child.stop();
  await start(context);
  assert.deepEqual(addresses(context.child.said()), first);
});

test("a port in use is said before anything is started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const { status, stderr } = await starboard(["dev"], { PORT: String(port) }, folder);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`PORT ${port} of 127.0.0.1 is in use`));
  assert.equal(existsSync(join(folder, ".starboard", "postgres")), false);
  server.close();
  rmSync(folder, { recursive: true });
});

test("a demo without a service says what to look at", async ({ folder }) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { status, stderr } = await starboard(["demo", "--url", url], {}, folder);
  assert.equal(status, 1);
  assert.ok(stderr.includes(`Nothing answers at ${url}: is \`npm start\` running?`), stderr);
});

test.run();
