// timeout: 600 s
/**
 * Goal: a page that stays open goes on, whatever goes away under it: Redis, a web process, the mirror
 * node, the network, an answer, the session, the day. Method: a real service before a headless
 * Chromium; its parts are taken away and brought back.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { Browser, Page, Route } from "playwright-core";
import { mayStand, StarboardError } from "../../../packages/client/src/index.ts";
import { openSentence, refusalSentence } from "../../../src/http/pages/browser/refusals.ts";
import { nextMidnight } from "../../../src/http/pages/words.ts";
import { PROBLEM_CODES, type ProblemCode, standingReply } from "../../../src/http/problem.ts";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { freePort } from "../../../src/local/free-port.ts";
import { startRedis } from "../../../src/local/redis.ts";
import { openEvents } from "../../support/event-source.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Child, startProcess, until } from "../../support/processes.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { browserSuite, openTab, type Tab } from "./browser-place.ts";
import { carries, counter, openPlace, type Place, said, starOf } from "./served-pages.ts";

const test = browserSuite<Place>("open pages in trouble", openPlace);

/** A web process of its own beside the service, that can be killed and comes back on its port. */
async function startProcesses({ service }: Place) {
  const dataDir = temporaryFolder("pages-redis");
  let redis = await startRedis({ dataDir });
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    PORT: port,
    DATABASE_URL: service.databaseUrl,
    REDIS_URL: redis.url,
    MIRROR_NODE_URL: service.hedera.mirrorUrl,
    COLLECTION_A_ID: service.collectionA,
    COLLECTION_A_KEY: "alpha",
    COLLECTION_B_ID: service.collectionB,
    COLLECTION_B_KEY: "beta",
  };
  const startWeb = async (): Promise<Child> => {
    const child = startProcess("serve", settings);
    const isUp = () => fetch(`${url}/healthz`).then(Boolean, () => false);
    await until("the web process is up", isUp, 60_000);
    return child;
  };
  let web = await startWeb();
  return {
    url,
    killWeb: () => web.kill(),
    async startWeb() {
      web = await startWeb();
    },
    killRedis: () => redis.close(),
    async startRedis() {
      redis = await startRedis({ dataDir });
    },
    async close() {
      await web.kill();
      await redis.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a tab of a new wallet that is signed in. @param nfts how many it holds of each collection */
async function openVoterTab(
  place: Place & { readonly browser: Browser },
  { width = 360, nfts = {} }: { width?: number; nfts?: { a?: number } } = {},
): Promise<Tab> {
  const session = await signIn(place.service, await newWallet(place.service, nfts));
  return openTab(place, { width, session });
}

/** Leaves a page and comes back to it, as by the back button; its stream is opened anew, and it is read. */
async function reopen(page: Page): Promise<void> {
  const read = page.waitForResponse(page.url());
  await page.evaluate(`dispatchEvent(new Event("pagehide")); dispatchEvent(new Event("pageshow"))`);
  await (await read).finished();
  // By then the page's script has taken what it read; were the page loaded anew, this would fail.
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
}

test("Redis dies, then the web process: an open page says what is away, and goes on when it is back", async (place) => {
  const { service } = place;
  const other = await signIn(service, await newWallet(service));
  const session = await signIn(service, await newWallet(service, { a: 1 }));
  const processes = await startProcesses(place);
  const tab = await openTab({ ...place, url: processes.url }, { width: 360, session });
  try {
    await tab.visit("/tokens");
    const { page } = tab;
    const shows = (id: string, votes: string): Promise<void> =>
      counter(page, `token/${id}`).filter({ hasText: votes }).waitFor();
    await processes.killRedis();
    await cast(service, other, "token/0.0.9030");
    await shows("0.0.9030", "1");
    await starOf(page, "Token 9031").click();
    await said(tab, "Your star for Token 9031 carried 2. 4 of 5 votes left.");
    await processes.startRedis();
    await cast(service, other, "token/0.0.9032");
    await shows("0.0.9032", "1");
    assert.deepEqual(tab.complaints, []);

    await processes.killWeb();
    await starOf(page, "Token 9033").click();
    await said(tab, /^No answer came\. Check your connection and press again: a star counts once/);
    assert.equal(await starOf(page, "Token 9033").getAttribute("aria-pressed"), "false");
    await shows("0.0.9033", "0");
    assert.equal(await page.innerText("[data-votes]"), "4 of 5 votes left");
    // The page gets what it missed when it reconnects.
    await cast(service, other, "token/0.0.9034");
    await processes.startWeb();
    await shows("0.0.9034", "1");
    await starOf(page, "Token 9033").click();
    await said(tab, "Your star for Token 9033 carried 2. 3 of 5 votes left.");
    await cast(service, other, "token/0.0.9035");
    await shows("0.0.9035", "1");
  } finally {
    await tab.close();
    await processes.close();
  }
});

test("a late preview does not replace what a star given meanwhile carried", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  let answer: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/voting/preview?*", async (route) => {
    await late;
    await route.continue();
  });
  const asked = page.waitForRequest("**/voting/preview?*");
  await tab.visit("/tokens");
  await asked;
  await page.locator("[data-star]").first().click();
  await said(tab, /carried 1\. 4 of 5 votes left\.$/);
  answer();
  const places = page.locator("[data-carries]");
  await places.nth(1).filter({ hasText: "Would carry 1: base 1, A 0, B 0." }).waitFor();
  assert.match(await places.first().innerText(), /^Your star carried 1\..* Receipt$/);
  await tab.close();
});

test("an item that is gone says so for itself alone: the next one is asked for", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  let first: string | undefined;
  await page.route("**/voting/preview?*", (route) => {
    const url = route.request().url();
    first ??= url;
    if (url !== first) return route.continue();
    return route.fulfill({ status: 404, json: { error: "…", code: "NOT_FOUND" } });
  });
  await tab.visit("/tokens");
  const places = page.locator("[data-carries]");
  await places.nth(1).filter({ hasText: "Would carry 1: base 1, A 0, B 0." }).waitFor();
  const isGone = places.first().filter({ hasText: "This is no longer in the directory." });
  await isGone.waitFor();
  // The page is read again while others are in sight: what they would carry is not said of this one.
  await page.locator("[data-star]").last().scrollIntoViewIfNeeded();
  await places.last().filter({ hasText: "Would carry 1" }).waitFor();
  const asked = page.waitForResponse("**/voting/preview?*");
  await page.evaluate(`document.dispatchEvent(new CustomEvent("reread"))`);
  await asked;
  const again = page.waitForResponse(first ?? "");
  await page.locator("[data-star]").first().scrollIntoViewIfNeeded();
  await again;
  await isGone.waitFor();
  await tab.close();
});

test("once the last vote is given, a star that comes in sight does not say what it would carry", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  for (const id of [9031, 9032, 9033, 9034]) await cast(service, session, `token/0.0.${id}`);
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens");
  const places = page.locator("[data-carries]");
  await places.filter({ hasText: "Would carry 1" }).first().waitFor();
  await page.locator('[data-star][aria-pressed="false"]').first().click();
  await said(tab, /0 of 5 votes left\.$/);
  await page.locator("[data-star]").last().scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
  assert.match(await places.last().innerText(), /^No votes left today\./);
  await tab.close();
});

test("a star whose answer is lost is sent again with the same key: one star, one vote", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  await tab.visit("/tokens");
  const keys: string[] = [];
  await page.route("**/voting/stars", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    // The service has the star; the page gets no answer.
    await route.fetch();
    await route.abort();
  });
  await page.route(`${place.url}/tokens`, (route) => route.fulfill({ status: 503 }));
  await starOf(page, "Token 9036").click();
  await said(tab, "No answer came.");
  await page.unroute("**/voting/stars");
  await starOf(page, "Token 9036").click();
  await said(tab, "Your star for Token 9036 carried 1. 4 of 5 votes left.");
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  await tab.close();
});

test("a star without an answer does not wait without end: it goes back, and the next press has the same key", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  await tab.visit("/tokens");
  const sent: (string | undefined)[] = [];
  const silence = "**/voting/stars";
  await page.route(silence, (route) => {
    sent.push(route.request().headers()["idempotency-key"]);
  });
  await page.evaluate(`
    const within = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => within(ms === 20_000 ? 500 : ms);`);
  await starOf(page, "Token 9031").click();
  await said(tab, "No answer came. Check your connection and press again: a star counts once");
  assert.equal(await starOf(page, "Token 9031").getAttribute("aria-pressed"), "false");
  await page.unroute(silence);
  await page.evaluate("AbortSignal.timeout = () => new AbortController().signal");
  const again = page.waitForRequest(silence);
  await starOf(page, "Token 9031").click();
  assert.equal((await again).headers()["idempotency-key"], sent[0]);
  await said(tab, "Your star for Token 9031 carried 1. 4 of 5 votes left.");
  await page.evaluate("AbortSignal.timeout = () => AbortSignal.abort()");
  await page.route("**/voting/sessions/current", () => undefined);
  await page.getByRole("button", { name: "Sign out" }).click();
  await said(tab, "That was not answered, so you may still be signed in. Try again.");
  await tab.close();
});

test("a star that stands though it was answered 503: no sentence says that nothing was spent, and the page shows it", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  await tab.visit("/tokens");
  await page.route("**/voting/stars", async (route) => {
    await route.fetch();
    const headers = { "retry-after": "3" };
    await route.fulfill({ status: 503, headers, json: { error: "…", code: "UNAVAILABLE" } });
  });
  await starOf(page, "Token 9037").click();
  await said(
    tab,
    "The service did not confirm your star, which may count. Press again in 3 seconds",
  );
  await page.locator('[data-star="token/0.0.9037"][aria-pressed="true"]').waitFor();
  await page.locator("[data-votes]").filter({ hasText: "4 of 5 votes left" }).waitFor();
  await counter(page, "token/0.0.9037").filter({ hasText: /^1$/ }).waitFor();
  assert.match(
    await carries(page, "token/0.0.9037").innerText(),
    /^Your star carried 1\..* Receipt$/,
  );
  await tab.close();
});

test("a refusal of the second press settles nothing where the first one may stand", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  await tab.visit("/tokens");
  const answers = ["UNAVAILABLE", "RATE_LIMITED"] as const;
  const keys: string[] = [];
  await page.route("**/voting/stars", async (route) => {
    const code = answers[keys.length] ?? "INTERNAL";
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    const { status } = standingReply(code);
    await route.fulfill({ status, headers: { "retry-after": "9" }, json: { error: "…", code } });
  });
  const star = starOf(page, "Token 9038");
  for (const seconds of ["9 seconds", "9 seconds"]) {
    await star.click();
    await said(tab, `which may count. Press again in ${seconds}`);
    await page.locator('[data-star="token/0.0.9038"][aria-pressed="false"]').waitFor();
    await page.evaluate("document.querySelector('[data-said]').textContent = ''");
  }
  await page.unroute("**/voting/stars");
  await star.click();
  await said(tab, "Your star for Token 9038 carried 1. 4 of 5 votes left.");
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  await tab.close();
});

test("a page that is read anew keeps what the live stream brought while it was on its way", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  const other = await signIn(service, await newWallet(service));
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens");
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isRead = false;
  await page.route(`${place.url}/tokens`, async (route) => {
    const response = await route.fetch();
    isRead = true;
    await held;
    await route.fulfill({ response });
  });
  await page.route("**/voting/stars", (route) => route.fulfill({ status: 500, json: {} }));
  await starOf(page, "Token 9040").click();
  await until("the page is read", () => isRead);
  await cast(service, other, "token/0.0.9039");
  await counter(page, "token/0.0.9039").filter({ hasText: /^1$/ }).waitFor();
  await page.evaluate("document.documentElement.removeAttribute('data-reread')");
  release();
  await page.locator("html[data-reread]").waitFor();
  assert.equal(await counter(page, "token/0.0.9039").innerText(), "1");
  await tab.close();
});

/** Presses Dex's star while its page is read anew, which is then shown. @returns the counter before, and what lets the star be answered */
async function pressWhileRead(
  place: Place,
  { page, visit }: Tab,
  reply: { star?: Parameters<Route["fulfill"]>[0]; counter?: string } = {},
): Promise<{ before: number; answer: () => void }> {
  await visit("/projects/dex");
  await carries(page, "project/dex").filter({ hasText: "Would carry 1" }).waitFor();
  const before = Number(await counter(page, "project/dex").innerText());
  const release: (() => void)[] = [];
  const held = (): Promise<void> => new Promise((resolve) => void release.push(resolve));
  await page.route("**/voting/stars", async (route) => {
    await held();
    await (reply.star === undefined ? route.continue() : route.fulfill(reply.star));
  });
  const shown = /(data-counter="project\/dex"[^>]*>)[\d,]+/;
  await page.route(`${place.url}/projects/dex`, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = reply.counter === undefined ? text : text.replace(shown, `$1${reply.counter}`);
    if (release.length < 2) await held();
    await route.fulfill({ response, body });
  });
  await page.evaluate(`
    document.documentElement.removeAttribute("data-reread");
    dispatchEvent(new Event("pagehide"));
    dispatchEvent(new Event("pageshow"));`);
  await until("the page is read", () => release.length === 1);
  await starOf(page, "Dex").click();
  await until("the star is on its way", () => release.length === 2);
  release[0]?.();
  await page.locator("html[data-reread]").waitFor();
  return { before, answer: () => release[1]?.() };
}

test("a page that is read anew while a star is on its way keeps the counter as the star makes it", async (place) => {
  const tab = await openVoterTab(place);
  const dex = counter(tab.page, "project/dex");
  const { before, answer } = await pressWhileRead(place, tab);
  assert.equal(Number(await dex.innerText()), before + 1);
  answer();
  await said(tab, "Your star for Dex carried 1. 4 of 5 votes left.");
  assert.equal(Number(await dex.innerText()), before + 1);
  await tab.close();
});

test("a page that is read anew while a star is on its way that is then refused shows the counter as it was read", async (place) => {
  const tab = await openVoterTab(place);
  const refusal = { error: "…", code: "HOLDINGS_UNAVAILABLE" };
  const star = { status: 503, headers: { "retry-after": "5" }, json: refusal };
  const { answer } = await pressWhileRead(place, tab, { star, counter: "777" });
  answer();
  await said(tab, "What your wallet holds cannot be read right now.");
  await counter(tab.page, "project/dex").filter({ hasText: /^777$/ }).waitFor();
  await tab.close();
});

/** Every code of the voting API, as its own document lists them. */
function votingCodes(): readonly ProblemCode[] {
  // The part of the document that is read here.
  const { components } = votingDocument("http://s.test") as unknown as {
    components: { schemas: { Refusal: { properties: { code: { enum: ProblemCode[] } } } } };
  };
  return components.schemas.Refusal.properties.code.enum.filter((code) =>
    PROBLEM_CODES.includes(code),
  );
}

test("every refusal of the service is said as a sentence, and the star goes back", async (place) => {
  const tab = await openVoterTab(place, { width: 768 });
  const { page } = tab;
  const resetsAt = new Date(nextMidnight(Date.now())).toISOString();
  const codes = votingCodes();
  assert.ok(codes.length > 15, `${codes}`);
  for (const [index, code] of codes.entries()) {
    // Anew: a code may have signed the page out, or shown the star as given.
    await tab.visit("/tokens");
    await page.route("**/voting/stars", (route) =>
      route.fulfill({
        status: standingReply(code).status,
        headers: { "retry-after": "3" },
        json: { error: "…", code, resetsAt, limit: 5, used: 5, starId: null },
      }),
    );
    const key = `token/0.0.90${10 + index}`;
    const before = await counter(page, key).innerText();
    const star = page.locator(`[data-star="${key}"]`);
    await star.click();
    const refusal = { code, resetsAt, limit: 5, retryAfterSeconds: 3 };
    const isOpen = mayStand(
      new StarboardError(new Response(null, standingReply(code)), { code } as object),
    );
    const sentenceOf = isOpen ? openSentence : refusalSentence;
    const [sentence = ""] = sentenceOf(refusal, Date.now()).split(", in ");
    await page.locator("[data-said], dialog .lead").filter({ hasText: sentence }).waitFor();
    await page.unroute("**/voting/stars");
    assert.equal(await counter(page, key).innerText(), before, code);
    assert.equal(await page.innerText("[data-votes]"), "5 of 5 votes left", code);
  }
  await tab.close();
});

test("a session that ends while a page is open: the star asks for a wallet, and is given after it", async (place) => {
  const { service, demo } = place;
  const session = await signIn(service, demo);
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens/0.0.9022");
  await carries(page, "token/0.0.9022").filter({ hasText: "Would carry 9" }).waitFor();
  await service.sql`update session set expires_at = 0 where wallet = ${Number(demo.id.slice(4))}`;
  const star = starOf(page, "Token 9022");
  await star.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("You are signed out. Sign in again to give this star.").waitFor();
  // A screen reader says it with the sheet.
  const why = page.locator(`[id="${await dialog.getAttribute("aria-describedby")}"]`);
  assert.match(await why.innerText(), /^You are signed out\./);
  // As when one comes back from a wallet on the same phone: the page is read anew.
  await reopen(page);
  assert.equal(await star.getAttribute("aria-pressed"), "false");
  assert.equal(await counter(page, "token/0.0.9022").innerText(), "0");
  await dialog.getByRole("button", { name: demo.id }).click();
  await said(tab, "You are signed in. Press the star once more to give it to Token 9022.");
  assert.equal(await page.locator(":focus").getAttribute("data-star"), "token/0.0.9022");
  await page.keyboard.press("Enter");
  await said(tab, /^Your star for Token 9022 carried 9\. /);
  assert.equal(await page.evaluate("history.state"), null);
  await tab.close();
});

test("a sign-in that is closed after the session has ended leaves a page that is signed out", async (place) => {
  const { service } = place;
  const wallet = await newWallet(service);
  const tab = await openTab(place, { width: 360, session: await signIn(service, wallet) });
  const { page } = tab;
  await tab.visit("/tokens/0.0.9034");
  await service.sql`update session set expires_at = 0 where wallet = ${Number(wallet.id.slice(4))}`;
  await starOf(page, "Token 9034").click();
  await page.getByRole("dialog").waitFor();
  await reopen(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await tab.close();
});

test("signed out elsewhere: an open page, and one that the back button leads to, are rendered again", async (place) => {
  const tab = await openVoterTab(place, { width: 768 });
  const { page } = tab;
  await tab.visit("/tokens");
  await page.getByRole("link", { name: "Projects" }).click();
  await page.waitForURL("**/projects");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await page.goBack();
  await page.waitForURL("**/tokens");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  assert.equal(await page.locator("[data-votes]").count(), 0);
  await tab.close();
});

test("the back button leads to a list whose form says what it shows", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/events");
  await page.getByLabel("Status").selectOption("Ended");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL("**/events?status=ended*");
  await page.goBack();
  await page.waitForURL("**/events");
  assert.equal(await page.getByLabel("Status").inputValue(), "");
  await tab.close();
});

test("signed in with another wallet elsewhere: a star counts for that one, and the page becomes its own", async (place) => {
  const tab = await openVoterTab(place);
  const { page, context } = tab;
  await tab.visit("/tokens");
  const other = await newWallet(place.service, { a: 2 });
  const value = await signIn(place.service, other);
  await context.addCookies([
    { name: "starboard", value, url: place.url, httpOnly: true, sameSite: "Strict" },
  ]);
  await starOf(page, "Token 9029").click();
  await page.locator(".wallet").filter({ hasText: other.id }).waitFor();
  assert.equal(await page.innerText("[data-votes]"), "4 of 5 votes left");
  assert.equal(await starOf(page, "Token 9029").getAttribute("aria-pressed"), "true");
  await tab.close();
});

test("without a network nothing is given and nothing lost; with it the page catches up", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  const other = await signIn(service, await newWallet(service));
  const tab = await openTab(place, { width: 360, session });
  const { page, context } = tab;
  await tab.visit("/tokens");
  await context.setOffline(true);
  await starOf(page, "Token 9024").click();
  await said(tab, "No answer came. Check your connection and press again");
  assert.equal(await starOf(page, "Token 9024").getAttribute("aria-pressed"), "false");
  assert.equal(await page.innerText("[data-votes]"), "5 of 5 votes left");
  await cast(service, other, "token/0.0.9025");
  await context.setOffline(false);
  await counter(page, "token/0.0.9025").filter({ hasText: /^1$/ }).waitFor();
  await starOf(page, "Token 9024").click();
  await said(tab, "Your star for Token 9024 carried 1. 4 of 5 votes left.");
  await tab.close();
});

test("after a sleep, in which a machine's timers stand still, the page tells the time again", async (place) => {
  const tab = await openTab(place, { width: 360, session: place.session });
  const { page } = tab;
  const day = new Date().toISOString().slice(0, 10);
  const cut = { contentType: "text/event-stream", body: `retry: 2000\nid: ${day}.1-0\n\n` };
  await page.route("**/voting/live", (route) => route.fulfill(cut), { times: 1 });
  let isResumed = false;
  page.on("request", (request) => {
    isResumed ||= "last-event-id" in request.headers();
  });
  await tab.visit("/tokens");
  const read = page.waitForResponse(`${place.url}/tokens`);
  await page.evaluate(`
    const awake = performance.now.bind(performance);
    performance.now = () => awake() - 5 * 3_600_000;`);
  await until("the stream is resumed", () => isResumed);
  assert.equal((await read).status(), 200);
  await tab.close();
});

test("a page to which one goes back tells votes and time of now, also where its stream is refused", async (place) => {
  const { service, url } = place;
  const session = await signIn(service, await newWallet(service));
  const others = Array.from({ length: 20 }, () => openEvents(`${url}/voting/live`));
  const streams = await Promise.all(others);
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await page.goto(`${url}/tokens`);
  await cast(service, session, "token/0.0.9003");
  await page.goto(`${url}/events`);
  await page.goBack();
  await page.locator('[data-star="token/0.0.9003"][aria-pressed="true"]').waitFor();
  await page.locator("[data-votes]").filter({ hasText: "4 of 5 votes left" }).waitFor();
  await tab.close();
  for (const stream of streams) stream.close();
});

test("after a sleep that its stream outlasts, an open page tells the time again", async (place) => {
  const tab = await openTab(place, { width: 360, session: place.session });
  const { page } = tab;
  await tab.visit("/tokens");
  const read = page.waitForResponse(`${place.url}/tokens`);
  await page.evaluate(`
    const awake = performance.now.bind(performance);
    performance.now = () => awake() - 5 * 3_600_000;`);
  assert.equal((await read).status(), 200);
  await tab.close();
});

test("a season ends before an open page: its pass and its votes go from the header", async (place) => {
  const { sql } = place.service;
  const wallet = await newWallet(place.service);
  const session = await signIn(place.service, wallet);
  await sql`insert into season (id, name, starts_at, ends_at)
    values ('01a1f8c0-0000-7000-8000-000000000001', 'Autumn', now_ms() - 1000, now_ms() + 3600000)`;
  await sql`insert into premium_pass (wallet, season_id, granted_at)
    select ${Number(wallet.id.slice(4))}, id, now_ms() from season`;
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens");
  assert.match(
    await page.innerText("header"),
    /20 of 20 votes left\s+Premium until \d+ \w+ \d{4}, \d\d:\d\d UTC/,
  );
  await sql`update season set ends_at = now_ms()`;
  await page.evaluate(`
    const before = performance.now.bind(performance);
    performance.now = () => before() + 3_600_000;`);
  await page.locator("[data-votes]").filter({ hasText: "5 of 5 votes left" }).waitFor();
  assert.doesNotMatch(await page.innerText("header"), /Premium/);
  await tab.close();
});

test("a mirror node that is silent: the page is read, the star goes back, and is given later", async (place) => {
  const { service } = place;
  const { faults } = service.hedera.mirror;
  const tab = await openVoterTab(place, { nfts: { a: 2 } });
  const { page } = tab;
  faults.inject({ kind: "hang" });
  try {
    await tab.visit("/tokens/0.0.9026");
    const unread =
      "What your wallet holds cannot be read right now. Nothing was spent; try again in";
    await carries(page, "token/0.0.9026").filter({ hasText: unread }).waitFor();
    await starOf(page, "Token 9026").click();
    await said(tab, unread);
    assert.equal(await starOf(page, "Token 9026").getAttribute("aria-pressed"), "false");
    assert.equal(await page.innerText("[data-votes]"), "5 of 5 votes left");
  } finally {
    faults.heal();
  }
  await carries(page, "token/0.0.9026").filter({ hasText: "Would carry 3" }).waitFor();
  await starOf(page, "Token 9026").click();
  await said(tab, "Your star for Token 9026 carried 3. 4 of 5 votes left.");
  await tab.close();
});

test("two stars on their way at once: the one that fails takes no vote along", async (place) => {
  const tab = await openVoterTab(place);
  const { page } = tab;
  await tab.visit("/tokens");
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/voting/stars", async (route) => {
    if (!route.request().postData()?.includes("0.0.9027")) return route.continue();
    await held;
    await route.fulfill({ status: 404, json: { error: "…", code: "NOT_FOUND" } });
  });
  await starOf(page, "Token 9027").click();
  await starOf(page, "Token 9028").click();
  await said(tab, "Your star for Token 9028 carried 1. 4 of 5 votes left.");
  assert.equal(await page.innerText("[data-votes]"), "3 of 5 votes left");
  release();
  await said(tab, "This is no longer in the directory. Nothing was spent.");
  assert.equal(await page.innerText("[data-votes]"), "4 of 5 votes left");
  await tab.close();
});

/** Presses a star whose answer waits until it is let through. */
async function pressSlowly(
  place: Place & { browser: Browser },
  session: string,
  { path, key }: { path: string; key: string },
) {
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/voting/stars", async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await tab.visit(path);
  await page.evaluate("AbortSignal.timeout = () => new AbortController().signal");
  await page.locator(`[data-star="${key}"]`).click();
  return { tab, answer };
}

test("midnight passes before an open page whose reading fails: stars can be given, and the page turns by itself later", async (place) => {
  const { service } = place;
  // Signed in before the clock jumps, which would end a challenge.
  const session = await signIn(service, await newWallet(service, { a: 1 }));
  const other = await signIn(service, await newWallet(service));
  const heavy = await signIn(service, await newWallet(service, { a: 3 }));
  const third = await signIn(service, await newWallet(service));
  await cast(service, session, "token/0.0.9020");
  await cast(service, session, "token/0.0.9021");
  await cast(service, session, "project/dex");
  await cast(service, session, "project/wiki");
  await service.sql`
    insert into project (id, slug, name, category, created_at, approved_at)
    select 'newer' || n, 'newer' || n, 'Newer', 'DEFI', n, n from generate_series(1, 5) n`;
  // A slow machine takes long to open tabs: before midnight comes there is time for reading pages alone.
  const home = await openTab(place, { width: 360, session });
  const guest = await openTab(place, { width: 360 });
  const unread = await openTab(place, { width: 360, session: third });
  const tab = await openTab(place, { width: 360, session });
  const [before] = await service.sql<{ left: number }[]>`
    select 86400000 - now_ms() % 86400000 - 15000 as left`;
  // Fifteen seconds before midnight; every clock of the service follows this one.
  await service.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${before?.left} $$`);
  await home.visit("/");
  await home.page.locator('[data-star="project/dex"][aria-pressed="true"]').waitFor();
  await guest.visit("/");
  await unread.visit("/");
  for (const each of [guest, unread])
    await each.page.route(`${place.url}/`, (route) => route.fulfill({ status: 503 }));
  const slow = await pressSlowly(place, other, { path: "/tokens", key: "token/0.0.9023" });
  const slowHome = await pressSlowly(place, third, { path: "/", key: "project/wiki" });
  await tab.visit("/tokens");
  const { page } = tab;
  const votes = page.locator("[data-votes]");
  await page.route(`${place.url}/tokens`, (route) =>
    route.fulfill({ status: 503, headers: { "retry-after": "1" } }),
  );
  const refused = page.waitForResponse((response) => response.status() === 503);
  await page.locator("[data-countdown]").filter({ hasText: "23 hours 59 minutes" }).waitFor();
  await refused;
  await starOf(page, "Token 9020").click();
  await said(tab, "Your star for Token 9020 carried 2. 4 of 5 votes left.");
  await page.locator('[data-star="token/0.0.9021"][aria-pressed="true"]').waitFor();
  await page.unroute(`${place.url}/tokens`);
  await page.locator('[data-star="token/0.0.9021"][aria-pressed="false"]').waitFor();
  await counter(page, "token/0.0.9021").filter({ hasText: /^0$/ }).waitFor();
  await votes.filter({ hasText: "4 of 5 votes left" }).waitFor();
  await starOf(page, "Token 9021").click();
  await said(tab, "Your star for Token 9021 carried 2. 3 of 5 votes left.");
  await tab.close();

  // Without stars of today it is listed no longer among the first: it begins the day all the same.
  await home.page.locator('[data-star="project/dex"][aria-pressed="false"]').waitFor();
  await counter(home.page, "project/dex").filter({ hasText: /^0$/ }).waitFor();
  await starOf(home.page, "Dex").click();
  await said(home, "Your star for Dex carried 2. 2 of 5 votes left.");
  await home.close();

  // What the live stream brought of the new day stands, though others are listed in its place.
  const dex = counter(guest.page, "project/dex");
  await dex.filter({ hasText: /^2$/ }).waitFor();
  await starOf(unread.page, "Dex").click();
  await said(unread, "Your star for Dex carried 1. 4 of 5 votes left.");
  await dex.filter({ hasText: /^3$/ }).waitFor();
  for (let n = 1; n <= 5; n += 1) await cast(service, heavy, `project/newer${n}`);
  for (const { page } of [guest, unread]) {
    await page.unroute(`${place.url}/`);
    await reopen(page);
    assert.equal(await counter(page, "project/dex").innerText(), "3");
  }
  await guest.close();
  // So does a star that was given on it.
  assert.equal(await starOf(unread.page, "Dex").getAttribute("aria-pressed"), "true");
  assert.match(await carries(unread.page, "project/dex").innerText(), /^Your star carried 1\./);
  await unread.close();

  // A star of the day before whose answer comes now: it counts then, and is open today.
  const late = slow.tab.page;
  await counter(late, "token/0.0.9020").filter({ hasText: "2" }).waitFor();
  assert.equal(await late.getAttribute('[data-star="token/0.0.9023"]', "aria-pressed"), "true");
  slow.answer();
  await late.locator('[data-star="token/0.0.9023"][aria-pressed="false"]').waitFor();
  await counter(late, "token/0.0.9023").filter({ hasText: /^0$/ }).waitFor();
  await late.locator("[data-votes]").filter({ hasText: "5 of 5 votes left" }).waitFor();
  await slow.tab.close();
  // So it is where others are listed in its place.
  slowHome.answer();
  await slowHome.tab.page.locator('[data-star="project/wiki"][aria-pressed="false"]').waitFor();
  await counter(slowHome.tab.page, "project/wiki").filter({ hasText: /^0$/ }).waitFor();
  await carries(slowHome.tab.page, "project/wiki").filter({ hasText: "Would carry 1:" }).waitFor();
  await slowHome.tab.close();
});
