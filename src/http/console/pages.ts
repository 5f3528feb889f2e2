import type { Sql } from "../../store/postgres.ts";
import type { Page } from "./page.ts";
import { logPage } from "./pages/log.ts";
import { overviewPage } from "./pages/overview.ts";

/** What the pages stand on. */
export interface PagesDeps {
  /** The console's own small pool. */
  readonly sql: Sql;
}

/** The table of pages: routes and navigation are made from it, in this order. */
export function consolePages(deps: PagesDeps): readonly Page[] {
  return [overviewPage(), logPage(deps)];
}
