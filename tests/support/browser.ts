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
 *
 * @param given.optimizes scripts while they run, which pays where one page runs much: most are left
 *   before it does
 */
export function launchChromium(
  executablePath: string,
  { optimizes = false } = {},
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
      ...["--proxy-server=127.0.0.1:1", "--proxy-bypass-list=127.0.0.1;localhost"],
      // Few processes: starting one takes a browser longer than a page.
      ...["--in-process-gpu", "--renderer-process-limit=1"],
      ...(optimizes ? [] : ["--js-flags=--no-maglev,--no-turbofan"]),
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

/**
 * What axe-core finds: how grave, which rule, and the first place of it. Small targets it passes over
 * by itself.
 *
 * @param only one rule of all
 */
export async function violationsOn(page: Page, only?: string): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) {
    // A script that a browser has compiled for one document it takes again for the next ones.
    await page.addInitScript(AXE);
    await page.evaluate(AXE);
  }
  const rules =
    only === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: [only] };
  // The sheets are read where they stand: fetched once more they took a quarter of the time.
  const options = { resultTypes: ["violations"], preload: false, ...rules };
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as { id: string; impact: string; nodes: { target: string[] }[] }[];
  return found.map(({ id, impact, nodes }) => `${impact}: ${id} at ${nodes[0]?.target}`);
}

/** Serious barriers among them. */
export async function barriersOn(page: Page): Promise<readonly string[]> {
  return (await violationsOn(page)).filter((found) => /^(serious|critical):/.test(found));
}
