import { decisionFeed } from "./decisions.ts";
import { liveNumbersPage } from "./live.ts";
import { numbersReader } from "./numbers.ts";
import type { Page, PagesDeps } from "./page.ts";
import { actorJsonPage, actorPage } from "./pages/actor.ts";
import { actorsPage } from "./pages/actors.ts";
import { alarmsPage } from "./pages/alarms.ts";
import { cataloguePage } from "./pages/catalogue.ts";
import { keysPage, operatorsPage } from "./pages/credentials.ts";
import { feedPage, liveDecisionsPage } from "./pages/feed.ts";
import { holdingsPage } from "./pages/holdings.ts";
import { holdingsNowPage, holdingsRunPage } from "./pages/holdings-report.ts";
import { logExportPage, logPage } from "./pages/log.ts";
import { overviewPage } from "./pages/overview.ts";
import { publishingPage } from "./pages/publishing.ts";
import { searchPage } from "./pages/search.ts";
import { premiumPage, seasonsPage } from "./pages/seasons.ts";
import { starPage } from "./pages/star.ts";
import { starsPage } from "./pages/stars.ts";
import { walletPage } from "./pages/wallet.ts";
import { xpPage } from "./pages/xp.ts";
import { queuesPage } from "./queue-board-routes.ts";

/** The table of pages: routes and navigation are made from it, in this order. */
export function consolePages(given: Omit<PagesDeps, "readNumbers" | "feed">): readonly Page[] {
  const { sql, refusals } = given;
  const feed = decisionFeed(sql, refusals);
  const deps: PagesDeps = { ...given, readNumbers: numbersReader(sql), feed };
  return [
    overviewPage(deps),
    liveNumbersPage(deps),
    feedPage(deps),
    liveDecisionsPage(deps),
    actorsPage(deps),
    actorPage(deps),
    actorJsonPage(deps),
    walletPage(deps),
    searchPage(deps),
    starsPage(deps),
    starPage(deps),
    publishingPage(deps),
    alarmsPage(),
    queuesPage(deps),
    holdingsPage(deps),
    holdingsNowPage(deps),
    holdingsRunPage(deps),
    cataloguePage(deps),
    seasonsPage(deps),
    premiumPage(deps),
    xpPage(deps),
    keysPage(deps),
    operatorsPage(deps),
    logPage(deps),
    logExportPage(deps),
  ];
}
