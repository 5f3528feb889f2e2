import { bulkhead } from "cockatiel";
import type { z } from "zod";
import { bounds } from "../../bounds.ts";
import { isEntityId } from "../entity-id.ts";
import { MirrorError } from "./error.ts";
import { type Budget, type ReadLimits, within } from "./limits.ts";
import { endless, followLink } from "./pages.ts";
import { checkId, PAGE } from "./paths.ts";
import { type MirrorNft, nftsSchema } from "./schemas.ts";
import type { MirrorTransport } from "./transport.ts";

type NftsPage = z.output<typeof nftsSchema>;

/** Fewer rows than a page has are expected of a range, so that most ranges are one page. */
const ROWS_EXPECTED = 80;
/** Fewer follow each other in half a second at 100 ms an answer. */
const SPLIT_FROM_PAGES = 4;
/** Of one collection at once: at 100 ms an answer 20,000 NFTs take a second, and other stars go on. */
const PAGES_AT_ONCE = 32;

/** With so many pages read, the time was too short because the wallet holds so much. */
const LARGE_FROM_PAGES = 10;

/**
 * The serials of each collection that an account holds, side by side; when one fails, the others
 * are not read on.
 *
 * @throws MirrorError "too-large" when pages came and the time was not enough for all of them, else
 *   that of a page
 */
export async function readHoldings<Tokens extends readonly string[]>(
  transport: MirrorTransport,
  { account, tokens }: { readonly account: string; readonly tokens: Tokens },
  limits: ReadLimits,
): Promise<{ readonly [K in keyof Tokens]: readonly number[] }> {
  const progress = { pages: 0 };
  try {
    const serials = await within(limits, (budget) =>
      Promise.all(
        tokens.map((token) => readSerials(transport, { account, token, budget, progress })),
      ),
    );
    // The types forget with `map` that there is one answer for each collection.
    return serials as unknown as { readonly [K in keyof Tokens]: readonly number[] };
  } catch (error) {
    const isTooLate =
      error instanceof MirrorError && (error.fault === "timeout" || error.fault === "busy");
    if (!isTooLate || progress.pages < LARGE_FROM_PAGES) throw error;
    const why = `/accounts/${account}/nfts: more than the ${progress.pages} pages read in time`;
    throw new MirrorError("too-large", why, error);
  }
}

interface Reading {
  readonly account: string;
  readonly token: string;
  readonly budget: Budget;
  /** Counts the pages of all collections. */
  readonly progress: { pages: number };
}

/**
 * The serials of a collection that an account holds, ascending. NFTs of a
 * deleted collection stay listed as deleted, and count nothing.
 *
 * A list of several pages is read side by side: where the node's own link says that the rest lies
 * below the page's lowest serial, that rest is split into ranges, and so again wherever a range has
 * more than one page. How many is guessed from how densely the page was filled. A wrong guess
 * costs requests, never rows: the ranges always make up the whole rest. So a page is followed by
 * at most one range more than pages were found to have something below them.
 *
 * @throws MirrorError "link", "pages", or that of a page
 */
async function readSerials(
  transport: MirrorTransport,
  { account, token, budget, progress }: Reading,
): Promise<readonly number[]> {
  const path = `/accounts/${checkId(account)}/nfts`;
  const query = `token.id=${checkId(token)}&limit=${PAGE}`;
  const lane = bulkhead(PAGES_AT_ONCE, Number.POSITIVE_INFINITY);
  const serials = new Set<number>();
  const seen = new Set<string>();

  let unfinished = 0;

  const readFrom = async (target: string): Promise<void> => {
    if (seen.size === bounds.mirrorPagesMax) throw endless(path, bounds.mirrorPagesMax);
    seen.add(target);
    const check = (read: NftsPage): void => void followLink(path, read, seen);
    const asked = { target, schema: nftsSchema };
    const page = await lane.execute(() => transport.list(asked, budget, check));
    progress.pages += 1;
    for (const nft of page.nfts) {
      if (!nft.deleted && nft.owner === account && nft.tokenId === token) serials.add(nft.serial);
    }
    const next = followLink(path, page, seen);
    if (next === undefined) return;
    unfinished += 1;
    const ranges = rangesBelow(next, page.nfts, unfinished + 1);
    const targets = ranges?.map(
      ({ from, below }) => `${path}?${query}&serialnumber=gte:${from}&serialnumber=lt:${below}`,
    );
    await Promise.all((targets ?? [next]).map(readFrom));
  };

  await readFrom(`${path}?${query}`);
  return [...serials].sort((a, b) => a - b);
}

/** Serials from one up to, and without, another. */
interface Range {
  readonly from: number;
  readonly below: number;
}

/**
 * The ranges that the rest of a list is made of, none when the rest is empty.
 *
 * @param next the link to the rest, which names its bounds
 * @param most ranges at most
 * @returns undefined when the link itself is to be followed: it is of another form, or a few pages
 *   are expected to hold the rest
 */
function rangesBelow(
  next: string,
  rows: readonly MirrorNft[],
  most: number,
): readonly Range[] | undefined {
  const { from, below } = cursorOf(next);
  const serials = rows.map(({ serial }) => serial);
  const lowest = Math.min(...serials);
  // Of no rows it is infinite, as a serial of hundreds of digits is.
  if (rows.length === 0 || Number(below) !== lowest) return undefined;
  const first = Number(from ?? 1);
  const rest = lowest - first;
  if (rest === 0 && from !== undefined) return [];
  const density = new Set(serials).size / (Math.max(...serials) - lowest + 1);
  const pages = Math.ceil((density * rest) / ROWS_EXPECTED);
  if (pages < SPLIT_FROM_PAGES) return undefined;
  const count = Math.min(pages, most);
  // A range no wider than a page can have no second one.
  const width = Math.max(PAGE, Math.ceil(rest / count));
  const ranges: Range[] = [];
  for (let end = lowest; end > first; end -= width) {
    ranges.push({ from: Math.max(first, end - width), below: end });
  }
  return ranges;
}

/** The bounds of a descending list of one collection; none when the link is of another form. */
function cursorOf(next: string): { readonly from?: string; readonly below?: string } {
  const query = new URLSearchParams(next.slice(next.indexOf("?")));
  const [token = "", ...others] = query.getAll("token.id");
  if (others.length > 0 || !isEntityId(token) || query.get("order") === "asc") return {};
  const edges = query.getAll("serialnumber").sort().join(" ");
  return /^(?:gte:(?<from>\d+) )?lt:(?<below>\d+)$/.exec(edges)?.groups ?? {};
}
