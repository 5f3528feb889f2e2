import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { suite, type Test } from "uvu";
import { environment } from "../../../src/config.ts";
import { CHROMIUM, complaintsOf, launchChromium } from "../../support/browser.ts";
import { lendContext } from "../../support/browser-contexts.ts";

/** Far more than any page takes here; a step that takes longer has failed. */
const STEP_MS = 20_000;

const PICTURES = join(import.meta.dirname, "../../../docs/pictures");

/** How a tab looks at the pages. */
export interface Look {
  readonly width: number;
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce" | "no-preference";
  readonly javaScriptEnabled?: boolean;
  /** Session token: signed in where there is one. */
  readonly session?: string;
}

/** A tab, and every complaint of it. */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
  /** Goes to a page, waits until its script has read it anew, and gives its status. */
  visit(path: string): Promise<number>;
  /** How much the page has moved by itself since it was visited. */
  shift(): Promise<number>;
  /** What moved then: from which place, to which, and its markup. */
  moves(): Promise<string>;
  close(): Promise<void>;
}

/** Adds up what moves without being asked to, and says when a page has been read anew. */
const WATCH = `
  window.moved = 0;
  window.moves = [];
  const placeOf = ({ x, y, width, height }) => [x, y, width, height].join(" ");
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      window.moved += value;
      for (const { node, previousRect, currentRect } of sources) {
        const markup = node?.outerHTML ?? node?.textContent;
        window.moves.push([placeOf(previousRect), placeOf(currentRect), markup?.slice(0, 200)].join(" → "));
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
  document.addEventListener("reread", () => document.documentElement.setAttribute("data-reread", ""));`;

/** Opens a tab on a service. */
export async function openTab(
  { browser, url }: { readonly browser: Browser; readonly url: string },
  { width, session, ...look }: Look,
): Promise<Tab> {
  const lent = await lendContext(browser, url, { viewport: { width, height: 800 }, ...look });
  const { context } = lent;
  if (session !== undefined) {
    const cookie = { name: "starboard", value: session, url, httpOnly: true };
    await context.addCookies([{ ...cookie, sameSite: "Strict" }]);
  }
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const complaints = await complaintsOf(page);
  await page.addInitScript(WATCH);
  return {
    page,
    context,
    complaints,
    async visit(path) {
      const status = (await page.goto(url + path))?.status() ?? 0;
      // A page of an error has nothing that changes.
      if (status === 200 && look.javaScriptEnabled !== false)
        await page.locator("html[data-reread]").waitFor();
      return status;
    },
    shift: async () => (await page.evaluate("window.moved")) as number,
    moves: async () => (await page.evaluate('window.moves.join("\\n")')) as string,
    close: lent.giveBack,
  };
}

/** Keeps a picture of a page for the documentation where `PICTURES=1` asks for it. */
export async function keepPicture(
  { page }: Tab,
  name: string,
  { fullPage = false } = {},
): Promise<void> {
  if (!environment().PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
}

/** A place that tests share: opened before the first, closed after the last. */
export interface Opened {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** A file's suite before a real browser; skipped, and said so, where there is none. */
export function browserSuite<T extends object>(
  name: string,
  open: (browser: Browser) => Promise<T & { close(): Promise<void> }>,
): (title: string, run: (place: T & { readonly browser: Browser }) => Promise<void>) => void {
  interface Context {
    place: T & Opened;
    failure?: unknown;
  }
  const test: Test<Context> = suite<Context>(name);
  setTimeout(() => test.run());
  const chromium = CHROMIUM;
  if (chromium === undefined) {
    console.log("SKIPPED: no Chromium on this machine, so no page was looked at");
    return (title) => test.skip(title);
  }
  test.before(async (context) => {
    const browser = await launchChromium(chromium);
    try {
      context.place = { ...(await open(browser)), browser };
    } catch (error) {
      context.failure = error;
      await browser.close();
    }
  });
  test.before.each(({ failure }) => {
    if (failure !== undefined) throw failure;
  });
  test.after(async ({ place }) => {
    await place?.browser.close();
    await place?.close();
  });
  return (title, run) => test(title, ({ place }) => run(place));
}
