/**
 * Goal: the page works in a browser under its own policy, and asks no other host. Method: a headless
 * Chromium, where there is one, draws it through a proxy address that leads nowhere, so that
 * only this host can be reached; the drawn document is read.
 */
import * as assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { promisify } from "node:util";
import { test } from "uvu";
import { createApp } from "../../../src/http/app.ts";
import { docsRoutes } from "../../../src/http/docs/routes.ts";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type House, openHouse } from "../v1/house.ts";

const run = promisify(execFile);
const DRAW_WITHIN_MS = 40_000;

async function findChromium(): Promise<string | undefined> {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const found = await run("which", [name]).catch(() => undefined);
    if (found !== undefined) return found.stdout.trim();
  }
  return undefined;
}

const chromium = await findChromium();
// Without a browser there is nothing to look with; docs.test.ts reads what it would be sent.
const perhaps = chromium === undefined ? test.skip : test;

let house: House;
let server: HttpServer;
test.before(async () => {
  if (chromium === undefined) return;
  house = await openHouse();
  const log = silentLogger;
  const mounts = [
    { path: "/", app: house.app },
    { path: "/", app: docsRoutes() },
  ];
  const app = createApp({ log, metrics: createMetrics(), mounts });
  server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
});
test.after(async () => {
  if (chromium === undefined) return;
  await server.close(100);
  await house.close();
});

perhaps("a browser draws every endpoint, the notices and no complaint", async () => {
  const profile = temporaryFolder("test-browser");
  const { stdout, stderr } = await run(
    chromium ?? "",
    [
      ...["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"],
      ...["--proxy-server=127.0.0.1:1", "--proxy-bypass-list=127.0.0.1", "--disable-dev-shm-usage"],
      ...[`--user-data-dir=${profile}`, "--virtual-time-budget=15000", "--dump-dom"],
      `${server.url}/docs`,
    ],
    { timeout: DRAW_WITHIN_MS, maxBuffer: 64 * 1024 * 1024 },
  );
  rmSync(profile, { recursive: true, force: true });
  for (const path of [
    "/events",
    "/events/{id}",
    "/tokens/top",
    "/collections/top",
    "/leaderboard",
    "/ecosystem",
  ]) {
    assert.ok(stdout.includes(`data-path="${path}"`), `${path} is drawn`);
  }
  assert.match(stdout, /information and not financial advice/);
  const complaints = stderr.split("\n").filter((line) => /CONSOLE/.test(line));
  assert.deepEqual(complaints, []);
});

test.run();
