/**
 * Goal: the pages work in a browser under their own policy, by keyboard, on a phone, in light and
 * dark, and keep no barrier. Method: a headless Chromium, where there is one, visits every page
 * through a proxy address that leads nowhere; its pictures are kept in `test-output/console`.
 */
import * as assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { suite } from "uvu";
import { until } from "../../support/processes.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, TOKEN } from "./browser-session.ts";
import { fillConsole } from "./fill-console.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => existsSync(path),
);
const OUTPUT = join(import.meta.dirname, "../../../test-output/console");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Narrow phones and a desktop; each picture is one of four. */
const LOOKS = [
  { width: 360, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
] as const;

interface Context {
  service: Service;
  browser: Browser;
  voter: string;
  /** Name of the picture and address below `/ops`. */
  pages: [string, string][];
}

const test = suite<Context>("/ops in a browser");
if (CHROMIUM === undefined) {
  console.log("SKIPPED: no Chromium on this machine, so no page of the console was looked at");
}
const perhaps = CHROMIUM === undefined ? test.skip : test;

test.before(async (context) => {
  if (CHROMIUM === undefined) return;
  const service = await startService(CONSOLE);
  const wallet = await newWallet(service, { a: 3, b: 1 });
  const voter = await signIn(service, wallet);
  const { body } = await cast(service, voter, "event/meetup");
  await cast(service, voter, "event/mint");
  const { id, day } = body.star;
  const actor = `wallet-day/${wallet.id}/${day}`;
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
      ...["--proxy-server=127.0.0.1:1", "--proxy-bypass-list=127.0.0.1"],
    ],
  });
  const { keyId } = await fillConsole(service);
  const operator = await signInOperator(service);
  await operator.post("/ops/holdings/dry-run", {});
  await operator.post("/ops/holdings/run", { confirmed: "yes" });
  const [run] = await service.sql`select id from holdings_check_run limit 1`;
  mkdirSync(OUTPUT, { recursive: true });
  Object.assign(context, { service, browser, voter });
  context.pages = [
    ["overview", ""],
    ["live", "/feed"],
    ["actors", "/actors"],
    ["wallet-day", `/actors/${actor}?at=1&replay=1`],
    ["event-day", `/actors/event-day/meetup/${day}`],
    ["forever-mint", "/actors/forever-mint/mint?at=1"],
    ["stars", "/stars"],
    ["star", `/stars/${id}`],
    ["publishing", "/publishing"],
    ["queues", "/queues"],
    ["holdings", "/holdings"],
    ["holdings-now", "/holdings/now"],
    ["holdings-run", `/holdings/runs/${run?.id}`],
    ["catalogue", "/catalogue"],
    ["seasons", "/seasons"],
    ["premium", "/premium"],
    ["xp", "/xp"],
    ["keys", "/keys"],
    ["key-revoke", `/keys/revoke/${keyId}`],
    ["operator-log", "/log"],
  ];
});
test.after(async ({ browser, service }) => {
  await browser?.close();
  await service?.close();
});

/** A tab that writes down every complaint, and is signed in by the form. */
async function open(
  { browser, service }: Context,
  look: (typeof LOOKS)[number],
): Promise<{ page: Page; complaints: string[]; close: () => Promise<void> }> {
  const { width, colorScheme } = look;
  const tab: BrowserContext = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    reducedMotion: "reduce",
    extraHTTPHeaders: { "X-Forwarded-For": `10.1.0.${width % 250}` },
  });
  const page = await tab.newPage();
  const complaints: string[] = [];
  await page.goto(`${service.url}/ops`);
  await page.screenshot({ path: join(OUTPUT, `sign-in-${colorScheme}-${width}.png`) });
  await page.fill("#operator", "Ada");
  await page.fill("#operator-token", TOKEN);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.pages");
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.addInitScript(
    `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("policy: " + event.violatedDirective + " " + event.blockedURI))`,
  );
  return { page, complaints, close: () => tab.close() };
}

for (const look of LOOKS) {
  perhaps(
    `every page, ${look.width} px wide in ${look.colorScheme}: no complaint, no barrier, no sideways scrolling`,
    async (context) => {
      const { page, complaints, close } = await open(context, look);
      for (const [name, path] of context.pages) {
        await page.goto(`${context.service.url}/ops${path}`);
        if (name === "overview") await page.waitForSelector("[data-chart] canvas");
        const picture = join(OUTPUT, `${name}-${look.colorScheme}-${look.width}.png`);
        await page.screenshot({ path: picture, fullPage: true });
        const sideways = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert.equal(sideways, 0, `${name} is wider than the screen`);
        // Barriers are the same at either width but for colours, which both schemes have of their own.
        await page.evaluate(AXE);
        const found = (await page.evaluate("axe.run()")) as {
          violations: { id: string; impact: string; nodes: { target: string[] }[] }[];
        };
        const barriers = found.violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${name}: ${id} at ${nodes[0]?.target}`);
        assert.deepEqual(barriers, []);
      }
      assert.deepEqual(complaints, []);
      await close();
    },
  );
}

perhaps(
  "the first key leads past the navigation, and where one is can be seen",
  async (context) => {
    const { page, close } = await open(context, LOOKS[1]);
    await page.goto(`${context.service.url}/ops/actors`);
    await page.keyboard.press("Tab");
    const skip = await page.evaluate(`({
    text: document.activeElement.textContent,
    isSeen: document.activeElement.getBoundingClientRect().top >= 0,
    outline: getComputedStyle(document.activeElement).outlineStyle,
  })`);
    assert.deepEqual(skip, { text: "Skip to content", isSeen: true, outline: "solid" });
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "main");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.id"), "q");
    await page.keyboard.type("meetup");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=meetup/);
    assert.match(await page.innerText("table"), /event-day\/meetup/);
    await close();
  },
);

perhaps("the live page shows a star that is cast while it is open, once", async (context) => {
  const { page, complaints, close } = await open(context, LOOKS[0]);
  await page.goto(`${context.service.url}/ops/feed`);
  await page.locator("[data-live-state]", { hasText: /^Live$/ }).waitFor();
  const { body } = await cast(context.service, context.voter, "token/0.0.9001");
  await page.waitForSelector(`[data-id="${body.star.id}"]`);
  await page.waitForTimeout(2_500);
  assert.equal(await page.locator(`[data-id="${body.star.id}"]`).count(), 1);
  await page.click(`[data-id="${body.star.id}"] a[href^="/ops/stars/"]`);
  assert.match(await page.innerText("main .lead"), new RegExp(body.star.id));
  assert.deepEqual(complaints, []);
  await close();
});

perhaps("the overview's numbers move without a reload", async (context) => {
  const { page, close } = await open(context, LOOKS[1]);
  await page.goto(`${context.service.url}/ops`);
  await page.locator("[data-live-state]", { hasText: /^Live/ }).waitFor();
  assert.equal(await page.locator("[data-chart] canvas").count(), 6);
  await context.service.sql`update service_minute set count = count + 777 where name = 'pending'`;
  await until("a figure moved", async () => {
    await context.service.sql`
      insert into service_minute (minute, name, count) values ((now_ms() / 60000)::int, 'refused X', 4321)
      on conflict (minute, name) do update set count = 4321`;
    return /4,3\d\d/.test(await page.innerText('[data-figure="refusals"]'));
  });
  await close();
});

perhaps("without JavaScript everything is there but what is live", async (context) => {
  const { page, close } = await open(context, LOOKS[0]);
  const cookies = await page.context().cookies();
  const tab = await context.browser.newContext({ javaScriptEnabled: false });
  await tab.addCookies(cookies);
  const still = await tab.newPage();
  for (const [name, path] of context.pages) {
    const reply = await still.goto(`${context.service.url}/ops${path}`);
    assert.equal(reply?.status(), 200, name);
  }
  await still.click("text=Sign out");
  await still.waitForURL(/sign-in/);
  await tab.close();
  await close();
});

test.run();
