import { consolePages } from "../../../src/http/console/pages.ts";

/** The pages of the table. Only their paths and names may be asked for: they stand on nothing. */
export const PAGES = consolePages({} as Parameters<typeof consolePages>[0]);

/** What can be done on them, each with the path of its page. */
export const ACTIONS = PAGES.flatMap(({ path: page, actions = [] }) =>
  actions.map((action) => ({ ...action, page })),
);

/** These answer with events instead of a page; scripts of pages ask for them. */
export const STREAMS: readonly string[] = PAGES.filter(({ isQuiet }) => isQuiet).map(
  ({ path }) => path,
);

/** These are files to be kept, which no tab shows. */
export const FILES: readonly string[] = PAGES.map(({ path }) => path).filter((path) =>
  path.endsWith(".ndjson"),
);
