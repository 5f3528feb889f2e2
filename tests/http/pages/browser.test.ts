// timeout: 600 s
/**
 * Goal: people can look at every page and vote on it, on a phone, by keys, in the dark, without
 * JavaScript; nothing moves by itself, nothing comes from elsewhere, and what goes wrong is said.
 * Method: a real web process before a headless Chromium, where there is one.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Page } from "playwright-core";
import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import { freePort } from "../../../src/local/free-port.ts";
import { ecdsaKey } from "../../../src/local/hedera/keys.ts";
import { startRedis } from "../../../src/local/redis.ts";
import { sidewaysOf, violationsOn } from "../../support/browser.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Child, startProcess, until } from "../../support/processes.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import { browserSuite, openTab, type Tab } from "./browser-place.ts";
import { StandInRelay } from "./relay-stand-in.ts";
import { type StandInWallet, startWallet } from "./stand-in-wallet.ts";

interface Place {
  readonly service: Service;
  readonly url: string;
  /** A session of a wallet with 12 of A and 1 of B that has starred a token and an event. */
  readonly session: string;
  readonly star: string;
  /** For which this machine signs. */
  readonly demo: SigningWallet;
}

const test = browserSuite<Place>("the pages in a browser", async () => {
  const demoWallets: SigningWallet[] = [];
  const service = await startService({ WALLETCONNECT_PROJECT_ID: "project" }, { demoWallets });
  const demo = await newWallet(service, { a: 3, b: 1 });
  demoWallets.push(demo, await newWallet(service, { type: "ecdsa" }));
  const session = await signIn(service, await newWallet(service, { a: 12, b: 1 }));
  const { body } = await cast(service, session, "token/0.0.9001");
  await cast(service, session, "event/meetup");
  const { url, close } = service;
  return { service, url, session, star: body.star.id, demo, close };
});

const paths = ({ star }: Pick<Place, "star">): readonly string[] => [
  ...["/", "/events?status=all", "/events/meetup", "/tokens", "/tokens/0.0.9001"],
  ...["/collections", "/collections/0.0.8001", "/projects", "/projects/dex"],
  ...["/leaderboard", "/stars", `/stars/${star}`, "/no-such-page"],
];

/** The star of an item, by its name as anyone finds it. */
const starOf = (page: Page, name: string) =>
  page.getByRole("button", { name: `Star ${name}`, exact: true });
const carries = (page: Page, key: string) => page.locator(`[data-carries="${key}"]`);
const counter = (page: Page, key: string) => page.locator(`[data-counter="${key}"]`).first();
const said = ({ page }: Tab, text: string | RegExp) =>
  page.locator("[data-said]").filter({ hasText: text }).waitFor();

test("every page fits every width in both colours: no barrier, no shift, no complaint", async (place) => {
  const { session } = place;
  const looks = [
    { width: 360, colorScheme: "light", session },
    { width: 768, colorScheme: "dark", reducedMotion: "reduce" },
    { width: 1280, colorScheme: "light", session },
  ] as const;
  for (const look of looks) {
    const tab = await openTab(place, look);
    for (const path of paths(place)) {
      const at = `${path} at ${look.width} ${look.colorScheme}`;
      const status = path === "/no-such-page" ? 404 : 200;
      assert.equal(await tab.visit(path), status, at);
      // What a star would carry is said once the wallet's NFTs are read.
      if ("session" in look && path === "/tokens")
        await carries(tab.page, "token/0.0.9002").filter({ hasText: "Would carry" }).waitFor();
      assert.equal(await sidewaysOf(tab.page), 0, `${at} is wider than the screen`);
      assert.equal(await tab.shift(), 0, `${at} moves by itself`);
      assert.deepEqual(await violationsOn(tab.page), [], at);
      const complaints = tab.complaints.splice(0).filter((text) => !text.includes("404"));
      assert.deepEqual(complaints, [], at);
    }
    await tab.close();
  }
});

test("without JavaScript everything is read, and the star says that it cannot be pressed", async (place) => {
  const tab = await openTab(place, { width: 360, javaScriptEnabled: false });
  for (const path of paths(place)) {
    await tab.visit(path);
    assert.ok((await tab.page.locator("h1").innerText()).length > 0, path);
    assert.equal(await sidewaysOf(tab.page), 0, path);
  }
  await tab.visit("/tokens");
  assert.match(await tab.page.innerText("main"), /Giving a star needs it/);
  assert.ok(await starOf(tab.page, "Token 9003").isDisabled());
  // Searched and paged by keys alone.
  await tab.page.getByLabel("Name").focus();
  await tab.page.keyboard.type("token 90");
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForURL("**/tokens?q=token+90");
  await tab.visit("/tokens?q=token+90&limit=30");
  await tab.page.getByRole("link", { name: "After →" }).focus();
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForURL("**/tokens?*offset=30");
  await starOf(tab.page, "Token 9039").waitFor();
  await tab.close();
});

test("a star says what it would carry, is given at once, and says what it carried", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service, { a: 12, b: 1 }));
  const [one, other] = [
    await openTab(place, { width: 360, session }),
    await openTab(place, { width: 1280 }),
  ];
  await one.visit("/tokens/0.0.9004");
  await other.visit("/tokens");
  const { page } = one;
  await carries(page, "token/0.0.9004")
    .filter({ hasText: "Would carry 18: 1 + 12 + 5." })
    .waitFor();
  // The answer is held back: what is shown meanwhile is the page's own.
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/voting/stars", async (route) => {
    await held;
    await route.continue();
  });
  const star = starOf(page, "Token 9004");
  await star.click();
  assert.equal(await star.getAttribute("aria-pressed"), "true");
  assert.equal(await counter(page, "token/0.0.9004").innerText(), "18");
  assert.match(await page.innerText("[data-votes]"), /^4 of 5 votes left$/);
  release();
  await said(one, "Your star for Token 9004 carried 18. 4 of 5 votes left.");
  await carries(page, "token/0.0.9004").getByRole("link", { name: "Receipt" }).waitFor();
  // Another page sees it without being asked to look.
  await counter(other.page, "token/0.0.9004").filter({ hasText: /^18$/ }).waitFor();
  // Pressed again it says when it opens.
  await star.click();
  await said(one, /You have starred this today\. It opens again at 00:00 UTC, in /);
  assert.deepEqual([...one.complaints, ...other.complaints], []);
  await Promise.all([one.close(), other.close()]);
});

test("NFTs that have counted today are told before the star is pressed", async (place) => {
  const { service } = place;
  const first = await newWallet(service, { a: 12, b: 1 });
  await cast(service, await signIn(service, first), "event/hack");
  const second = await newWallet(service, { a: 2, b: 1 });
  const serials = await service.sql<{ serial: number }[]>`
    select unnest(claimed_a) as serial from star where target_id = 'hack' order by 1 limit 7`;
  for (const { serial } of serials) {
    await service.hedera.ledger.transfer(service.collectionA, serial, second.id);
  }
  const tab = await openTab(place, { width: 768, session: await signIn(service, second) });
  await tab.visit("/events/hack");
  await carries(tab.page, "event/hack")
    .filter({ hasText: "Would carry 8: 1 + 2 + 5. 7 of your 9 NFTs have counted here today." })
    .waitFor();
  await tab.close();
});

test("a star that is refused goes back, with its reason and when it ends", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  const tab = await openTab(place, { width: 360, session });
  await tab.visit("/tokens");
  const { page } = tab;
  // Used up elsewhere, while this page is open.
  for (const n of [1, 2, 3, 4, 5]) await cast(service, session, `token/0.0.900${n}`);
  await starOf(page, "Token 9010").click();
  await said(tab, /^All 5 votes of today are given\. There are new ones at 00:00 UTC, in .+\.$/);
  assert.equal(await starOf(page, "Token 9010").getAttribute("aria-pressed"), "false");
  assert.equal(await counter(page, "token/0.0.9010").innerText(), "0");
  await starOf(page, "Token 9001").click();
  await said(tab, /^You have starred this today\. It opens again at 00:00 UTC, in .+\.$/);
  await page.route("**/voting/stars", (route) =>
    route.fulfill({
      status: 503,
      headers: { "retry-after": "3" },
      json: { error: "…", code: "HOLDINGS_UNAVAILABLE" },
    }),
  );
  await starOf(page, "Token 9011").click();
  await said(tab, "cannot be read right now. Nothing was spent; try again in 3 seconds.");
  await page.unroute("**/voting/stars");
  await page.route("**/voting/stars", (route) => route.abort());
  await starOf(page, "Token 9012").click();
  await said(tab, "No answer came.");
  assert.equal(await starOf(page, "Token 9012").getAttribute("aria-pressed"), "false");
  await tab.close();
});

/** A browser wallet as EIP-6963 has it; it signs with a key of the test's own. */
async function installWallet({ page }: Tab, address: string, wallet: SigningWallet): Promise<void> {
  await page.exposeFunction("signForTest", (hex: string) => {
    const message = Buffer.from(hex.slice(2), "hex").toString("utf8");
    return signChallenge(wallet, message).signature;
  });
  await page.addInitScript(`
    const provider = { async request({ method, params }) {
      if (method === "eth_requestAccounts") return ["${address}"];
      if (method === "personal_sign") return window.signForTest(params[0]);
      throw new Error(method);
    } };
    const info = { uuid: "350670db-19fa-4704-a166-e52e178b59d2", name: "Test Wallet", icon: "data:image/svg+xml,", rdns: "test.wallet" };
    addEventListener("eip6963:requestProvider", () => dispatchEvent(new CustomEvent("eip6963:announceProvider",
      { detail: Object.freeze({ info, provider }) })));`);
}

async function newEvmWallet({
  hedera,
}: Service): Promise<{ address: string; wallet: SigningWallet }> {
  const secret = secp256k1.utils.randomSecretKey();
  const point = secp256k1.getPublicKey(secret, false).subarray(1);
  const address = `0x${Buffer.from(keccak_256(point).subarray(12)).toString("hex")}`;
  const key = ecdsaKey(secp256k1.getPublicKey(secret, true));
  const id = await hedera.ledger.createAccount({ key, evmAddress: address });
  return { address, wallet: { id, type: "ecdsa", key: Buffer.from(secret).toString("hex") } };
}

test("by keys alone: past the navigation, signed in by a browser wallet, a star given, signed out", async (place) => {
  const { address, wallet } = await newEvmWallet(place.service);
  const tab = await openTab(place, { width: 1280 });
  await installWallet(tab, address, wallet);
  const { page } = tab;
  const { keyboard } = page;
  const tabTo = async (css: string): Promise<void> => {
    for (let presses = 0; presses < 80; presses += 1) {
      await keyboard.press("Tab");
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(css)})`)) return;
    }
    assert.fail(`no key leads to ${css}`);
  };
  await tab.visit("/tokens");
  await keyboard.press("Tab");
  assert.match(await page.evaluate("document.activeElement.textContent"), /Skip to content/);
  await tabTo("[data-sign-in]");
  await keyboard.press("Enter");
  const choice = page.getByRole("dialog").getByRole("button", { name: "Test Wallet" });
  await choice.waitFor();
  await keyboard.press("Escape");
  await choice.waitFor({ state: "detached" });
  await keyboard.press("Enter");
  await choice.waitFor();
  await page.locator("dialog button:focus").filter({ hasText: "Test Wallet" }).waitFor();
  await keyboard.press("Enter");
  await page.locator(".wallet").filter({ hasText: wallet.id }).waitFor();
  await page.locator("html[data-reread]").waitFor();
  const [cookie] = await tab.context.cookies();
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
  await tabTo('[data-star="token/0.0.9006"]');
  await keyboard.press("Enter");
  await said(tab, "Your star for Token 9006 carried 1.");
  await page.keyboard.press("Shift+Tab");
  await tab.visit("/");
  assert.deepEqual(tab.complaints, []);
  await tabTo("[data-sign-out]");
  await keyboard.press("Enter");
  await page.locator("[data-sign-in]").waitFor();
  await tab.close();
});

test("a Hedera wallet declines, then signs in by WalletConnect, from the code that the page shows", async (place) => {
  const relay = new StandInRelay();
  const account = await newWallet(place.service, { a: 2 });
  const wallet = await startWallet(relay, { ...account, chainId: "hedera:local" });
  const tab = await openTab(place, { width: 360 });
  try {
    await meetWallet({ place, tab, relay, wallet, account: account.id });
  } finally {
    await tab.close();
    await wallet.close();
  }
});

async function meetWallet(given: {
  readonly place: Place;
  readonly tab: Tab;
  readonly relay: StandInRelay;
  readonly wallet: StandInWallet;
  readonly account: string;
}): Promise<void> {
  const { place, tab, relay, wallet, account } = given;
  const { page } = tab;
  await page.routeWebSocket("wss://relay.walletconnect.org/**", (socket) =>
    relay.connectPage(socket),
  );
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  const policy = (await page.goto(place.url))?.headers()["content-security-policy"] ?? "";
  assert.match(policy, /connect-src 'self' wss:\/\/relay\.walletconnect\.org;/);
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
  wallet.declineNext();
  await wallet.pair(await readUri());
  await dialog.getByText("The wallet declined. Nothing was signed.").waitFor();
  await choice.click();
  await picture.waitFor();
  await wallet.pair(await readUri());
  await page.locator(".wallet").filter({ hasText: account }).waitFor();
  await carries(page, "token/0.0.9007").filter({ hasText: "Would carry 3: 1 + 2 + 0." }).waitFor();
  assert.ok(
    loaded.every((url) => url.startsWith(place.url)),
    "nothing comes from elsewhere",
  );
  assert.deepEqual(tab.complaints, []);
  assert.deepEqual(
    await page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]"),
    [],
  );
}

test("one of this machine's demo wallets signs in by a click, at either name of this machine", async (place) => {
  const { demo, url } = place;
  for (const host of ["127.0.0.1", "localhost"]) {
    const tab = await openTab({ ...place, url: url.replace("127.0.0.1", host) }, { width: 360 });
    await tab.visit("/projects/dex");
    // A star that is pressed by somebody who is not signed in asks for a wallet first.
    await starOf(tab.page, "Dex").click();
    const choice = tab.page.getByRole("dialog").getByRole("button", { name: demo.id });
    await choice.filter({ hasText: "holds 3 of A, 1 of B" }).click();
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

test("a wallet that declines, and one that no ledger knows, are told in words", async (place) => {
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
    // What the page misses it is told of when it comes back.
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

test("an answer that is lost is asked for by the same key: one star, one vote", async (place) => {
  const { service } = place;
  const session = await signIn(service, await newWallet(service));
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens");
  const keys: string[] = [];
  await page.route("**/voting/stars", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    // The service has it; the page never hears.
    await route.fetch();
    await route.abort();
  });
  await starOf(page, "Token 9036").click();
  await said(tab, "No answer came.");
  await page.unroute("**/voting/stars");
  await starOf(page, "Token 9036").click();
  await said(tab, "Your star for Token 9036 carried 1. 4 of 5 votes left.");
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  await tab.close();
});

test("midnight passes before an open page: votes, counters, stars and countdown turn by themselves", async (place) => {
  const { service } = place;
  const [before] = await service.sql<{ left: number }[]>`
    select 86400000 - now_ms() % 86400000 - 12000 as left`;
  // Twelve seconds before midnight; every clock of the service follows this one.
  await service.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${before?.left} $$`);
  const session = await signIn(service, await newWallet(service, { a: 1 }));
  await cast(service, session, "token/0.0.9020");
  const tab = await openTab(place, { width: 360, session });
  await tab.visit("/tokens");
  const { page } = tab;
  const votes = page.locator("[data-votes]");
  await votes.filter({ hasText: "5 of 5 votes left" }).waitFor();
  await counter(page, "token/0.0.9020").filter({ hasText: /^0$/ }).waitFor();
  assert.equal(await starOf(page, "Token 9020").getAttribute("aria-pressed"), "false");
  await page.locator("[data-countdown]").filter({ hasText: "23 hours 59 minutes" }).waitFor();
  await starOf(page, "Token 9020").click();
  await said(tab, "Your star for Token 9020 carried 2. 4 of 5 votes left.");
  await tab.close();
});
