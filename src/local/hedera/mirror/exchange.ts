import { type Cursor, nextLink } from "./next-link.ts";
import type { Order, Query } from "./parameters.ts";
import type { View } from "./view.ts";

/** A request, as far as an endpoint looks at it. */
export interface MirrorRequest {
  readonly view: View;
  /** As it was written: `links.next` repeats it. */
  readonly path: string;
  readonly query: Query;
  /** The named part of the path. */
  part(name: string): string;
}

export interface MirrorAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  /** 206 when the node knows only part of it; 200 when absent. */
  readonly status?: number;
  /** Seconds it may be cached. */
  readonly maxAge: number;
  /** Also goes into the `Link` header. */
  readonly next?: string | null;
}

export type Endpoint = (request: MirrorRequest) => MirrorAnswer;

/** How long caches may keep an answer, in seconds, as the real one's configuration has it. */
export const MAX_AGE = { list: 1, account: 2, token: 5, record: 600 } as const;

const LIMIT_DEFAULT = 25;
/** More is not refused but clamped, as the real one does. */
const LIMIT_MAX = 100;

/** A page of a list: how many rows, which way, and how the next page is found. */
export type Page = ReturnType<typeof pageOf>;

/** The page that a query asks for; of what it says twice the last counts. */
export function pageOf({ path, query }: MirrorRequest, defaultOrder: Order) {
  const limit = Math.min(Number(query.get("limit")?.at(-1) ?? LIMIT_DEFAULT), LIMIT_MAX);
  const asked = query.get("order")?.at(-1)?.toLowerCase();
  const order = asked === "asc" || asked === "desc" ? asked : defaultOrder;
  return {
    limit,
    order,
    /** The link after these rows; null when the page came back short. */
    after<Row>(rows: readonly Row[], cursors: (last: Row) => readonly Cursor[]): string | null {
      const last = rows.at(-1);
      // An exactly full last page has a next one, which is empty.
      if (last === undefined || rows.length < limit) return null;
      return nextLink({ path, query, order }, cursors(last));
    },
  };
}

/** A list's body, with the link to the next page in it. */
export function listAnswer(
  name: string,
  rows: readonly unknown[],
  next: string | null,
): MirrorAnswer {
  return { body: { [name]: rows, links: { next } }, maxAge: MAX_AGE.list, next };
}
