import type { CheckedMintRow, ReleasedNft } from "../../../reads/console-holdings.ts";
import { LISTED_MAX } from "../../../upkeep/holdings-check/pass.ts";
import { actorLink, onExplorer, starLink } from "../links.ts";
import {
  andMore,
  badge,
  type Content,
  type Html,
  html,
  instant,
  number,
  section,
  signed,
  table,
} from "../markup.ts";

export function mintTable(mints: readonly CheckedMintRow[], empty: string): Html {
  return table({
    caption: "Forever mints, in numbers",
    rows: mints,
    columns: [
      ["Forever mint", "whole", ({ event }) => actorLink(`forever-mint/${event}`, event)],
      ["Removed", "number", ({ removed }) => removed],
      ["Weight", "number", ({ weight }) => signed(-weight)],
      ["Kept", "number", ({ kept }) => kept],
      ["Left open", "number", ({ open }) => open],
    ],
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
    rows: releases,
    columns: [
      ["Mint", "whole", ({ event }) => event],
      ["NFT", "whole title", ({ collection, serial }) => `${collection} ${number(serial)}`],
      [
        "Counted for",
        "whole",
        ({ wallet }) => onExplorer(given.explorer, `account/${wallet}`, wallet),
      ],
      ["By star", "whole", ({ starId }) => starLink(starId)],
      ["Weight", "number", ({ weight }) => signed(-weight)],
      ["The ledger said", "text", evidence],
      ["Seen", "whole", seen],
    ],
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

function seen({ listedAt, readAt }: ReleasedNft): Html {
  return html`<span title="in the list of the whole collection ${new Date(listedAt).toISOString()}">${instant(readAt)}</span>`;
}

/** The first parts that were left open, and why. */
export function openSection(mints: readonly CheckedMintRow[]): Content {
  const rows = mints
    .flatMap(({ event, deferred }) => deferred.map((part) => ({ event, ...part })))
    .slice(0, LISTED_MAX);
  if (rows.length === 0) return null;
  const list = table({
    caption: "Parts left open, and why",
    rows,
    columns: [
      ["Mint", "whole", ({ event }) => event],
      [
        "Part",
        "whole",
        ({ collection, serial }) =>
          serial === null ? `all of collection ${collection}` : `${collection} ${number(serial)}`,
      ],
      [
        "Counts for",
        "whole",
        ({ starId, wallet }) => starId && html`${wallet ?? ""} ${starLink(starId)}`,
      ],
      ["Why", "text", ({ reason }) => html`${badge("warn", "doubt")} ${reason}`],
    ],
  });
  const total = mints.reduce((sum, { open }) => sum + open, 0);
  return section(
    "Left open",
    html`${list}${andMore(total - rows.length)}`,
    html`<span class="hint">nothing is removed there</span>`,
  );
}
