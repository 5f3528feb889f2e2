/**
 * Goal: the page works in a browser under its own policy, asks no other host, and can be read on
 * a telephone at night. Method: a headless Chromium, where there is one, behind a proxy that leads
 * nowhere, so that only this host can be reached.
 */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import type { Browser, Page } from "playwright-core";
import { test } from "uvu";
import { createApp } from "../../../src/http/app.ts";
import { docsRoutes } from "../../../src/http/docs/routes.ts";
import { type HttpServer, serveHttp } from "../../../src/http/serve.ts";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { CHROMIUM, launchChromium, violationsOn } from "../../support/browser.ts";
import { type House, openHouse } from "../v1/house.ts";

const DRAW_WITHIN_MS = 40_000;

// Without a browser there is nothing to look with; docs.test.ts reads what it would be sent.
const perhaps = CHROMIUM === undefined ? test.skip : test;

let house: House;
let server: HttpServer;
let browser: Browser;
test.before(async () => {
  if (CHROMIUM === undefined) return;
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
  browser = await launchChromium(CHROMIUM, { optimizes: true });
});
test.after(async () => {
  if (CHROMIUM === undefined) return;
  await browser.close();
  await server.close(100);
  await house.close();
});

/** Opens the page and every operation on it. @returns what the browser complains of, from now on */
async function draw(page: Page): Promise<readonly string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(DRAW_WITHIN_MS);
  // Operations are tried out where the document says the service is: here.
  await page.route("**/v1/openapi.json", async (route) => {
    const response = await route.fetch();
    const body = { ...(await response.json()), servers: [{ url: `${server.url}/v1` }] };
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${server.url}/docs`);
  for (const part of ["#data-api", "#voting-api"]) {
    await page.locator(`${part} .opblock`).first().waitFor();
  }
  const summaries = page.locator(".opblock-summary-control");
  for (const summary of await summaries.all()) await summary.click({ trial: true });
  // All at once: one by one, each is drawn again for every one that follows.
  await page.evaluate(
    `document.querySelectorAll(".opblock-summary-control").forEach((each) => each.click())`,
  );
  await page
    .locator(".opblock .responses-wrapper")
    .nth((await summaries.count()) - 1)
    .waitFor();
  return complaints;
}

/** Drawn once: every operation of both documents takes a browser seconds. */
let page: Page;
let complaints: readonly string[];

perhaps("it draws every endpoint with examples, the notices once, and no complaint", async () => {
  page = await browser.newPage();
  complaints = await draw(page);
  assert.deepEqual(complaints, []);
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
});

perhaps("an operation is resolved as Swagger UI itself resolves it", async () => {
  const [ours, theirs] = await page.evaluate<[object, object]>(`(async () => {
    const place = document.body.appendChild(document.createElement("div"));
    place.id = "apart";
    const { resolveSubtree: own } = SwaggerUIBundle({ spec: {}, dom_id: "#apart" }).getSystem().fn;
    place.remove();
    const baseDoc = new URL("voting/openapi.json", document.baseURI).href;
    const text = await (await fetch(baseDoc)).text();
    const path = ["paths", "/sessions/current", "delete"];
    const resolved = [resolveSubtree, own].map((by) => by(JSON.parse(text), path, { baseDoc }));
    return (await Promise.all(resolved)).map(({ spec }) => spec);
  })()`);
  assert.match(JSON.stringify(ours), /#\/components\/schemas\//);
  assert.deepEqual(ours, theirs);
});

perhaps("a telephone at night shows it whole and dark", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
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
  assert.deepEqual(complaints, []);
});

perhaps("every text stands out from its ground by day and by night", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator("#data-api .try-out__btn").first().click();
  await page.locator("#data-api .btn.execute").first().click();
  await page.locator("#data-api .live-responses-table .download-contents").waitFor();
  for (const models of await page.locator("section.models > h4 button").all()) await models.click();
  await page.locator(".btn.authorize").first().click();
  await page.locator(".dialog-ux .btn.authorize").first().waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const isDrawn = colorScheme === "dark" ? "html.dark-mode" : "html:not(.dark-mode)";
    await page.locator(isDrawn).waitFor();
    // Buttons take a third of a second from one colour to the other.
    await page.evaluate(
      "Promise.allSettled(document.getAnimations().map((each) => each.finished))",
    );
    assert.deepEqual(await violationsOn(page, "color-contrast"), [], colorScheme);
  }
});

test.run();
