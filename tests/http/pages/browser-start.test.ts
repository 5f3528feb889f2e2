// timeout: 300 s
/**
 * Goal: `npm start`, one click and one star show what this is: a newcomer votes at the first start,
 * sees the star travel to the ledger, and checks it there. Method: everything as it starts with
 * nothing set, before a headless Chromium, where there is one. `PICTURES=1` keeps the pictures of
 * docs/pictures/.
 */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../src/local/free-port.ts";
import { sidewaysOf, violationsOn } from "../../support/browser.ts";
import { startProcess, until } from "../../support/processes.ts";
import { browserSuite, keepPicture, openTab } from "./browser-place.ts";

const START_WITHIN_MS = 120_000;

const test = browserSuite("the pages at a first start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-pages-"));
  const port = await freePort();
  const child = startProcess("dev", { PORT: String(port), DEMO_VOTERS: "off" }, folder);
  const close = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  await until("the start", () => child.said().includes("Starboard is up"), START_WITHIN_MS).catch(
    async (error) => {
      await close();
      throw new Error(child.log(), { cause: error });
    },
  );
  return { url: `http://localhost:${port}`, close };
});

test("a click signs in, a click gives a star, its receipt arrives on the ledger and is checked there", async (place) => {
  const tab = await openTab(place, { width: 360, colorScheme: "light" });
  const { page } = tab;
  await tab.visit("/");
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: "Demo wallets of this machine" }).waitFor();
  await keepPicture(tab, "sign-in");
  await dialog.getByRole("button", { name: "holds 3 of collection A, 1 of B" }).click();
  await page.locator("[data-votes]").filter({ hasText: "votes left" }).waitFor();
  const star = page.locator('[data-star^="token/"][aria-pressed="false"]').first();
  const key = (await star.getAttribute("data-star")) ?? "";
  const carries = page.locator(`[data-carries="${key}"]`);
  await star.scrollIntoViewIfNeeded();
  await carries.filter({ hasText: "Would carry 9: base 1, A 3, B 5." }).waitFor();
  await page.locator(`[data-star="${key}"]`).click();
  await page.locator("[data-said]").filter({ hasText: "carried 9." }).waitFor();
  await keepPicture(tab, "star-given");
  await carries.getByRole("link", { name: "Receipt" }).click();
  await page.locator('[data-journey][data-state="published"]').waitFor();
  await page.locator('[data-step="published"][aria-current="step"]').waitFor();
  await page.getByRole("button", { name: "Compare with the ledger" }).click();
  const outcome = page.locator("[data-outcome]");
  await outcome.getByText(/The \d+ bytes on the ledger are those above\./).waitFor();
  await outcome.getByText("The running hash is the one on this receipt.").waitFor();
  await outcome
    .getByText(/Your browser made the same hash from message \d+ and this one/)
    .waitFor();
  assert.equal(await sidewaysOf(page), 0);
  assert.deepEqual(await violationsOn(page), []);
  await keepPicture(tab, "receipt", { fullPage: true });
  assert.deepEqual(tab.complaints, []);
  const { context } = tab;
  const session = (await context.cookies()).find(({ name }) => name === "starboard")?.value ?? "";
  await tab.visit("/collections");
  const [collection = ""] = await page
    .locator(".items h2 a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  await tab.close();
  for (const [path, name, width, colorScheme] of [
    ["/", "home", 1280, "light"],
    ["/", "home-dark", 360, "dark"],
    ["/events", "events", 768, "light"],
    ["/events/open-sea-forever", "event", 360, "light"],
    ["/tokens", "tokens", 768, "dark"],
    ["/tokens/0.0.700001", "token", 360, "dark"],
    ["/collections", "collections", 360, "dark"],
    [collection, "collection", 768, "light"],
    ["/projects", "projects", 1280, "light"],
    ["/projects/ferry", "project", 360, "light"],
    ["/leaderboard", "leaderboard", 360, "light"],
    ["/stars", "stars", 1280, "dark"],
  ] as const) {
    const look = await openTab(place, { width, colorScheme, session });
    assert.equal(await look.visit(path), 200, path);
    assert.equal(await sidewaysOf(look.page), 0, path);
    // What a star would carry is read from the ledger.
    const first = look.page.locator("[data-star][aria-pressed=false]").first();
    if ((await first.count()) > 0) {
      const key = await first.getAttribute("data-star");
      await look.page.locator(`[data-carries="${key}"]`).filter({ hasText: /\S/ }).waitFor();
    }
    await keepPicture(look, name);
    await look.close();
  }
  const docs = await openTab(place, { width: 360, colorScheme: "dark" });
  await docs.page.goto(`${place.url}/docs`);
  await docs.page.locator("#voting-api .opblock").first().waitFor();
  assert.equal(await sidewaysOf(docs.page), 0);
  await keepPicture(docs, "docs");
  await docs.close();
});
