import { type Context, Hono } from "hono";
import type { Clock } from "../../clock.ts";
import { RetryableError, TerminalError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { refuseOtherMethods } from "../app.ts";
import { html } from "../console/markup.ts";
import type { RateLimit } from "../middleware/rate-limit.ts";
import { statusOf } from "../problem.ts";
import { pagePolicy, securePage, setReplyHeader } from "../reply-header.ts";
import { representText, send } from "../v1/representation.ts";
import { type Assets, serveAssets } from "./assets.ts";
import { eventPage, eventsPage } from "./events.ts";
import { homePage } from "./home.ts";
import { type Asked, documentOf, type Site } from "./layout.ts";
import { leaderboardPage } from "./leaderboard.ts";
import { marketPages } from "./markets.ts";
import type { Page, Reading, ShownPage, Visitor } from "./page.ts";
import { projectPage, projectsPage } from "./projects.ts";
import { starPage, starsPage } from "./stars.ts";

export interface PagesGiven {
  readonly reading: Reading;
  readonly assets: Assets;
  readonly network: string;
  /** Where else every page's scripts may ask: what the wallets that sign in by a relay need. */
  readonly relays: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Requests for pages, per client. */
  readonly limit: RateLimit;
  /** Who asks; null for somebody who is not signed in. */
  readonly findVisitor: (c: Context) => Promise<Visitor | null>;
}

/** First parts of paths that are no page's: programs ask there, and get JSON. */
const OTHER_REALMS = /^(?:assets|demo|docs|exports|healthz|metrics|ops|readyz|v1|voting)$/;
const HTML = "text/html; charset=utf-8";

/** The directory's pages (contract, section 8), to be mounted at "/" after everything else. */
export function pageRoutes(given: PagesGiven): Hono {
  const pages = directoryPages(given.reading);
  const site: Site = {
    name: given.reading.siteName,
    network: given.network,
    entries: pages.flatMap(({ nav, path }) => (nav === undefined ? [] : [{ nav, path }])),
    assets: given.assets.paths,
  };
  const app = new Hono();
  serveAssets(app, given.assets);
  for (const page of pages) app.get(page.path, (c) => answer(c, { ...given, site, page }));
  refuseOtherMethods(app);
  // After the 405s: an unknown path has no methods to refuse.
  app.get("*", (c, next) => (isForPeople(c) ? answer(c, { ...given, site }) : next()));
  return app;
}

/** Whether a browser asks for a page that does not exist, and so gets a page as answer. */
function isForPeople(c: Context): boolean {
  const [, realm = ""] = c.req.path.split("/", 2);
  return !OTHER_REALMS.test(realm) && /\btext\/html\b/i.test(c.req.header("accept") ?? "");
}

interface Answering extends PagesGiven {
  readonly site: Site;
  /** Absent where no page has this path. */
  readonly page?: Page;
}

/** Answers with a page, also when something fails: people read no JSON. */
async function answer(c: Context, given: Answering): Promise<Response> {
  const { site, page, clock, log, limit, relays } = given;
  const now = clock.now();
  let asked: Asked = { path: c.req.path, now };
  const fail = async (status: ReturnType<typeof statusOf>, sentence?: string) => {
    allowScripts(c, relays);
    setReplyHeader(c, "Cache-Control", "no-store");
    const body = errorBody(status, sentence);
    return c.html(await documentOf(site, body, { ...asked, isError: true }), status);
  };
  const verdict = await limit.take(limit.client(c));
  if (!verdict.accepted) {
    setReplyHeader(c, "Retry-After", String(limit.refused(verdict)));
    return fail(429);
  }
  try {
    const visitor = await given.findVisitor(c);
    asked = { ...asked, visitor };
    if (page === undefined) throw new TerminalError("NOT_FOUND", "No page has this address.");
    const shown = await page.show({
      query: new URL(c.req.url).searchParams,
      id: c.req.param("id") ?? "",
      now,
      visitor,
    });
    const text = String(await documentOf(site, shown, asked));
    allowScripts(c, [...(shown.connect ?? []), ...relays]);
    // It shows whose votes are left, and what the counters say now.
    return await send(c, representText(text), { cacheControl: "private, no-cache", type: HTML });
  } catch (error) {
    if (error instanceof TerminalError) return fail(statusOf(error), error.message);
    const facts = { err: error, requestId: c.get("requestId") };
    if (error instanceof RetryableError) {
      log.warn(facts, "page not available");
      setReplyHeader(c, "Retry-After", String(error.retryAfterSeconds));
    } else log.error(facts, "page failed");
    return fail(statusOf(error));
  }
}

/** @param connect where else the page's scripts may ask */
function allowScripts(c: Context, connect: readonly string[]): void {
  securePage(c, pagePolicy({ "connect-src": ["'self'", ...connect].join(" ") }));
}

const TITLES: Readonly<Record<number, string>> = {
  400: "That cannot be shown",
  404: "Nothing is here",
  429: "Too many requests",
  503: "Not available just now",
};

const SENTENCES: Readonly<Record<number, string>> = {
  429: "This address has asked for many pages within a minute. Wait a little and ask again.",
  500: "Something went wrong on our side.",
  503: "The directory cannot be read right now. Try again in a moment.",
};

/**
 * What went wrong, as a page.
 *
 * @param sentence what was written for the caller, where there is such a sentence
 */
function errorBody(status: number, sentence?: string): Pick<ShownPage, "title" | "body"> {
  const title = TITLES[status] ?? "That did not work";
  return {
    title,
    body: html`<h1>${title}</h1>
<p>${sentence ?? SENTENCES[status] ?? "Something went wrong on our side."}</p>
<p><a class="button" href="/">See what is on now</a></p>`,
  };
}

/** Every page; routes and navigation follow from this, in its order. */
export function directoryPages(reading: Reading): readonly Page[] {
  return [
    homePage(reading),
    eventsPage(reading),
    eventPage(reading),
    ...marketPages(reading),
    projectsPage(reading),
    projectPage(reading),
    leaderboardPage(reading),
    starsPage(reading),
    starPage(reading),
  ];
}
