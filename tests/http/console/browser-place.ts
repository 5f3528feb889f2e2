import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { suite, type Test } from "uvu";
import { environment } from "../../../src/config.ts";
import { CHROMIUM, complaintsOf, launchChromium } from "../../support/browser.ts";
import { lendContext } from "../../support/browser-contexts.ts";
import { type Service, startService } from "../../support/service.ts";
import { CONSOLE, TOKEN } from "./browser-session.ts";

const OUTPUT = join(import.meta.dirname, "../../../test-output/console");
/** Far more than any page takes here; a step that takes longer has failed. */
const STEP_MS = 15_000;
/** What a failed setup left open holds the process no longer than this. */
const LAST_WORDS_MS = 2_000;

/** Closes what was opened, the last first. */
export type Closers = (() => Promise<unknown>)[];

/** A console with a browser before it, and whatever else a file's own setup brings. */
export type Place<T> = T & { readonly service: Service; readonly browser: Browser };

/** Marks that would become elements, end an attribute or run, wherever text is not kept as text. */
export const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;

/**
 * A file's suite before a real browser; skipped, and said so, where there is none. A setup that
 * throws fails every test at once with its reason, and what was started until then is stopped.
 *
 * @param fill what the file needs beside a console and a browser; its closers run first at the end
 */
export function browserSuite<T>(
  name: string,
  fill: (place: Place<object>, closers: Closers) => Promise<T>,
): (title: string, run: (place: Place<T>) => Promise<void>) => void {
  interface Context {
    place: Place<T>;
    closers: Closers;
    failure?: unknown;
  }
  const test: Test<Context> = suite<Context>(name);
  // Once the file has named all its tests.
  setTimeout(() => test.run());
  const chromium = CHROMIUM;
  if (chromium === undefined) {
    console.log("SKIPPED: no Chromium on this machine, so nothing of the console was looked at");
    return (title, _run) => test.skip(title);
  }
  test.before(async (context) => {
    context.closers = [];
    try {
      const given = await openPlace(context.closers, chromium);
      context.place = { ...(await fill(given, context.closers)), ...given };
    } catch (error) {
      context.failure = error;
    }
  });
  test.before.each(({ failure }) => {
    if (failure !== undefined) throw failure;
  });
  test.after(async ({ closers, failure }) => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
    if (failure !== undefined) setTimeout(() => process.exit(1), LAST_WORDS_MS).unref();
  });
  return (title, run) => test(title, ({ place }) => run(place));
}

async function openPlace(closers: Closers, executablePath: string): Promise<Place<object>> {
  mkdirSync(OUTPUT, { recursive: true });
  const service = await startService(CONSOLE);
  closers.push(() => service.close());
  const browser = await launchChromium(executablePath);
  closers.push(() => browser.close());
  return { service, browser };
}

/** How a tab looks at the console. */
export interface Look {
  readonly width: number;
  readonly colorScheme: "light" | "dark";
  readonly javaScriptEnabled?: boolean;
}

export const PHONE: Look = { width: 360, colorScheme: "light" };
export const DESKTOP: Look = { width: 1280, colorScheme: "dark" };

/** A tab, and every complaint of it: errors, warnings, broken policy, dialogs that a script opened. */
export interface Tab {
  readonly page: Page;
  readonly complaints: string[];
  /** Goes to a page of the console. @param path below `/ops` */
  visit(path: string): Promise<number>;
  /** Keeps a picture of the whole page where `PICTURES=1` asks for them: drawing takes long. */
  picture(name: string): Promise<void>;
  close(): Promise<void>;
}

let addresses = 0;

/** Opens a tab; sign-ins are limited by address, so each comes from another one. */
export async function openTab(
  { browser, service }: Place<object>,
  look: Look,
  headers: Record<string, string> = {},
): Promise<Tab> {
  const { width, ...options } = look;
  addresses += 1;
  const { context, giveBack } = await lendContext(browser, service.url, {
    ...options,
    viewport: { width, height: 800 },
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  await page.setExtraHTTPHeaders({ "X-Forwarded-For": `10.1.0.${addresses}`, ...headers });
  const complaints = await complaintsOf(page);
  return {
    page,
    complaints,
    visit: async (path) => (await page.goto(`${service.url}/ops${path}`))?.status() ?? 0,
    async picture(name) {
      if (!environment().PICTURES) return;
      const path = join(OUTPUT, `${name}-${look.colorScheme}-${width}.png`);
      await page.screenshot({ path, fullPage: true });
    },
    close: giveBack,
  };
}

/** A tab that has been signed in by hand: typed and clicked. @param path where the sign-in leads */
export async function openSignedIn(
  place: Place<object>,
  look: Look,
  { operator = "Ada", path = "" } = {},
): Promise<Tab> {
  const tab = await openTab(place, look);
  await tab.visit(`/sign-in?next=/ops${path}`);
  const form = formOf(tab.page, "/sign-in");
  await form.locator("[name=operator]").fill(operator);
  await form.locator("[name=operatorToken]").fill(TOKEN);
  await tab.picture("sign-in");
  await form.getByRole("button").click();
  await tab.page.getByRole("button", { name: "Sign out" }).waitFor();
  return tab;
}

/** Forms are known by what they do, not by how they look. @param action below `/ops` */
export function formOf(page: Page, action: string) {
  return page.locator(`form[action="/ops${action}"]`);
}
