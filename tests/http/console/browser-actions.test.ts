// timeout: 300 s
/**
 * Goal: everything that operators can do is done in a real browser, by a click or by keys alone,
 * on a phone, with and without JavaScript; what they type shows as text wherever it comes back.
 * Method: a headless Chromium, where there is one; the forms it sends are held against the
 * table of actions at the end, and so is the operator log.
 */
import * as assert from "node:assert/strict";
import { logName } from "../../../src/http/console/page.ts";
import { barriersOn, sidewaysOf } from "../../support/browser.ts";
import { cast, newWallet, signIn } from "../../support/service.ts";
import {
  browserSuite,
  EVIL,
  formOf,
  type Look,
  openSignedIn,
  openTab,
  type Tab,
} from "./browser-place.ts";
import { TOKEN } from "./browser-session.ts";
import { fillConsole } from "./fill-console.ts";
import { ACTIONS } from "./table-of-pages.ts";

const PHONE_DARK: Look = { width: 360, colorScheme: "dark" };
const DESKTOP_LIGHT: Look = { width: 1280, colorScheme: "light" };

/** Paths below `/ops` to which a browser sent a form. */
const performed = new Set<string>();

const test = browserSuite("/ops actions in a browser", async ({ service }) => {
  const wallet = await newWallet(service, { a: 3, b: 1 });
  const voter = await signIn(service, wallet);
  for (const target of ["event/meetup", "event/mint"]) await cast(service, voter, target);
  await fillConsole(service);
  return {};
});

type Place = Parameters<Parameters<typeof test>[1]>[0];

/** A tab of somebody signed in, whose forms are counted as performed. @param path where the sign-in leads */
async function open(place: Place, path: string): Promise<Tab> {
  const tab = await openTab(place, PHONE_DARK);
  tab.page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && request.isNavigationRequest())
      performed.add(pathname.replace("/ops", ""));
  });
  await tab.visit(`/sign-in?next=/ops${path}`);
  await fill(tab, "/sign-in", { operator: `Ada ${EVIL}`, operatorToken: TOKEN });
  await formOf(tab.page, "/sign-in").getByRole("button").click();
  await tab.page.getByRole("button", { name: "Sign out" }).waitFor();
  return tab;
}

async function fill({ page }: Tab, action: string, fields: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) {
    await formOf(page, action).locator(`[name="${name}"]`).first().fill(value);
  }
}

/** Sends a form by a click on its only button, and waits for how it ended. */
async function submit({ page }: Tab, action: string, notice: RegExp): Promise<void> {
  await formOf(page, action).first().getByRole("button").click();
  await page.getByRole("status").filter({ hasText: notice }).first().waitFor();
}

/** Presses something while nothing can be written to a table, so that no reply comes in between. */
async function whileSlow(
  { service: { sql } }: Place,
  table: string,
  press: () => Promise<void>,
): Promise<void> {
  await sql.begin(async (held) => {
    await held`lock table ${held(table)} in exclusive mode`;
    await press();
    // What was pressed is on its way.
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
}

/** The page after an action: a picture, and nothing wrong with it. */
async function lookAt(tab: Tab, name: string): Promise<void> {
  // What it says is there before its style is.
  await tab.page.waitForLoadState();
  await tab.picture(`action-${name}`);
  assert.equal(await sidewaysOf(tab.page), 0, `${name} is wider than the screen`);
  assert.deepEqual(await barriersOn(tab.page), [], name);
  assert.deepEqual(tab.complaints, [], name);
}

test("a key is issued and shown once, and revoked after a confirmation", async (place) => {
  const tab = await open(place, "/keys");
  const { page } = tab;
  await fill(tab, "/keys/issue", { name: EVIL });
  await formOf(page, "/keys/issue").getByRole("button").click();
  await page.getByRole("heading", { name: `Key for ${EVIL}` }).waitFor();
  const secret = (await page.locator("main code").first().innerText()).trim();
  assert.match(secret, /^\S{20,}$/);
  await lookAt(tab, "key-issued");
  await page.locator('main a[href="/ops/keys"]').last().click();
  await page.waitForURL(/\/ops\/keys$/);
  const text = await page.innerText("main");
  assert.ok(text.includes(EVIL) && !text.includes(secret), "its name as text, itself no more");
  await page.getByRole("row").filter({ hasText: EVIL }).locator("summary").click();
  await lookAt(tab, "key-question");
  await submit(tab, "/keys/revoke", /revoked/);
  await lookAt(tab, "key-revoked");
  const [key] = await place.service.sql`select revoked_at from api_key where name = ${EVIL}`;
  assert.ok(key?.revoked_at > 0);
  await tab.close();
});

test("records are approved and rejected, one by its own button and several that are chosen", async (place) => {
  const { sql } = place.service;
  const approved = async (): Promise<string[]> =>
    (
      await sql`select id from event where id like 'waiting-%' and approved_at is not null order by id`
    ).map(({ id }) => id);
  await sql`update event set title = ${EVIL}, host = ${EVIL}, location = ${EVIL},
    url = 'javascript:alert(3)' where id = 'waiting-1'`;
  const tab = await open(place, "/catalogue");
  const { page } = tab;
  const of = (action: string, id: string) =>
    formOf(page, action).locator(`button[name=only][value="${id}"]`);
  assert.ok((await page.innerText("main")).includes(EVIL));
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0);
  await of("/catalogue/approve", "waiting-1").click();
  await page.getByRole("status").filter({ hasText: "waiting-1" }).waitFor();
  assert.deepEqual(await approved(), ["waiting-1"]);
  await lookAt(tab, "approved");
  const form = formOf(page, "/catalogue/approve");
  for (const id of ["waiting-2", "waiting-3"]) await form.locator(`[name=id][value=${id}]`).check();
  await form.locator("[name=id][value=waiting-3]").press("Enter");
  await page.getByRole("status").filter({ hasText: "Press the button" }).waitFor();
  assert.deepEqual(await approved(), ["waiting-1"]);
  // The browser itself reports the 400.
  assert.ok(tab.complaints.splice(0).every((text) => text.includes("400")));
  await tab.picture("action-chosen");
  await form.getByRole("button", { name: "Approve the chosen ones" }).click();
  await page.getByRole("status").filter({ hasText: "2 records" }).waitFor();
  assert.deepEqual(await approved(), ["waiting-1", "waiting-2", "waiting-3"]);
  await tab.visit("/catalogue?type=event&view=shown");
  await of("/catalogue/reject", "waiting-1").click();
  await page.getByRole("status").filter({ hasText: "waiting-1" }).waitFor();
  assert.deepEqual(await approved(), ["waiting-2", "waiting-3"]);
  await lookAt(tab, "rejected");
  await tab.close();
});

test("a season is added; a pass is granted for it and taken back", async (place) => {
  const tab = await open(place, "/seasons");
  const { page } = tab;
  await fill(tab, "/seasons/add", {
    name: EVIL,
    starts: "2031-01-01T00:00",
    ends: "2031-04-01T12:00",
  });
  await submit(tab, "/seasons/add", /was added/);
  assert.ok((await page.innerText("main table")).includes(EVIL));
  await lookAt(tab, "season-added");
  await tab.visit("/premium");
  await formOf(page, "/premium/grant").locator("select[name=season]").selectOption({ label: EVIL });
  await fill(tab, "/premium/grant", { wallet: "0.0.777" });
  await submit(tab, "/premium/grant", /0\.0\.777 has a pass/);
  assert.match(await page.innerText("main table"), /0\.0\.777/);
  await lookAt(tab, "pass-granted");
  await page.locator('summary[aria-label*="0.0.777"]').click();
  await submit(tab, "/premium/revoke", /0\.0\.777 has no pass/);
  await lookAt(tab, "pass-revoked");
  await tab.close();
});

test("an operator is added, its token shown once, and revoked after a confirmation", async (place) => {
  const tab = await open(place, "/operators");
  const { page } = tab;
  await fill(tab, "/operators/add", { name: "Grace" });
  await formOf(page, "/operators/add").locator("select[name=role]").selectOption("viewer");
  // Sent twice, it would say that there is a Grace already, and her token would be lost.
  await whileSlow(place, "operator", () =>
    formOf(page, "/operators/add").getByRole("button").dblclick({ delay: 50 }),
  );
  await page.getByRole("heading", { name: "Token of Grace" }).waitFor();
  const token = (await page.locator("main code.secret").innerText()).trim();
  assert.ok(token.length >= 20);
  await lookAt(tab, "operator-added");
  await page.getByRole("link", { name: "back to the operators" }).click();
  await page.waitForURL(/\/ops\/operators$/);
  const text = await page.innerText("main table");
  assert.ok(/Grace\s+viewer/.test(text) && !text.includes(token), text);
  await page.locator('summary[aria-label*="Grace"]').click();
  await submit(tab, "/operators/revoke", /Grace is revoked/);
  await lookAt(tab, "operator-revoked");
  await tab.close();
});

test("points are booked; a form that makes no sense comes back as it was, at the field that is wrong", async (place) => {
  const tab = await open(place, "/xp");
  const { page } = tab;
  const fields = { wallet: EVIL, points: "25", reason: EVIL, id: EVIL };
  await fill(tab, "/xp/credit", fields);
  await submit(tab, "/xp/credit", /is no account id/);
  const form = formOf(page, "/xp/credit");
  assert.equal(await form.locator("[name=reason]").inputValue(), EVIL);
  assert.equal(await form.locator("[aria-invalid=true]").getAttribute("name"), "wallet");
  // The browser itself reports the 400.
  assert.deepEqual(
    tab.complaints.splice(0).filter((text) => !text.includes("400")),
    [],
  );
  await lookAt(tab, "credit-refused");
  await fill(tab, "/xp/credit", { wallet: "0.0.777" });
  await submit(tab, "/xp/credit", /25 points to 0\.0\.777/);
  assert.ok((await page.innerText("main table")).includes(EVIL));
  await lookAt(tab, "credit-booked");
  await tab.close();
});

test("holdings are checked dry, and then in earnest", async (place) => {
  const tab = await open(place, "/holdings");
  const { page } = tab;
  await submit(tab, "/holdings/dry-run", /dry run has started/);
  await formOf(page, "/holdings/run").waitFor();
  await lookAt(tab, "dry-run");
  await submit(tab, "/holdings/run", /check has (run|started)/);
  await page.waitForURL(/\/holdings\/runs\//);
  await lookAt(tab, "check");
  const ended = await place.service.sql`select collection, serial from claim_release`;
  assert.deepEqual([...ended], [{ collection: "A", serial: 1 }]);
  await tab.close();
});

test("a message is published again, and a finding set aside", async (place) => {
  const { sql } = place.service;
  const tab = await open(place, "/keys");
  await sql`update outbox set last_error = ${EVIL}, next_try_at = now_ms() + 600000`;
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5005', 43, ${EVIL})`;
  await tab.visit("/publishing");
  assert.ok((await tab.page.innerText("main")).includes(EVIL));
  await submit(tab, "/publishing/redrive", /its next try is now/);
  await lookAt(tab, "redriven");
  const [due] = await sql`select count(*) as stars from outbox where next_try_at = 0`;
  assert.equal(due?.stars, 1);
  await submit(tab, "/publishing/resolve", /set aside/);
  await lookAt(tab, "finding-resolved");
  const [left] = await sql`
    select count(*) as findings from publishing_finding where resolved_at is null`;
  assert.equal(left?.findings, 1);
  await tab.close();
});

test("by keys alone: sign in, issue a key, revoke it, sign out", async (place) => {
  const tab = await openTab(place, DESKTOP_LIGHT);
  const { page } = tab;
  const { keyboard } = page;
  await tab.visit("/keys");
  tab.complaints.length = 0; // The browser itself reports the 401.
  const tabTo = async (css: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      await keyboard.press("Tab");
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(css)})`)) return;
    }
    assert.fail(`no key leads to ${css}`);
  };
  await tabTo("[name=operator]");
  await keyboard.type("Grace");
  await tabTo("[name=operatorToken]");
  await keyboard.type(TOKEN);
  await keyboard.press("Enter");
  await formOf(page, "/keys/issue").waitFor();
  await page.waitForLoadState(); // Its scripts have run then.
  await keyboard.press("/");
  assert.equal(await page.evaluate(`document.activeElement.matches(".top .search input")`), true);
  await tabTo("[name=name]");
  await keyboard.type("By keys alone");
  await tabTo("form button");
  await whileSlow(place, "api_key", async () => {
    const sent = page.waitForRequest("**/keys/issue");
    for (let repeat = 0; repeat < 3; repeat += 1) await keyboard.down("Enter");
    await keyboard.up("Enter");
    await sent;
    await keyboard.press("Enter");
  });
  await page.getByRole("heading", { name: "Key for By keys alone" }).waitFor();
  const issued = await place.service.sql`select from api_key where name = 'By keys alone'`;
  assert.equal(issued.length, 1, "Enter held down, and pressed again at once, sends the form once");
  await tabTo('main a[href="/ops/keys"]:last-of-type');
  await keyboard.press("Enter");
  await page.waitForURL(/\/ops\/keys$/);
  await tabTo('summary[aria-label*="By keys alone"]');
  await keyboard.press("Enter");
  await tabTo('form[action="/ops/keys/revoke"] button');
  await keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "is revoked" }).waitFor();
  await lookAt(tab, "by-keys");
  await tabTo('form[action="/ops/sign-out"] button');
  await keyboard.press("Enter");
  await page.waitForURL(/sign-in/);
  await tab.close();
});

test("without JavaScript: points are booked", async (place) => {
  const tab = await openSignedIn(
    place,
    { ...DESKTOP_LIGHT, javaScriptEnabled: false },
    { path: "/xp" },
  );
  const fields = { wallet: "0.0.778", points: "3", reason: "No scripts", id: "no scripts" };
  await fill(tab, "/xp/credit", fields);
  await submit(tab, "/xp/credit", /points to 0\.0\.778/);
  await tab.picture("action-no-scripts");
  const [row] = await place.service.sql`select points from xp_credit where wallet = 778`;
  assert.equal(row?.points, 3);
  await tab.close();
});

test("signing out ends at the sign-in, and the way back is closed", async (place) => {
  const tab = await open(place, "");
  await tab.page.getByRole("button", { name: "Sign out" }).click();
  await tab.page.waitForURL(/sign-in/);
  await tab.picture("action-signed-out");
  assert.deepEqual(tab.complaints, []);
  assert.equal(await tab.visit("/keys"), 401);
  await tab.close();
});

test("every action of the table was done by a click above, and is in the operator log", async (place) => {
  const paths = ["/sign-in", "/sign-out", ...ACTIONS.map(({ path }) => path)];
  assert.deepEqual([...performed].sort(), paths.sort());
  const kept = await place.service.sql`
    select distinct action from operator_log where phase = 'done' and action not like 'session.%'`;
  const names = kept.map(({ action }) => action as string);
  assert.deepEqual(names.sort(), ACTIONS.map(logName).sort());
  const tab = await open(place, "/log");
  assert.ok((await tab.page.innerText("main")).includes(`Ada ${EVIL}`));
  await lookAt(tab, "log");
  await tab.close();
});
