import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";

/** The system's Chromium, the light one without a window first; undefined where there is none. */
export const CHROMIUM = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Starts a headless browser that reaches this machine alone: a proxy that leads nowhere refuses
 * whatever a page would fetch from elsewhere.
 */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
      ...["--proxy-server=127.0.0.1:1", "--proxy-bypass-list=127.0.0.1;localhost"],
      // Few processes: starting one takes a browser longer than a page.
      ...["--in-process-gpu", "--renderer-process-limit=1"],
    ],
  });
}

/** Every complaint of a page from now on: errors, warnings, broken policy, dialogs that a script opened. */
export async function complaintsOf(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    // Replies that are no pages of ours bring no icon: the browser looks for one by itself.
    if (message.location().url.endsWith("/favicon.ico")) return;
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(
    `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("policy: " + event.violatedDirective + " " + event.blockedURI))`,
  );
  return complaints;
}

/** What the page is wider than its window, in pixels. */
export async function sidewaysOf(page: Page): Promise<number> {
  return (await page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  )) as number;
}

/** Rules whose answer hangs on where things stand and on their colours; the others read the document. */
const LOOK_RULES = [
  "color-contrast",
  "link-in-text-block",
  "scrollable-region-focusable",
  "target-size",
];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What the rules that read the document found in each, by all that they can see of it. */
const readBefore = new Map<string, readonly Violation[]>();

/**
 * What axe-core finds: how grave, which rule, and the first place of it. Small targets it passes over
 * by itself. Of a document that was read before, as at another width or in other colours, only the
 * rules that hang on those are asked again.
 */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  const document = (await page.evaluate(DOCUMENT)) as string;
  const known = readBefore.get(document);
  await page.evaluate(AXE);
  const rules =
    known === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: LOOK_RULES };
  // The sheets are read where they stand: fetched once more they took a quarter of the time.
  const options = { resultTypes: ["violations"], preload: false, ...rules };
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  const ofDocument = known ?? found.filter(({ id }) => !LOOK_RULES.includes(id));
  readBefore.set(document, ofDocument);
  return [...found.filter(({ id }) => LOOK_RULES.includes(id)), ...ofDocument].map(
    ({ id, impact, nodes }) => `${impact}: ${id} at ${nodes[0]?.target}`,
  );
}

/**
 * A digest of a document: its markup, and which of its elements can be seen, have a size and stand
 * outside the screen. No rule reads what scripts keep in it, or which figures its text has.
 */
const DOCUMENT = `(async () => {
  const markup = document.documentElement.outerHTML
    .replace(/ data-[-\\w]+="[^"]*"/g, "")
    .replace(/>[^<]+/g, (text) => text.replace(/\\d+/g, "0"));
  const seen = [...document.querySelectorAll("*")].map((one) => {
    const { right, bottom, width, height } = one.getBoundingClientRect();
    const isSeen = one.checkVisibility({ visibilityProperty: true });
    return [isSeen, width * height > 0, right > 0, bottom > 0].map(Number).join("");
  });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(markup + seen));
  return [...new Uint8Array(digest)].join();
})()`;

/** Serious barriers among them. */
export async function barriersOn(page: Page): Promise<readonly string[]> {
  return (await violationsOn(page)).filter((found) => /^(serious|critical):/.test(found));
}
