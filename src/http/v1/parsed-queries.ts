import type { BoundRequest, Endpoint } from "./endpoint.ts";
import { parseSearch } from "./parameters.ts";

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
