import type { z } from "zod";
import { TerminalError } from "../../errors.ts";
import type { DataKind } from "../../store/data-revision.ts";
import type { Sql } from "../../store/postgres.ts";
import { none, parseSearch, readQuery } from "./parameters.ts";
import type { Shown } from "./response-cache.ts";

export interface EndpointDeps {
  readonly sql: Sql;
  /** The two external event sources (`EVENT_SOURCES`). */
  readonly eventSources: readonly string[];
}

/** One row of the table from which router, directory and OpenAPI document are made. */
export interface Endpoint {
  /** Below `/v1`, as `/events/{id}`. */
  readonly path: string;
  /** Unique; the operation's id in the OpenAPI document. */
  readonly name: string;
  readonly description: string;
  readonly key: boolean;
  /** What its answers show: they change with these and with the clock alone. */
  readonly shows: readonly DataKind[];
  readonly query: z.ZodObject;
  readonly parameters: z.ZodObject;
  readonly response: z.ZodType;
  /** Checks what a request brings. @throws TerminalError `INVALID_PARAMETER`, `NOT_FOUND` */
  bind(path: Readonly<Record<string, string>>, search: URLSearchParams): BoundRequest;
}

/** A request that is worth asking the database for. */
export interface BoundRequest {
  /** Equal for equal questions. */
  readonly question: string;
  /**
   * @param now the instant that it is an answer of, epoch milliseconds
   * @throws TerminalError `NOT_FOUND`, RetryableError `UNAVAILABLE`
   */
  answer(now: number): Promise<Shown<unknown>>;
}

/** What `endpoint` is given: an `Endpoint` whose answer is typed by its own schemas. */
interface EndpointDefinition<Q extends z.ZodObject, P extends z.ZodObject, R extends z.ZodType>
  extends Omit<Endpoint, "key" | "query" | "parameters" | "response" | "bind"> {
  /** A key is needed when absent. */
  readonly key?: boolean;
  /** None when absent. */
  readonly query?: Q;
  readonly parameters?: P;
  readonly response: R;
  answer(given: z.output<Q> & z.output<P>, now: number): Promise<Shown<z.output<R>>>;
}

/** Makes a row; the answer must be what the response schema says, or it does not compile. */
export function endpoint<
  R extends z.ZodType,
  Q extends z.ZodObject = typeof none,
  P extends z.ZodObject = typeof none,
>({ answer, ...definition }: EndpointDefinition<Q, P, R>): Endpoint {
  const { key = true, query: asked = none as z.ZodObject as Q } = definition;
  const { parameters: named = none as z.ZodObject as P } = definition;
  const row = { ...definition, key, query: asked, parameters: named };
  return {
    ...row,
    bind(path, search) {
      const query = readQuery(asked, search);
      const parameters = named.safeParse(path);
      // A path that no record can have leads to no record.
      if (!parameters.success) throw new TerminalError("NOT_FOUND", "Nothing is found here.");
      const given = { ...query, ...parameters.data };
      return {
        question: `${row.path} ${JSON.stringify(given)}`,
        answer: (now) => answer(given, now),
      };
    },
  };
}

/** A query that was checked before, found by how it is written. */
export interface ParsedQuery extends BoundRequest {
  readonly row: Endpoint;
  /** Of its endpoint, from the root. */
  readonly path: string;
}

export type ParsedQueries = ReturnType<typeof parsedQueries>;

/** Queries kept of one endpoint; a client that asks oddly gains nothing by filling them up. */
const QUERIES_MAX = 256;

/**
 * Remembers which queries are allowed: that depends on nothing but how they are written.
 * Refusals are not remembered, nor what may hold a key, nor paths that name a record.
 */
export function parsedQueries() {
  const byTarget = new Map<string, ParsedQuery>();
  return {
    /** Checks what requests of an endpoint bring, once for all who write it the same. */
    of(row: Endpoint) {
      const path = `/v1${row.path}`;
      const hasPath = Object.keys(row.parameters.shape).length > 0;
      const targets = new Set<string>();
      return (given: Record<string, string>, search: string): BoundRequest => {
        const target = search === "" ? path : `${path}?${search}`;
        const found = hasPath ? undefined : byTarget.get(target);
        if (found !== undefined) return found;
        const bound = row.bind(given, parseSearch(search));
        if (hasPath || /api_key|%/.test(search)) return bound;
        if (targets.size >= QUERIES_MAX) {
          for (const known of targets) byTarget.delete(known);
          targets.clear();
        }
        targets.add(target);
        byTarget.set(target, { ...bound, row, path });
        return bound;
      };
    },
    /** @param target path and query as the client wrote them */
    find: (target: string): ParsedQuery | undefined => byTarget.get(target),
  };
}
