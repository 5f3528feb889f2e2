// timeout: 600 s
/**
 * Goal: each kind of wallet signs in by the same button and the same code, nothing is loaded from
 * elsewhere, and each way in which it can fail is said. Method: a real service before a headless
 * Chromium; wallets of the test's own, that of WalletConnect made with its library, behind a relay of
 * the test's own.
 */
import * as assert from "node:assert/strict";
import type { Page, WebSocketRoute } from "playwright-core";
import { sidewaysOf, violationsOn } from "../../support/browser.ts";
import { until } from "../../support/processes.ts";
import { newWallet } from "../../support/service.ts";
import { browserSuite, openTab } from "./browser-place.ts";
import { installWallet, newEvmWallet } from "./evm-wallet.ts";
import { StandInRelay } from "./relay-stand-in.ts";
import { carries, openPlace, type Place, said, starOf } from "./served-pages.ts";
import { type StandInWallet, startWallet } from "./stand-in-wallet.ts";

interface WalletPlace extends Place {
  readonly relay: StandInRelay;
  /** One for all tests: its library bears no second one in a process. */
  readonly wallet: StandInWallet;
  readonly account: string;
}

const test = browserSuite<WalletPlace>("wallets", async () => {
  const place = await openPlace();
  const relay = new StandInRelay();
  const account = await newWallet(place.service, { a: 2 });
  const wallet = await startWallet(relay, { ...account, chainId: "hedera:local" });
  const close = async (): Promise<void> => {
    await wallet.close();
    await place.close();
  };
  return { ...place, relay, wallet, account: account.id, close };
});

/** Where a page looks for WalletConnect's relay. */
const relayed = (page: Page, connect: (socket: WebSocketRoute) => void): Promise<void> =>
  page.routeWebSocket("wss://relay.walletconnect.org/**", connect);

test("a Hedera wallet declines, then signs in by WalletConnect, from the code that the page shows", async (place) => {
  const { relay, wallet, account } = place;
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await relayed(page, (socket) => relay.connectPage(socket));
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  // One signs in where one is: at an address without a page too.
  for (const path of ["/", "/no-such-page"]) {
    const { headers } = await fetch(place.url + path, { headers: { accept: "text/html" } });
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /connect-src 'self' wss:\/\/relay\.walletconnect\.org;/, path);
  }
  await tab.visit("/tokens/0.0.9007");
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  const choice = dialog.getByRole("button", { name: "Hedera wallet" });
  await choice.waitFor();
  const before = loaded.length;
  await choice.click();
  const picture = dialog.getByRole("img", { name: "QR code for your wallet" });
  await picture.waitFor();
  const { y = 0, height = 0 } = (await picture.boundingBox()) ?? {};
  assert.ok(y > 0 && y + height < 800, "the whole code is in sight");
  assert.ok(loaded.length > before, "the library is loaded when the wallet is chosen, not before");
  assert.equal(await sidewaysOf(page), 0);
  assert.deepEqual(await violationsOn(page), []);
  const link = dialog.getByRole("link", { name: "Open a wallet on this device" });
  const readUri = async (): Promise<string> => {
    const uri = await dialog.getByLabel("Or copy this into your wallet").inputValue();
    assert.match(uri, /^wc:[0-9a-f]{64}@2\?/);
    assert.equal(await link.getAttribute("href"), uri);
    return uri;
  };
  wallet.answerNext("declines");
  await wallet.pair(await readUri());
  await dialog.getByText("The wallet declined. Nothing was signed.").waitFor();
  // The code that had the keyboard's focus is gone: it goes on where the wallet was chosen.
  assert.match((await page.evaluate("document.activeElement.textContent")) as string, /^Hedera/);
  await choice.click();
  await picture.waitFor();
  await wallet.pair(await readUri());
  await page.locator(".wallet").filter({ hasText: account }).waitFor();
  await carries(page, "token/0.0.9007")
    .filter({ hasText: "Would carry 3: base 1, A 2, B 0." })
    .waitFor();
  assert.ok(
    loaded.every((url) => url.startsWith(place.url)),
    "nothing comes from elsewhere",
  );
  assert.deepEqual(tab.complaints, []);
  assert.deepEqual(
    await page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]"),
    [],
  );
  await tab.close();
});

test("each way in which a Hedera wallet fails is said, and the next try is free", async (place) => {
  const { relay, wallet, account } = place;
  const { key } = await newWallet(place.service);
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await relayed(page, (socket) => relay.connectPage(socket));
  await tab.visit("/tokens/0.0.9008");
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Hedera wallet" }).waitFor();
  // What a screen reader says.
  await page.evaluate(`
    window.told = [];
    const status = document.querySelector("dialog [role=status]");
    new MutationObserver(() => window.told.push(status.textContent)).observe(status, { childList: true });`);
  for (const [answer, sentence] of [
    ["lacks the network", "This wallet does not know this network, or cannot sign in on it."],
    [
      "opens another network",
      "The wallet opened no account of the network local. Choose one there.",
    ],
    ["declines to sign", "The wallet declined. Nothing was signed."],
    [{ key }, "The signature does not fit this wallet. Sign in once more."],
  ] as const) {
    wallet.answerNext(answer);
    await dialog.getByRole("button", { name: "Hedera wallet" }).click();
    const uri = dialog.getByLabel("Or copy this into your wallet");
    await wallet.pair(await uri.inputValue());
    await dialog.getByText(sentence).waitFor();
    await uri.waitFor({ state: "detached" });
  }
  const told = (await page.evaluate("window.told")) as string[];
  for (const step of [
    "Scan the code with your wallet.",
    "Your wallet is connected. Confirm the text there.",
  ])
    assert.ok(told.includes(step), `${told}`);
  await dialog.getByRole("button", { name: "Hedera wallet" }).click();
  await wallet.pair(await dialog.getByLabel("Or copy this into your wallet").inputValue());
  await page.locator(".wallet").filter({ hasText: account }).waitFor();
  // The service's answer to the signature of another key.
  assert.deepEqual(
    tab.complaints.filter((text) => !text.includes("401")),
    [],
  );
  await tab.close();
});

test("a wallet that answers after another was chosen takes nothing away of what that one shows", async (place) => {
  const { relay, account } = place;
  const { wallet } = await newEvmWallet(place.service);
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await relayed(page, (socket) => relay.connectPage(socket));
  await installWallet(tab, `0x${"ab".repeat(20)}`, wallet);
  await tab.visit("/tokens/0.0.9008");
  await page.evaluate(`
    window.signForTest = () => new Promise((_, decline) => {
      window.decline = () => decline({ code: 4001 });
    });`);
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Test Wallet" }).click();
  // Asked again from here: a page's own policy lets no text be evaluated in it.
  await until("the wallet is asked", () => page.evaluate<boolean>("window.decline !== undefined"));
  await dialog.getByRole("button", { name: "Hedera wallet" }).click();
  const uri = dialog.getByLabel("Or copy this into your wallet");
  await uri.waitFor();
  await page.evaluate("window.decline()");
  await page.evaluate("new Promise((resolve) => setTimeout(resolve))");
  assert.equal(await dialog.getByText("The wallet declined").count(), 0);
  await place.wallet.pair(await uri.inputValue());
  await page.locator(".wallet").filter({ hasText: account }).waitFor();
  await tab.close();
});

test("a Hedera wallet is left where the service refuses the sign-in before anything is signed", async (place) => {
  const { relay, wallet } = place;
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await relayed(page, (socket) => relay.connectPage(socket));
  await tab.visit("/tokens/0.0.9008");
  await page.route("**/voting/challenges", (route) =>
    route.fulfill({ status: 503, json: { error: "…", code: "UNAVAILABLE" } }),
  );
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Hedera wallet" }).click();
  await wallet.pair(await dialog.getByLabel("Or copy this into your wallet").inputValue());
  await dialog.getByText("The service cannot answer right now.").waitFor();
  await until("the wallet is left", () => wallet.connections() === 0);
  await tab.close();
});

test("a service that does not answer a sign-in is said, and not waited for without end", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/");
  await page.evaluate(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = () => timeout.call(AbortSignal, 100);`);
  await page.route("**/voting/config", () => undefined);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("dialog").getByText("No answer came. Check your connection").waitFor();
  await tab.close();
});

test("where WalletConnect's relay is away or silent that is said, and another wallet can be chosen", async (place) => {
  for (const relay of ["away", "silent"]) {
    const tab = await openTab(place, { width: 360 });
    const { page } = tab;
    await relayed(page, (socket) => (relay === "away" ? void socket.close() : undefined));
    await tab.visit("/tokens/0.0.9008");
    await page.getByRole("button", { name: "Sign in" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Hedera wallet" }).click();
    await dialog.getByText("WalletConnect cannot be reached.").waitFor({ timeout: 60_000 });
    await dialog.getByRole("button", { name: place.demo.id }).click();
    await page.locator(".wallet").filter({ hasText: place.demo.id }).waitFor();
    await tab.close();
  }
});

test("one of this machine's demo wallets signs in by a click, at either name of this machine", async (place) => {
  const { demo, url } = place;
  for (const host of ["127.0.0.1", "localhost"]) {
    const tab = await openTab({ ...place, url: url.replace("127.0.0.1", host) }, { width: 360 });
    await tab.visit("/projects/dex");
    // A star that is pressed by somebody who is not signed in asks for a wallet first.
    await starOf(tab.page, "Dex").click();
    const choice = tab.page.getByRole("dialog").getByRole("button", { name: demo.id });
    await choice.filter({ hasText: "holds 3 of collection A, 1 of B" }).click();
    await tab.page.locator(".wallet").filter({ hasText: demo.id }).waitFor();
    await carries(tab.page, "project/dex")
      .filter({ hasText: /carr(y|ied) 9/ })
      .waitFor();
    if (host === "127.0.0.1") {
      await starOf(tab.page, "Dex").click();
      await said(tab, "Your star for Dex carried 9. 4 of 5 votes left.");
    }
    assert.deepEqual(tab.complaints, []);
    await tab.close();
  }
});

test("a sign-in that is closed while the wallet is asked signs no wallet in", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/projects/dex");
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const signing = "**/demo/signatures";
  await page.route(signing, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "Sign in" }).click();
  const asked = page.waitForRequest(signing);
  await page.getByRole("dialog").getByRole("button", { name: place.demo.id }).click();
  await asked;
  await page.keyboard.press("Escape");
  const signed = page.waitForResponse(signing);
  answer();
  await signed;
  // What the answer led to came before what a second sheet asks.
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("dialog").getByRole("button", { name: place.demo.id }).waitFor();
  assert.deepEqual(await tab.context.cookies(), []);
  await tab.close();
});

test("a sign-in for a star far down a list leads back to that star, in sight", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/tokens");
  const star = page.locator("[data-star]").nth(30);
  await star.click();
  await page.getByRole("dialog").getByRole("button", { name: place.demo.id }).click();
  await said(tab, /^You are signed in\. Press the star once more/);
  // By then the browser has scrolled wherever it does by itself.
  await page.waitForLoadState("load");
  await page.locator("html[data-reread]").waitFor();
  const { y, height } = (await star.boundingBox()) ?? { y: -1, height: 0 };
  assert.ok(y >= 0 && y + height <= 800, `the star stands at ${y}`);
  await tab.close();
});

test("a wallet that declines, and one without an account, get a sentence", async (place) => {
  const { wallet } = await newEvmWallet(place.service);
  const tab = await openTab(place, { width: 360 });
  await installWallet(tab, `0x${"ab".repeat(20)}`, wallet);
  await tab.visit("/");
  const dialog = tab.page.getByRole("dialog");
  await tab.page.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByRole("button", { name: "Test Wallet" }).click();
  await dialog.getByText("The ledger knows no such account.").waitFor();
  assert.deepEqual(await violationsOn(tab.page), []);
  assert.equal(await sidewaysOf(tab.page), 0);
  await tab.page.evaluate("window.signForTest = async () => { throw { code: 4001 }; }");
  await dialog.getByRole("button", { name: "Test Wallet" }).click();
  await dialog.getByText("The wallet declined. Nothing was signed.").waitFor();
  await tab.close();
});

test("wallets that announce themselves badly are left out, and one that opens nothing is said", async (place) => {
  const { wallet } = await newEvmWallet(place.service);
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await page.addInitScript(`
    const request = async () => null;
    const announced = [{ provider: { request } }, { info: {}, provider: { request } }, { info: null }, null,
      { info: { uuid: "u", name: "Empty Wallet", rdns: "r" }, provider: { request } }];
    addEventListener("eip6963:requestProvider", () => {
      for (const detail of announced) dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    });`);
  await installWallet(tab, `0x${"ab".repeat(20)}`, wallet);
  await tab.visit("/");
  await page.getByRole("button", { name: "Sign in" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Test Wallet" }).waitFor();
  assert.equal(await dialog.getByText("in this browser", { exact: true }).count(), 2);
  await dialog.getByRole("button", { name: "Empty Wallet" }).click();
  await dialog.getByText("The wallet opened no account. Open one there").waitFor();
  assert.deepEqual(tab.complaints, []);
  await tab.close();
});
