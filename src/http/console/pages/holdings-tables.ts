import type { CheckedMintRow, ReleasedNft } from "../../../reads/console-holdings.ts";
import { LISTED_MAX } from "../../../upkeep/holdings-check/dry-run.ts";
import { actorLink, onExplorer, starLink } from "../links.ts";
import {
  badge,
  type Content,
  type Html,
  html,
  instant,
  number,
  section,
  table,
} from "../markup.ts";

/** What a mint's total lost: `−5`, or `0`. */
export function lossWords(weight: number): string {
  return weight === 0 ? "0" : `−${number(weight)}`;
}

/** The mints of a run in numbers, with links to their actors. */
export function mintTable(mints: readonly CheckedMintRow[], empty: string): Html {
  return table({
    caption: "Forever mints, in numbers",
    columns: [
      { label: "Forever mint", isWhole: true },
      { label: "Removed", isNumber: true },
      { label: "Weight", isNumber: true },
      { label: "Kept", isNumber: true },
      { label: "Left open", isNumber: true },
    ],
    rows: mints.map(({ event, removed, weight, kept, open }) => [
      actorLink(`forever-mint/${event}`, event),
      number(removed),
      lossWords(weight),
      number(kept),
      number(open),
    ]),
    empty,
  });
}

/**
 * The first NFTs that stopped counting, with the evidence.
 *
 * @param given.total how many there are, listed or not
 */
export function removedSection(
  releases: readonly ReleasedNft[],
  given: { readonly title: string; readonly total: number; readonly explorer: string | null },
): Content {
  if (releases.length === 0) return null;
  const list = table({
    caption: "NFTs that stopped counting, with the evidence",
    columns: [
      { label: "Mint", isWhole: true },
      { label: "NFT", isWhole: true, isTitle: true },
      { label: "Counted for", isWhole: true },
      { label: "By star", isWhole: true },
      { label: "Weight", isNumber: true },
      { label: "The ledger said", isText: true },
      { label: "Seen", isWhole: true },
    ],
    rows: releases.map((release) => [
      release.event,
      `${release.collection} ${number(release.serial)}`,
      onExplorer(given.explorer, `account/${release.wallet}`, release.wallet),
      starLink(release.starId),
      lossWords(release.weight),
      evidence(release),
      html`<span title="in the list of the whole collection ${new Date(release.listedAt).toISOString()}">${instant(release.readAt)}</span>`,
    ]),
  });
  return section(
    given.title,
    html`${list}${andMore(given.total - releases.length)}`,
    html`<span class="hint">each seen twice: in the whole collection's list, and by itself</span>`,
  );
}

function evidence({ owner, deleted, spare }: ReleasedNft): string {
  const where = deleted
    ? "The NFT is deleted"
    : owner === null
      ? "It has no owner: burned or wiped"
      : `It is with ${owner}`;
  return spare === null ? where : `${where}; the +5 goes on with B ${number(spare)}`;
}

/** The first parts that were left open, and why. */
export function openSection(mints: readonly CheckedMintRow[]): Content {
  const rows = mints.flatMap(({ event, deferred }) =>
    deferred.map(({ collection, serial, starId, wallet, reason }) => [
      event,
      serial === null ? `all of collection ${collection}` : `${collection} ${number(serial)}`,
      starId === null ? "–" : html`${wallet ?? ""} ${starLink(starId)}`,
      html`${badge("warn", "doubt")} ${reason}`,
    ]),
  );
  if (rows.length === 0) return null;
  const list = table({
    caption: "Parts left open, and why",
    columns: [
      { label: "Mint", isWhole: true },
      { label: "Part", isWhole: true },
      { label: "Counts for", isWhole: true },
      { label: "Why", isText: true },
    ],
    rows: rows.slice(0, LISTED_MAX),
  });
  const total = mints.reduce((sum, { open }) => sum + open, 0);
  return section(
    "Left open",
    html`${list}${andMore(total - Math.min(rows.length, LISTED_MAX))}`,
    html`<span class="hint">nothing is removed there</span>`,
  );
}

function andMore(count: number): Content {
  return count > 0 ? html`<p class="hint">And ${number(count)} more.</p>` : null;
}
