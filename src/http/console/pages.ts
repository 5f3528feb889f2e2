import type { Sql } from "../../store/postgres.ts";
import { liveNumbersPage } from "./live.ts";
import { numbersReader } from "./numbers.ts";
import type { Page } from "./page.ts";
import { logPage } from "./pages/log.ts";
import { overviewPage } from "./pages/overview.ts";

/** What the pages stand on. */
export interface PagesDeps {
  /** The console's own small pool. */
  readonly sql: Sql;
  /** Epoch milliseconds by the one clock. */
  readonly now: () => number;
  readonly isDraining: () => boolean;
}

/** The table of pages: routes and navigation are made from it, in this order. */
export function consolePages(deps: PagesDeps): readonly Page[] {
  const readNumbers = numbersReader(deps.sql);
  return [overviewPage({ readNumbers }), liveNumbersPage({ ...deps, readNumbers }), logPage(deps)];
}
