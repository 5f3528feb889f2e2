import { bounds } from "../../bounds.ts";
import type { Asked } from "./answer.ts";
import { MirrorError } from "./error.ts";
import { type ReadLimits, within } from "./limits.ts";
import { API } from "./paths.ts";
import type { MirrorTransport } from "./transport.ts";

export interface PagedList<P, R> extends Omit<Asked<P>, "target"> {
  /** Below `/api/v1`, without a query. */
  readonly path: string;
  readonly query: string;
  readonly rows: (page: P) => readonly R[];
}

interface Page {
  readonly links: { readonly next: string | null };
}

/**
 * An absolute link (a node with `includeHostInLink`) or one without a host; then visible ASCII, no
 * empty path segment, no fragment: what a cursor is made of.
 */
const LINK =
  /^(?:https?:\/\/[^/?#\\\s]+)?(?<path>(?:\/[!$-.0-;=@-[\]-~]+)+)\?(?<query>[!$-[\]-~]+)$/;

/**
 * The rows of a list page by page, along `links.next` until it is null. Whether another page follows
 * is never inferred from the length of one: the node may give fewer rows than asked for.
 *
 * @param limits of each page; the reader's own work has none
 * @throws MirrorError "link" when a link leads anywhere but to another page of
 *   the same list, or to one already seen; "pages" when the list does not end
 */
export async function* walkPages<P extends Page, R>(
  transport: MirrorTransport,
  { path, query, rows, ...page }: PagedList<P, R>,
  limits: ReadLimits,
): AsyncGenerator<readonly R[], void, undefined> {
  const { pagesMax = bounds.mirrorPagesMax } = limits;
  const seen = new Set<string>();
  for (let target: string | undefined = `${path}?${query}`; target !== undefined; ) {
    if (seen.size === pagesMax) throw endless(path, pagesMax);
    seen.add(target);
    const asked: Asked<P> = { target, ...page };
    // Rows of a node that lies about its links are not worth having.
    const check = (page: P): void => void followLink(path, page, seen);
    const read = await within(limits, (budget) => transport.list(asked, budget, check));
    target = followLink(path, read, seen);
    yield rows(read);
  }
}

/**
 * Where a list goes on, below `/api/v1`, query verbatim; undefined at its end. Only path and query
 * of a link count: a node may write its internal host and port into it, and we ask our own.
 *
 * @throws MirrorError "link"
 */
export function followLink(
  path: string,
  { links: { next } }: Page,
  seen: ReadonlySet<string>,
): string | undefined {
  if (next === null) return undefined;
  const parts = LINK.exec(next)?.groups;
  if (!parts?.path?.endsWith(API + path)) {
    throw new MirrorError("link", `${path}: its next page is said to be elsewhere`);
  }
  const target = `${path}?${parts.query}`;
  if (!seen.has(target)) return target;
  throw new MirrorError("link", `${path}: its pages lead back to each other`);
}

/** The error of a list with more pages than any has. */
export function endless(path: string, pagesMax: number): MirrorError {
  return new MirrorError("pages", `${path}: does not end within ${pagesMax} pages`);
}
