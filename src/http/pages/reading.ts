import type { z } from "zod";
import { TerminalError } from "../../errors.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Rankings } from "../ranking-pages.ts";
import { readQuery } from "../v1/parameters.ts";

export interface Reading {
  readonly sql: Sql;
  readonly eventSources: readonly string[];
  /** `SITE_NAME` */
  readonly siteName: string;
  /** Base of the explorer's pages of this network; null where there is none. */
  readonly explorerUrl: string | null;
  /** Where browsers may ask for the ledger's own rows; null where there is no such place. */
  readonly mirrorNodeUrl: string | null;
  /** Tokens and collections, page by page. */
  readonly ranked: Rankings;
  /** Joins equal reads at the same time, and bounds how many run at once beside the votes. */
  share<V>(question: string, read: () => Promise<V>): Promise<V>;
}

/**
 * The parameters that a page has, of all that its address brings: links are passed on with
 * more, and a form sends what was left open as an empty text.
 *
 * @throws TerminalError `INVALID_PARAMETER` for a value outside its set
 */
export function readFilters<S extends z.ZodObject>(shape: S, query: URLSearchParams): z.output<S> {
  const known = [...query].filter(
    ([name, value]) => Object.hasOwn(shape.shape, name) && value !== "",
  );
  return readQuery(shape, new URLSearchParams(known));
}

/** What was read. @throws TerminalError `NOT_FOUND` where it is nothing */
export function found<T>(record: T | null | undefined, what: string): T {
  if (record === null || record === undefined)
    throw new TerminalError("NOT_FOUND", `There is no ${what} here.`);
  return record;
}
