// timeout: 600 s
/**
 * Goal: people can look at every page and vote on it, on a phone, by keys, in the dark, without
 * JavaScript; nothing moves by itself, and what goes wrong is said.
 * Method: a real web process before a headless Chromium, where there is one.
 */
import * as assert from "node:assert/strict";
import { sidewaysOf, violationsOn } from "../../support/browser.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import { browserSuite, openTab } from "./browser-place.ts";
import { installWallet, newEvmWallet } from "./evm-wallet.ts";
import { carries, counter, openPlace, type Place, said, starOf } from "./served-pages.ts";

const test = browserSuite<Place>("the pages in a browser", openPlace);

const paths = ({ star }: Pick<Place, "star">): readonly string[] => [
  ...["/", "/events?status=all", "/events/meetup", "/tokens", "/tokens/0.0.9001"],
  ...["/collections", "/collections/0.0.8001", "/projects", "/projects/dex"],
  ...["/leaderboard", "/stars", `/stars/${star}`, "/no-such-page"],
];

test("every page fits every width in both colours: no barrier, no shift, no complaint", async (place) => {
  const { session } = place;
  const looks = [
    { width: 360, colorScheme: "light", session },
    { width: 360, colorScheme: "dark" },
    { width: 768, colorScheme: "light", session },
    { width: 768, colorScheme: "dark", session, reducedMotion: "reduce" },
    { width: 1280, colorScheme: "light" },
    { width: 1280, colorScheme: "dark", session },
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
      assert.equal(await tab.shift(), 0, `${at} moves by itself: ${await tab.moves()}`);
      assert.deepEqual(await violationsOn(tab.page), [], at);
      // A browser says of a page that it was not found, once.
      const complaints = tab.complaints.splice(0);
      assert.equal(complaints.length, status === 404 ? 1 : 0, `${at}: ${complaints}`);
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
  const locked = starOf(tab.page, "Token 9003");
  assert.ok(await locked.isDisabled());
  const fades = 'getComputedStyle(document.querySelector(".star")).animationName';
  assert.equal(await tab.page.evaluate(fades), "asleep");
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
    .filter({ hasText: "Would carry 18: base 1, A 12, B 5." })
    .waitFor();
  // A screen reader says it with the star.
  const described = await starOf(page, "Token 9004").getAttribute("aria-describedby");
  assert.match(await page.innerText(`[id="${described}"]`), /^Would carry 18/);
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
  const drawn = (): Promise<string> =>
    page.evaluate('getComputedStyle(document.querySelector(".star span"), "::before").content');
  // Seen where the colours are the reader's own, as is the page one is on.
  await page.emulateMedia({ forcedColors: "active" });
  assert.equal(await drawn(), '"☆"');
  const underlined = `[...document.querySelectorAll(".top nav a")]
    .filter((link) => getComputedStyle(link).borderBottomStyle !== "none").length`;
  assert.equal(await page.evaluate(underlined), 1);
  await star.click();
  assert.equal(await star.getAttribute("aria-pressed"), "true");
  assert.equal(await drawn(), '"★"');
  assert.equal(await counter(page, "token/0.0.9004").innerText(), "18");
  assert.match(await page.innerText("[data-votes]"), /^4 of 5 votes left$/);
  release();
  await said(one, "Your star for Token 9004 carried 18. 4 of 5 votes left.");
  const edge = 'getComputedStyle(document.querySelector("[data-said]")).borderTopStyle';
  assert.equal(await page.evaluate(edge), "solid");
  await carries(page, "token/0.0.9004").getByRole("link", { name: "Receipt" }).waitFor();
  // Another page sees it without being asked to look.
  await counter(other.page, "token/0.0.9004").filter({ hasText: /^18$/ }).waitFor();
  // Pressed again it says when it opens.
  await star.click();
  await said(one, /You have starred this today\. It opens again at 00:00 UTC, in /);
  assert.deepEqual([...one.complaints, ...other.complaints], []);
  await Promise.all([one.close(), other.close()]);
});

test("what is said of a star fits its box, also with a name that is one long word", async (place) => {
  const { service } = place;
  await service.sql`update token set name = repeat('Longname', 37) where id = '0.0.9006'`;
  const session = await signIn(service, await newWallet(service));
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/tokens/0.0.9006");
  await page.locator('[data-star="token/0.0.9006"]').click();
  await said(tab, "carried 1. 4 of 5 votes left.");
  const over = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("[data-said]"))`;
  assert.equal(await page.evaluate(over), 0);
  await service.sql`update token set name = 'Token 9006' where id = '0.0.9006'`;
  await tab.close();
});

test("a counter of many digits stands in one line, and beside the name", async (place) => {
  const { sql } = place.service;
  const [before] = await sql<{ weight: number }[]>`
    select weight from event_total where event_id = 'meetup'`;
  const setTotal = (weight: number) =>
    sql`update event_total set weight = ${weight} where event_id = 'meetup'`;
  const tab = await openTab(place, { width: 320 });
  const boxOf = (css: string) => tab.page.locator(css).first().boundingBox();
  await tab.visit("/events/meetup");
  const line = await boxOf(".count strong");
  for (const total of [12_345, 1_234_567]) {
    await setTotal(total);
    await tab.visit("/events/meetup");
    const [number, what, head] = [
      await boxOf(".count strong"),
      await boxOf(".item .what"),
      await boxOf(".item"),
    ];
    assert.equal(number?.height, line?.height, `${total} is broken over lines`);
    assert.ok((number?.x ?? 0) > (what?.x ?? 0) + (what?.width ?? 0), "it lies on the name");
    assert.ok((number?.x ?? 0) + (number?.width ?? 0) < (head?.x ?? 0) + (head?.width ?? 0));
  }
  await setTotal(before?.weight ?? 0);
  await tab.close();
});

test("the page names NFTs that have counted today before the star is pressed", async (place) => {
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
    .filter({
      hasText: "Would carry 8: base 1, A 2, B 5. 7 of your 9 NFTs have counted here today.",
    })
    .waitFor();
  await tab.close();
});

test("once a forever mint has its star, the page says what another one would carry", async (place) => {
  const session = await signIn(place.service, await newWallet(place.service, { a: 2, b: 1 }));
  const tab = await openTab(place, { width: 360, session });
  await tab.visit("/events/mint");
  const words = carries(tab.page, "event/mint");
  await words.filter({ hasText: "Would carry 8: base 1, A 2, B 5." }).waitFor();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await tab.page.route("**/voting/preview?*", async (route) => {
    await held;
    await route.continue();
  });
  await tab.page.locator('[data-star="event/mint"]').click();
  await words.getByRole("link", { name: "Receipt" }).focus();
  release();
  await words
    .filter({
      hasText:
        "Your star carried 8. Receipt Another would carry 0: base 0, A 0, B 0. 8 of your power of 8 has counted here already.",
    })
    .waitFor();
  // What is said behind the link takes the focus from it no more than it moves the page.
  await words.locator("a:focus").waitFor();
  assert.ok((await tab.shift()) < 0.01);
  // Read again, the page has this link no longer: the keyboard's focus goes on at the star.
  await tab.page.evaluate(
    `dispatchEvent(new Event("pagehide")); dispatchEvent(new Event("pageshow"))`,
  );
  await tab.page.locator('[data-star="event/mint"]:focus').waitFor();

  // The last vote goes to something else: then it says what every other star says.
  for (const n of [1, 2, 3]) await cast(place.service, session, `token/0.0.900${n}`);
  await tab.visit("/");
  await words.filter({ hasText: "Would carry 0" }).waitFor();
  await starOf(tab.page, "Meetup").click();
  await said(tab, /0 of 5 votes left\.$/);
  await words.filter({ hasText: "No votes left today." }).waitFor();
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
  // What has the focus does not lie behind what is said.
  for (let presses = 0; presses < 12; presses += 1) {
    await keyboard.press("Tab");
    const free =
      await page.evaluate(`document.querySelector("[data-said]").getBoundingClientRect().top
      - document.activeElement.getBoundingClientRect().top`);
    assert.ok(Number(free) > 0, `press ${presses}: ${free} px`);
  }
  await tab.visit("/");
  assert.deepEqual(tab.complaints, []);
  await tabTo("[data-sign-out]");
  await keyboard.press("Enter");
  await page.locator("[data-sign-in]").waitFor();
  await tab.close();
});
