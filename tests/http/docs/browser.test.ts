/**
 * Goal: the page works in a browser under its own policy, asks no other host, and can be read on
 * a telephone at night. Method: a headless Chromium, where there is one, behind a proxy that leads
 * nowhere, so that only this host can be reached.
 */
import * as assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { Hono } from "hono";
import { type Browser, chromium, type Page } from "playwright-core";
import { test } from "uvu";
import { createApp } from "../../../src/http/app.ts";
import { docsRoutes } from "../../../src/http/docs/routes.ts";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { type House, openHouse } from "../v1/house.ts";

const DRAW_WITHIN_MS = 40_000;

const executablePath = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
// Without a browser there is nothing to look with; docs.test.ts reads what it would be sent.
const perhaps = executablePath === undefined ? test.skip : test;

let house: House;
let server: HttpServer;
let browser: Browser;
test.before(async () => {
  if (executablePath === undefined) return;
  house = await openHouse();
  const log = silentLogger;
  const voting = new Hono().get("/voting/openapi.json", (c) =>
    c.json(votingDocument("http://s.test")),
  );
  const mounts = [
    { path: "/", app: house.app },
    { path: "/", app: voting },
    { path: "/", app: docsRoutes("http://starboard.test") },
  ];
  const app = createApp({ log, metrics: createMetrics(), mounts });
  server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    proxy: { server: "127.0.0.1:1", bypass: "127.0.0.1" },
  });
});
test.after(async () => {
  if (executablePath === undefined) return;
  await browser.close();
  await server.close(100);
  await house.close();
});

/** Opens the page and every operation on it; returns what the browser complained of. */
async function draw(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(DRAW_WITHIN_MS);
  await page.goto(`${server.url}/docs`);
  for (const part of ["#data-api", "#voting-api"]) {
    await page.locator(`${part} .opblock`).first().waitFor();
  }
  for (const summary of await page.locator(".opblock-summary-control").all()) await summary.click();
  await page.locator(".opblock .responses-wrapper").last().waitFor();
  return complaints;
}

perhaps("it draws every endpoint with examples, the notices once, and no complaint", async () => {
  const page = await browser.newPage();
  assert.deepEqual(await draw(page), []);
  const html = await page.content();
  for (const path of [
    "/events",
    "/events/{id}",
    "/tokens/top",
    "/ecosystem",
    "/allowance",
    "/stars/{id}",
  ]) {
    assert.ok(html.includes(`data-path="${path}"`), `${path} is drawn`);
  }
  const text = await page.locator("body").innerText();
  assert.equal(text.split("information and not financial advice").length, 2);
  assert.ok(!text.includes('"string"') && !text.includes("-9007199254740991"));
  assert.ok(text.includes("harbour-meetup"));
  await page.close();
});

perhaps("a telephone at night shows it whole and dark", async () => {
  const page = await browser.newPage({
    viewport: { width: 360, height: 740 },
    colorScheme: "dark",
  });
  await draw(page);
  const width = await page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= 360, `${width} px`);
  for (const name of ["body", ".swagger-ui .scheme-container", ".swagger-ui .opblock"]) {
    const paper = await page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(name)})).backgroundColor`,
    );
    const [red = 255, green = 255, blue = 255, alpha = 1] = (paper.match(/[\d.]+/g) ?? []).map(
      Number,
    );
    assert.ok(alpha < 0.5 || red + green + blue < 300, `${name}: ${paper}`);
  }
  await page.close();
});

test.run();
