import { MirrorError } from "./mirror-error.ts";

/** A list that the mirror node gives page by page. */
export interface PagedList {
  /** A reader's path, without a query. */
  readonly path: string;
  /** Query of the first page. */
  readonly query: string;
  readonly pagesMax: number;
  /** What a node may put before that path in its links. */
  readonly prefixes: readonly string[];
}

/** Visible ASCII, no fragment: what the query of a cursor is made of. */
const LINK =
  /^(?<path>\/[\x21\x24-\x3b\x3d\x40-\x5b\x5d-\x7e]*)\?(?<query>[\x21\x24-\x5b\x5d-\x7e]+)$/;

/**
 * Follows `links.next` until it is null. Whether another page follows is never
 * inferred from the length of one: the node may give fewer rows than asked for.
 *
 * @throws MirrorError "link" when a link leads anywhere but to another page of
 *   the same list, or to one already seen; "pages" when the list does not end
 */
export async function* walkPages<Page extends { readonly links: { readonly next: string | null } }>(
  list: PagedList,
  readPage: (target: string) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let target = `${list.path}?${list.query}`;
  const seen = new Set([target]);
  for (let number = 1; number <= list.pagesMax; number++) {
    const page = await readPage(target);
    const { next } = page.links;
    // Checked before the page is handed out: rows of a node that lies about its
    // links are not worth having.
    const following = next === null ? undefined : followLink(list, next);
    if (following !== undefined && seen.has(following)) {
      throw new MirrorError("link", `${list.path}: its pages lead back to each other`);
    }
    yield page;
    if (following === undefined) return;
    target = following;
    seen.add(target);
  }
  throw new MirrorError("pages", `${list.path}: does not end within ${list.pagesMax} pages`);
}

/** The link's target, query verbatim. A link with a scheme or a host has no such path. */
function followLink({ path, prefixes }: PagedList, link: string): string {
  const parts = LINK.exec(link)?.groups;
  if (parts === undefined || !prefixes.some((prefix) => parts.path === prefix + path)) {
    throw new MirrorError("link", `${path}: its next page is said to be elsewhere`);
  }
  return `${path}?${parts.query}`;
}
