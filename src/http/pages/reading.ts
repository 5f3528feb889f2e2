import type { z } from "zod";
import type { Clock } from "../../clock.ts";
import { TerminalError } from "../../errors.ts";
import type { Sql } from "../../store/postgres.ts";
import { readGate } from "../read-gate.ts";
import { readQuery } from "../v1/parameters.ts";
import { shareReads } from "../v1/shared-reads.ts";

export interface Reading {
  readonly sql: Sql;
  /** The two external event sources (`EVENT_SOURCES`). */
  readonly eventSources: readonly string[];
  /** `SITE_NAME` */
  readonly siteName: string;
  /** Base of the explorer's pages of this network; null where there is none. */
  readonly explorerUrl: string | null;
  /** Where browsers may ask for the ledger's own rows; null where there is no such place. */
  readonly mirrorNodeUrl: string | null;
  /**
   * Joins equal reads at the same time, and bounds how many run at once beside the votes. A read is of
   * the instant at which it begins, epoch milliseconds: it is never older than a request that joins it.
   */
  share<V>(question: string, read: (at: number) => Promise<V>): Promise<V>;
}

/** Makes what joins the reads of a process' pages. */
export function sharedReadings(clock: Clock): Reading["share"] {
  const share = shareReads<unknown>();
  const gated = readGate();
  // A question names what it reads: equal ones have an answer of the same type.
  return <V>(question: string, read: (at: number) => Promise<V>) =>
    share(question, () => gated(() => read(clock.now()))) as Promise<V>;
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
