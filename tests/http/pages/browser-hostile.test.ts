// timeout: 300 s
/**
 * Goal: no other page votes for a visitor or shows ours as its own, and a double click votes once.
 * Method: a page of another site beside a real service, in a headless Chromium that holds the cookie
 * of somebody signed in.
 */
import * as assert from "node:assert/strict";
import { createServer } from "node:http";
import { cast, newWallet, type Service, send, signIn } from "../../support/service.ts";
import { browserSuite, openTab, type Tab } from "./browser-place.ts";
import { carries, counter, openPlace, type Place, said, starOf } from "./served-pages.ts";

const test = browserSuite<Place>("pages among others", openPlace);

/** A page of another site: `localhost` is another than the service's 127.0.0.1. */
async function withOtherSite(html: string, visit: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_, reply) => {
    reply.setHeader("content-type", "text/html; charset=utf-8");
    reply.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  try {
    await visit(`http://localhost:${typeof address === "object" ? address?.port : ""}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A tab that is signed in, and what its wallet has left. */
async function signedIn(place: Parameters<typeof openTab>[0] & Place) {
  const { service } = place;
  const session = await signIn(service, await newWallet(service, { a: 1 }));
  const tab = await openTab(place, { width: 768, session });
  return { tab, session, left: () => remaining(service, session) };
}

async function remaining(service: Service, token: string): Promise<number> {
  return (await send(service, "GET /voting/allowance", { token })).body.remaining;
}

test("another site's page cannot vote for a visitor, by form, script or picture", async (place) => {
  const { tab, left } = await signedIn(place);
  const { page } = tab;
  const star = JSON.stringify({ target: { type: "token", id: "0.0.9001" } });
  const html = `<!doctype html><form method="post" enctype="text/plain" action="${place.url}/voting/stars">
<input name='{"target":{"type":"token","id":"0.0.9001"},"x":"' value='"}'></form>
<img src="${place.url}/voting/stars?_method=POST"><script>
window.tries = Promise.allSettled(["text/plain", "application/json", "application/x-www-form-urlencoded"].flatMap((type) =>
  ["cors", "no-cors"].map((mode) => fetch("${place.url}/voting/stars", { method: "POST", mode,
    credentials: "include", headers: { "content-type": type }, body: ${JSON.stringify(star)} }))));
</script>`;
  await withOtherSite(html, async (other) => {
    await page.goto(other);
    await page.evaluate("window.tries");
    await page.evaluate("document.forms[0].submit()");
    await page.waitForURL(`${place.url}/voting/stars`);
    assert.match(
      await page.innerText("body"),
      /MISSING_SESSION|INVALID_REQUEST|UNSUPPORTED_MEDIA_TYPE/,
    );
  });
  assert.equal(await left(), 5);
  await tab.close();
});

test("no page of ours is shown inside another's", async (place) => {
  const { tab } = await signedIn(place);
  const { page } = tab;
  const paths = ["/", "/tokens", "/stars", "/no-such-page", "/docs", "/ops"];
  const frames = paths.map((path) => `<iframe src="${place.url}${path}"></iframe>`).join("");
  await withOtherSite(frames, async (other) => {
    await page.goto(other, { waitUntil: "load" });
    const inside = page.frames().filter((frame) => frame !== page.mainFrame());
    assert.equal(inside.length, paths.length);
    for (const frame of inside) {
      const shown = await frame.evaluate("document.body?.innerText ?? ''").catch(() => "");
      assert.doesNotMatch(String(shown), /Starboard|star/i);
    }
    const refused = tab.complaints.filter((text) => /frame/i.test(text));
    assert.equal(refused.length, paths.length, tab.complaints.join("\n"));
  });
  await tab.close();
});

test("a link from another site leads to the page of the signed-in wallet, rendered at most twice", async (place) => {
  const { tab } = await signedIn(place);
  const { page } = tab;
  await withOtherSite(`<a href="${place.url}/tokens">Vote here</a>`, async (other) => {
    await page.goto(other);
    let drawn = 0;
    page.on("request", (request) => {
      if (request.isNavigationRequest()) drawn += 1;
    });
    await page.getByRole("link", { name: "Vote here" }).click();
    await page.locator("[data-votes]").filter({ hasText: "5 of 5 votes left" }).waitFor();
    await page.locator("html[data-reread]").waitFor();
    assert.ok(drawn <= 2, `drawn ${drawn} times`);
    await starOf(page, "Token 9010").click();
    await said(tab, "Your star for Token 9010 carried 2. 4 of 5 votes left.");
  });
  await tab.close();
});

/** The stars that a tab sent while something was done to it. */
async function sentDuring({ page }: Tab, act: () => Promise<void>): Promise<number> {
  let sent = 0;
  const count = (request: { url(): string; method(): string }): void => {
    if (request.method() === "POST" && request.url().endsWith("/voting/stars")) sent += 1;
  };
  page.on("request", count);
  await act();
  page.off("request", count);
  return sent;
}

test("a double click and a key held down give one star, also where more would count", async (place) => {
  const { tab, left } = await signedIn(place);
  const { page } = tab;
  await tab.visit("/events/mint");
  const star = page.locator('[data-star="event/mint"]');
  await carries(page, "event/mint").filter({ hasText: "Would carry" }).waitFor();
  const clicked = await sentDuring(tab, async () => {
    // Slowly: the second click comes after the answer to the first.
    await star.dblclick({ delay: 150 });
    await said(tab, /carried 2\. 4 of 5 votes left\.$/);
  });
  assert.equal(clicked, 1);
  await star.focus();
  const held = await sentDuring(tab, async () => {
    await page.keyboard.down("Enter");
    await said(tab, /carried 0\. 3 of 5 votes left\.$/);
    for (let n = 0; n < 5; n += 1) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
  });
  assert.equal(held, 1);
  assert.equal(await left(), 3);
  // A key that presses nothing scrolls on.
  const isLeftAlone = await page.evaluate(`document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowDown", repeat: true, cancelable: true }))`);
  assert.equal(isLeftAlone, true);
  await tab.close();
});

test("a double click on Sign in opens one sheet", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/leaderboard");
  await page.getByRole("button", { name: "Sign in" }).dblclick();
  await page.getByRole("heading", { name: "Demo wallets" }).first().waitFor();
  assert.equal(await page.locator("dialog").count(), 1);
  await tab.close();
});

test("a key held down on a star chooses no wallet, and a double click on a wallet signs in once", async (place) => {
  const tab = await openTab(place, { width: 360 });
  const { page } = tab;
  await tab.visit("/tokens/0.0.9013");
  await starOf(page, "Token 9013").focus();
  await page.keyboard.down("Enter");
  await page.locator("dialog .wallets button:focus").waitFor();
  await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  assert.equal(await page.innerText("dialog [role=status]"), "");
  let challenges = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/voting/challenges")) challenges += 1;
  });
  await page.getByRole("button", { name: place.demo.id }).dblclick();
  await said(tab, "You are signed in. Press the star once more");
  assert.equal(challenges, 1);
  await tab.close();
});

test("two tabs of one wallet: a star given in one shows in the other, and is given once", async (place) => {
  const { service } = place;
  const { tab, session } = await signedIn(place);
  const second = await tab.context.newPage();
  await tab.visit("/tokens");
  await second.goto(`${place.url}/tokens/0.0.9011`);
  await carries(second, "token/0.0.9011").filter({ hasText: "Would carry" }).waitFor();
  await tab.page.bringToFront();
  await starOf(tab.page, "Token 9011").click();
  await said(tab, "Your star for Token 9011 carried 2. 4 of 5 votes left.");
  await counter(second, "token/0.0.9011").filter({ hasText: /^2$/ }).waitFor();
  await starOf(second, "Token 9011").click();
  await second.getByText(/^You have starred this today\. It opens again at 00:00 UTC/).waitFor();
  await second.locator("[data-votes]").filter({ hasText: "4 of 5 votes left" }).waitFor();
  await carries(second, "token/0.0.9011").filter({ hasText: "Your star carried 2." }).waitFor();
  assert.equal((await cast(service, session, "token/0.0.9012")).status, 201);
  await tab.close();
});

test("a list of one's stars that stays open shows a star given elsewhere when it is seen again", async (place) => {
  const session = await signIn(place.service, await newWallet(place.service));
  const tab = await openTab(place, { width: 360, session });
  const { page } = tab;
  await tab.visit("/stars");
  await page.getByText("No star was given on this day.").waitFor();
  await cast(place.service, session, "token/0.0.9012");
  await page.evaluate(`dispatchEvent(new Event("pagehide")); dispatchEvent(new Event("pageshow"))`);
  const link = page.getByRole("link", { name: "Token 9012" });
  await link.waitFor();
  // In the visitor's zone, which it names.
  assert.match((await page.getAttribute("td time", "title")) ?? "", /UTC/);
  // What is the same stays, and with it the focus.
  await link.focus();
  const comeBack = async (focused = "Token 9012"): Promise<void> => {
    const read = page.waitForResponse(`${place.url}/stars`);
    await page.evaluate(`
      document.body.removeAttribute("data-again");
      document.addEventListener("reread", () => document.body.setAttribute("data-again", ""));
      dispatchEvent(new Event("pagehide"));
      dispatchEvent(new Event("pageshow"));`);
    await read;
    await page.locator("body[data-again]").waitFor();
    assert.equal(await page.evaluate("document.activeElement?.textContent"), focused);
  };
  await comeBack();
  // So it does where the list has changed, and who has scrolled elsewhere stays there.
  await cast(place.service, session, "token/0.0.9014");
  await page.evaluate("document.body.style.height = '4000px', scrollTo(0, 3000)");
  await comeBack();
  assert.ok(Number(await page.evaluate("scrollY")) >= 3_000);
  await page.getByRole("link", { name: "Token 9014" }).waitFor();
  // Of several stars for one item, it stays with the one it was at.
  const castMint = () => cast(place.service, session, "event/mint");
  await castMint();
  await castMint();
  await comeBack();
  await page.locator('[href="/events/mint"]').nth(1).focus();
  const row = `document.activeElement.closest("tr")?.querySelector("[href^='/stars/']").href`;
  const before = await page.evaluate(row);
  await castMint();
  await comeBack("Forever");
  assert.equal(await page.evaluate(row), before);
  // Of a link that the list has no longer, to the list's first one.
  await page.evaluate("document.activeElement.href = '/gone'");
  await comeBack("← Day before");
  await tab.close();
});
