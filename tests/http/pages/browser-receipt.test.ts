// timeout: 300 s
/**
 * Goal: an open receipt shows each step at once, and the comparison with the ledger tells a true
 * row from any other. Method: a real service whose answers and whose mirror node are changed on
 * their way to a headless Chromium. The comparison with a true row is made in
 * `browser-start.test.ts`.
 */
import * as assert from "node:assert/strict";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { browserSuite, openTab } from "./browser-place.ts";
import { openPlace, type Place } from "./served-pages.ts";

const test = browserSuite<Place>("receipts", openPlace);

const AT = "1795171429.731000000";
const HASH = Buffer.alloc(48, 7).toString("base64");
const STEPS = [
  { state: "stored" },
  { state: "submitted", topicId: "0.0.1014", transactionId: "0.0.1001@1795171428.000000001" },
  { state: "published", sequenceNumber: 267, consensusTimestamp: AT, runningHash: HASH },
] as const;

/** A step at which the service does not answer. */
const SILENT = -1;

/** A receipt's page whose star is as far as the test says. */
async function openReceipt(place: Parameters<typeof openTab>[0] & Place) {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  const { star } = (await cast(service, session, "token/0.0.9002")).body;
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  let reached = 0;
  await page.route(`**/voting/stars/${star.id}`, (route) => {
    if (reached === SILENT) return;
    const publication = Object.assign({}, star.publication, ...STEPS.slice(0, reached + 1));
    return route.fulfill({ json: { ...star, publication } });
  });
  await tab.visit(`/stars/${star.id}`);
  const reach = (step: number): void => {
    reached = step;
  };
  return { tab, page, reach };
}

test("stored, sent, on the ledger: each step is marked as it is reached, without a reload", async (place) => {
  const { tab, page, reach } = await openReceipt(place);
  const current = page.locator("[data-journey] [aria-current=step]");
  const shown = (field: string) => page.locator(`[data-publication="${field}"]`);
  assert.equal(await current.innerText(), "Stored");
  assert.equal(await shown("transactionId").innerText(), "not yet");
  assert.equal(await page.getByRole("link", { name: "See the mirror node" }).isVisible(), false);
  reach(1);
  await current.getByText("Sent").waitFor();
  await shown("transactionId").getByText("0.0.1001@1795171428.000000001").waitFor();
  assert.equal(await shown("sequenceNumber").innerText(), "not yet");
  reach(2);
  await current.getByText("On the ledger").waitFor();
  assert.equal(await shown("sequenceNumber").innerText(), "267");
  assert.equal(await shown("runningHash").innerText(), HASH);
  const link = page.getByRole("link", { name: "See the mirror node" });
  assert.match((await link.getAttribute("href")) ?? "", /\/topics\/0\.0\.1014\/messages\/267$/);
  assert.equal(await page.locator("[data-journey] .reached").count(), 3);
  assert.equal(await tab.shift(), 0);
  assert.deepEqual(tab.complaints, []);
  await tab.close();
});

test("a service that does not answer is asked again, and the comparison can be made again", async (place) => {
  const { tab, page, reach } = await openReceipt(place);
  await page.evaluate(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = () => timeout.call(AbortSignal, 100);`);
  reach(SILENT);
  await page.waitForRequest("**/voting/stars/*");
  await page.getByRole("button", { name: "Compare with the ledger" }).click();
  await page.getByText("The service did not answer. Try again.").waitFor();
  reach(2);
  await page.locator('[data-journey][data-state="published"]').waitFor();
  await page.getByRole("button", { name: "Compare with the ledger" }).click();
  await page.getByText("The mirror node did not answer, or does not have this row").waitFor();
  await tab.close();
});

test("other bytes, another hash and a missing row get different sentences", async (place) => {
  const { tab, page, reach } = await openReceipt(place);
  const outcome = page.locator("[data-outcome]");
  const compare = async (sentence: string | RegExp): Promise<void> => {
    await page.getByRole("button", { name: "Compare with the ledger" }).click();
    await outcome.getByText(sentence).waitFor();
  };
  await compare("This star is not on the ledger yet. Try again in a few seconds.");
  assert.equal(
    await page.evaluate("document.activeElement.textContent"),
    "Compare with the ledger",
    "the keyboard's focus stays where it was pressed",
  );
  reach(2);
  await page.locator('[data-journey][data-state="published"]').waitFor();
  await compare("The mirror node did not answer, or does not have this row yet.");
  const message = Buffer.from(await page.innerText("[data-message]"));
  const row = {
    message: message.toString("base64"),
    running_hash: HASH,
    consensus_timestamp: AT,
    payer_account_id: "0.0.1001",
    sequence_number: 267,
    topic_id: "0.0.1014",
  };
  let given: Partial<typeof row> = {};
  await page.route("**/api/v1/topics/0.0.1014/messages/*", (route) => {
    const isBefore = route.request().url().endsWith("/266");
    return route.fulfill({
      headers: { "access-control-allow-origin": "*" },
      json: isBefore ? { ...row, sequence_number: 266 } : { ...row, ...given },
    });
  });
  // The hash was made up: this browser makes another.
  await compare(`The ${message.length} bytes on the ledger are those above.`);
  await outcome.getByText("The running hash is the one on this receipt.").waitFor();
  await outcome
    .getByText("Your browser makes another hash from message 266 and this one:")
    .waitFor();
  given = { message: Buffer.from('{"vote":"down"}').toString("base64") };
  await compare('The ledger has other bytes: {"vote":"down"}');
  const other = Buffer.alloc(48, 8).toString("base64");
  given = { running_hash: other };
  await compare(`The ledger has another running hash: ${other}`);
  await tab.close();
});

test("a mirror node whose answers cannot be read, or do not come: the comparison can be made again", async (place) => {
  const { tab, page, reach } = await openReceipt(place);
  const button = page.getByRole("button", { name: "Compare with the ledger" });
  const outcome = page.locator("[data-outcome]");
  reach(2);
  await page.locator('[data-journey][data-state="published"]').waitFor();
  const answers = [
    { body: "<html>Please log in</html>" },
    { json: null },
    { json: {} },
    { json: { message: "no base64" } },
  ];
  for (const answer of answers) {
    const answered = page.waitForResponse("**/api/v1/topics/**");
    await page.route("**/api/v1/topics/**", (route) =>
      route.fulfill({ headers: { "access-control-allow-origin": "*" }, ...answer }),
    );
    await button.click();
    await answered;
    await outcome.getByText("What the mirror node answered cannot be read. Try again.").waitFor();
    await page.unroute("**/api/v1/topics/**");
  }
  await page.evaluate(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 10_000 ? 1 : ms);`);
  await page.route("**/api/v1/topics/**", () => undefined);
  await button.click();
  await outcome.getByText("The mirror node did not answer, or does not have this row").waitFor();
  const asked = page.waitForRequest("**/api/v1/topics/**");
  await button.click();
  await asked;
  await tab.close();
});
