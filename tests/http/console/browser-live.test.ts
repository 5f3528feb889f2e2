// timeout: 300 s
/**
 * Goal: the console is there without JavaScript, by keys and live, and opens only for
 * operators. Method: a headless Chromium, where there is one, before a console with something on
 * every page.
 */
import * as assert from "node:assert/strict";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { until } from "../../support/processes.ts";
import { cast, send } from "../../support/service.ts";
import { allOf, type Filled, fillForBrowser } from "./browser-addresses.ts";
import { browserSuite, DESKTOP, formOf, openSignedIn, openTab, PHONE } from "./browser-place.ts";
import { STREAMS } from "./table-of-pages.ts";

const test = browserSuite<Filled>("/ops in a browser", ({ service }) => fillForBrowser(service));

test("without JavaScript every page is there but for what is live", async (place) => {
  const tab = await openSignedIn(place, { ...PHONE, javaScriptEnabled: false }, { path: "/keys" });
  for (const [name, path] of allOf(place)) {
    assert.equal(await tab.visit(path), 200, name);
    if (!path.startsWith("/raw/"))
      assert.ok((await tab.page.locator("h1").innerText()).length > 2, name);
  }
  assert.deepEqual(tab.complaints, []);
  await tab.close();
});

test("guests, voters and key holders see the sign-in in place of every page", async (place) => {
  const { key } = await issueKey(place.service.sql, "a consumer");
  const bearers = [{}, { Authorization: `Bearer ${place.voter}` }, { "x-api-key": key }];
  for (const headers of [...bearers, { Authorization: `Bearer ${key}` }]) {
    // One reply is looked at in the browser; all others must equal it.
    const tab = await openTab(place, DESKTOP, headers);
    assert.equal(await tab.visit("/"), 401);
    assert.equal(await formOf(tab.page, "/sign-in").count(), 1);
    assert.equal(await tab.page.getByRole("navigation").count(), 0);
    await tab.close();
    for (const path of [...allOf(place).map(([, path]) => path), ...STREAMS]) {
      const who = `${path} with ${Object.keys(headers)}`;
      const reply = await send(place.service, `GET /ops${path}`, {
        headers: { accept: "text/html", ...headers },
      });
      assert.equal(reply.status, 401, who);
      assert.match(reply.text, /<form[^>]* action="\/ops\/sign-in"/, who);
      assert.doesNotMatch(reply.text, /<nav\b|role="navigation"/, who);
    }
  }
});

test("the first key leads past the navigation, and where one is can be seen", async (place) => {
  const tab = await openSignedIn(place, DESKTOP, { path: "/keys" });
  const { page } = tab;
  await tab.visit("/actors");
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(`({
    text: document.activeElement.textContent,
    isSeen: document.activeElement.getBoundingClientRect().top >= 0,
    outline: getComputedStyle(document.activeElement).outlineStyle,
  })`);
  assert.deepEqual(skip, { text: "Skip to content", isSeen: true, outline: "solid" });
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "main");
  await page.locator("main [name=q]").focus();
  await page.keyboard.type("meetup");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=meetup/);
  assert.match(await page.innerText("main"), /event-day\/meetup/);
  await tab.close();
});

test("the overview's numbers, and what is wrong, move without a reload", async (place) => {
  const { sql } = place.service;
  const tab = await openSignedIn(place, DESKTOP);
  const wrong = (name: string) => tab.page.locator("[data-verdict] strong", { hasText: name });
  await wrong("findings").waitFor();
  assert.equal(await wrong("alarms").count(), 0);
  const focused = () =>
    tab.page.evaluate("document.activeElement.hash ?? document.activeElement.id");
  await tab.page.locator('[data-verdict] a[href$="#findings"]').focus();
  // One trouble ends, and another one comes.
  await sql`update publishing_finding set resolved_at = now_ms() where resolved_at is null`;
  await sql`insert into publishing_alarm (worker, reason, subject, detail, raised_at, seen_at)
    values (gen_random_uuid(), 'overdue', '', 'a star waits', now_ms(), now_ms() + 29000)`;
  await tab.page.locator("[data-live-state]", { hasText: /^Live/ }).waitFor();
  assert.equal(await tab.page.locator("[data-chart] canvas").count(), 6);
  const marked = () => tab.page.evaluate("String(getSelection())");
  await tab.page.evaluate(
    `getSelection().selectAllChildren(document.querySelector("#processes td"))`,
  );
  const name = await marked();
  assert.match(String(name), /process \d+/);
  await sql`
    insert into service_minute (minute, name, count) values ((now_ms() / 60000)::int, 'refused X', 4321)`;
  await until("a figure moved", async () =>
    /4,3\d\d/.test(await tab.page.innerText('[data-figure="refusals"]')),
  );
  await tab.page.getByRole("row", { name: /^X 4,321$/ }).waitFor();
  assert.equal(await marked(), name, "what is marked to be copied stays marked");
  await wrong("alarms").waitFor();
  assert.equal(await wrong("findings").count(), 0);
  const badge = tab.page.getByTitle("Checks that fail");
  assert.equal(Number(await badge.innerText()), await wrong("").count());
  assert.equal(await focused(), "main", "what the focus was on is gone");
  await tab.page.locator('[data-verdict] a[href$="#alarms"]').focus();
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.7001', 999, 'a test')`;
  await wrong("findings").waitFor();
  assert.equal(await focused(), "#alarms", "it is still there");
  assert.deepEqual(tab.complaints, []);
  await tab.close();
});

test("a live page that was answered with an error is live again, until its session is over", async (place) => {
  for (const [path, stream] of [
    ["/", "**/ops/live/numbers"],
    ["/feed", "**/ops/live/decisions?*"],
  ] as const) {
    // No stream is open there.
    const tab = await openSignedIn(place, DESKTOP, { path: "/keys" });
    const { page } = tab;
    const state = page.locator("[data-live-state]");
    await page.route(stream, (route) => route.fulfill({ status: 503 }), { times: 1 });
    await tab.visit(path);
    await state.filter({ hasText: /^Not live/ }).waitFor();
    await state.filter({ hasText: /^Live/ }).waitFor();
    await page.route(stream, (route) => route.fulfill({ status: 401 }));
    await tab.visit(path);
    await state.filter({ hasText: "sign in again" }).waitFor();
    await tab.close();
  }
});

test("the live page shows a star that is cast while it is open, once, and of those asked for alone", async (place) => {
  const tab = await openSignedIn(place, PHONE, { path: "/feed" });
  const { page } = tab;
  const form = formOf(page, "/feed");
  await form.locator("[name=event]").fill("hack");
  await form.getByRole("button").click();
  await page.waitForURL(/event=hack/);
  await page.locator("[data-live-state]", { hasText: /^Live$/ }).waitFor();
  const other = await openSignedIn(place, DESKTOP, { path: "/feed" });
  await other.page.locator("[data-live-state]", { hasText: /^Live$/ }).waitFor();
  const { body: unasked } = await cast(place.service, place.voter, "token/0.0.9001");
  await place.service.sql`update event set ends_at = 4102444800000 where id = 'hack'`;
  const { body: asked } = await cast(place.service, place.voter, "event/hack");
  const entry = (of: typeof tab, id: string) => of.page.locator(`[data-id="${id}"]`);
  await entry(tab, asked.star.id).waitFor();
  await entry(other, unasked.star.id).waitFor();
  await tab.picture("live-filtered");
  // Two more events of the stream, which repeat the latest decisions.
  await page.waitForTimeout(2_500);
  assert.equal(await entry(tab, asked.star.id).count(), 1);
  assert.equal(await entry(tab, unasked.star.id).count(), 0);
  assert.equal(await entry(other, asked.star.id).count(), 1);
  await entry(tab, asked.star.id).locator('a[href^="/ops/stars/"]').click();
  assert.match(await page.innerText("main .lead"), new RegExp(asked.star.id));
  assert.deepEqual([...tab.complaints, ...other.complaints], []);
  await Promise.all([tab.close(), other.close()]);
});

test("how many decisions a second left out is said of that second alone", async (place) => {
  const tab = await openSignedIn(place, DESKTOP, { path: "/keys" });
  const { page } = tab;
  await page.clock.install();
  await page.addInitScript(`
    const Source = EventSource;
    window.EventSource = class extends Source {
      constructor(url) {
        super(url);
        window.source = this;
      }
    };`);
  await tab.visit("/feed");
  const state = page.locator("[data-live-state]");
  await state.filter({ hasText: /^Live$/ }).waitFor();
  // As many in one second as in the one before are said in one.
  for (const _ of [1, 2]) {
    await page.evaluate(`source.dispatchEvent(new MessageEvent("left-out", { data: "1200" }))`);
    await page.clock.runFor(1_000);
    assert.equal(await state.innerText(), "Live; 1,200 more in the last second");
  }
  await page.clock.runFor(1_000);
  assert.equal(await state.innerText(), "Live");
  await tab.close();
});

test("what is long is copied whole by its button, which then says so by its name too", async (place) => {
  const tab = await openSignedIn(place, DESKTOP, { path: `/stars/${place.star}` });
  const { page } = tab;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: `Copy ${place.star}` }).click();
  await page.getByRole("button", { name: `Copied ${place.star}` }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), place.star);
  await page.getByRole("button", { name: `Copy ${place.star}` }).waitFor();
  await tab.close();
});
