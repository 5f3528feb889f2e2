import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** A context that one tab has at a time. */
export interface LentContext {
  readonly context: BrowserContext;
  /** Closes its pages and gives it back, with nothing in it of what was done there. */
  giveBack(): Promise<void>;
}

/** Of each browser, by their options. */
const free = new WeakMap<Browser, Map<string, BrowserContext[]>>();

/**
 * Lends a context with these options. In a new one a browser starts a process, compiles every script
 * and loads every font anew, which takes it three times as long as a page: so contexts are kept. What
 * a page was given, as routes, scripts and headers, goes with the page.
 *
 * @param url of a service: a page of it keeps the process up between two tabs
 */
export async function lendContext(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<LentContext> {
  const kept = free.get(browser) ?? new Map<string, BrowserContext[]>();
  free.set(browser, kept);
  const key = JSON.stringify([url, options]);
  const same = kept.get(key) ?? [];
  kept.set(key, same);
  const context = same.pop() ?? (await openContext(browser, url, options));
  return {
    context,
    async giveBack() {
      const [keeper, ...pages] = context.pages();
      await Promise.all(pages.map((page) => page.close()));
      await context.unrouteAll();
      await context.setOffline(false);
      await context.clearPermissions();
      await context.clearCookies();
      if (keeper !== undefined) await clearStorage(keeper);
      same.push(context);
    },
  };
}

async function openContext(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  const keeper = await context.newPage();
  await keeper.goto(new URL("/healthz", url).href);
  return context;
}

async function clearStorage(keeper: Page): Promise<void> {
  await keeper.evaluate(`localStorage.clear();
    indexedDB.databases().then((all) => all.forEach(({ name }) => indexedDB.deleteDatabase(name)))`);
}
