import type { Resting } from "../../hosting/inspect-actor.ts";
import type { RefusalTrail } from "../../journal/refusal-trail.ts";
import type { LedgerNetwork } from "../../ledger/entity-id.ts";
import type { Sql } from "../../store/postgres.ts";
import type { HoldingsCheckByHand } from "../../upkeep/holdings-check/by-hand.ts";
import { decisionFeed } from "./decisions.ts";
import { liveNumbersPage } from "./live.ts";
import { logExportPage } from "./log-export.ts";
import { numbersReader } from "./numbers.ts";
import type { Page } from "./page.ts";
import { actorJsonPage, actorPage } from "./pages/actor.ts";
import { actorsPage } from "./pages/actors.ts";
import { alarmsPage } from "./pages/alarms.ts";
import { cataloguePage } from "./pages/catalogue.ts";
import { feedPage, liveDecisionsPage } from "./pages/feed.ts";
import { holdingsPage } from "./pages/holdings.ts";
import { holdingsNowPage } from "./pages/holdings-now.ts";
import { holdingsRunPage } from "./pages/holdings-run.ts";
import { keyRevokePage } from "./pages/key-revoke.ts";
import { keysPage } from "./pages/keys.ts";
import { logPage } from "./pages/log.ts";
import { operatorsPage } from "./pages/operators.ts";
import { overviewPage } from "./pages/overview.ts";
import { premiumPage } from "./pages/premium.ts";
import { publishingPage } from "./pages/publishing.ts";
import { queuesPage } from "./pages/queues.ts";
import { searchPage } from "./pages/search.ts";
import { seasonsPage } from "./pages/seasons.ts";
import { starPage } from "./pages/star.ts";
import { starsPage } from "./pages/stars.ts";
import { walletPage } from "./pages/wallet.ts";
import { xpPage } from "./pages/xp.ts";
import type { QueueBoard } from "./queue-board.ts";

/** What the pages need. */
export interface PagesDeps {
  /** The console's own small pool. */
  readonly sql: Sql;
  /** One whose statements may take their time. */
  readonly patientSql: Sql;
  readonly checks: HoldingsCheckByHand;
  /** Absent where no Redis is fit for BullMQ. */
  readonly board: QueueBoard | undefined;
  /** Wakes the publishers. */
  readonly wake: () => void;
  readonly resting: Resting;
  readonly refusals: RefusalTrail;
  readonly network: LedgerNetwork;
  /** Base of the explorer's pages (`EXPLORER_URL`); null where there is none. */
  readonly explorer: string | null;
  /** Epoch milliseconds by the one clock. */
  readonly now: () => number;
  readonly isDraining: () => boolean;
}

/** The table of pages: routes and navigation are made from it, in this order. */
export function consolePages(deps: PagesDeps): readonly Page[] {
  const readNumbers = numbersReader(deps.sql);
  const feed = decisionFeed({ sql: deps.sql, trail: deps.refusals });
  return [
    overviewPage({ ...deps, readNumbers }),
    liveNumbersPage({ ...deps, readNumbers }),
    feedPage({ ...deps, feed }),
    liveDecisionsPage({ ...deps, feed }),
    actorsPage(deps),
    actorPage(deps),
    actorJsonPage(deps),
    walletPage(deps),
    searchPage(deps),
    starsPage(deps),
    starPage(deps),
    publishingPage({ ...deps, readNumbers }),
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
    keyRevokePage(deps),
    operatorsPage(deps),
    logPage(deps),
    logExportPage(deps),
  ];
}
