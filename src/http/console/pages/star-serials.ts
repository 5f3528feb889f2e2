import { instantOfStarId } from "../../../journal/star-id.ts";
import { entityId } from "../../../ledger/entity-id.ts";
import type { Nft } from "../../../reads/console-event.ts";
import type { SerialClaim, StarStory } from "../../../reads/console-star.ts";
import { instantText, number } from "../amounts.ts";
import { starLink } from "../links.ts";
import { alike, andMore, badge, type Content, type Html, html, section, table } from "../markup.ts";
import { serialsText } from "../words.ts";

/** NFTs shown of each collection; a wallet may hold thousands. */
const SERIALS_SHOWN = 200;

/** What became of an NFT that a star brought. */
interface Verdict {
  readonly isCounted: boolean;
  readonly why: string;
  /** The star by which it had counted before. */
  readonly before?: string;
}

/** The NFTs the star brought, so many of each collection as are shown. */
export function shownNfts({ heldA, heldB }: StarStory): readonly Nft[] {
  const nfts = (collection: Nft["collection"], held: readonly number[]) =>
    held.slice(0, SERIALS_SHOWN).map((serial) => ({ collection, serial }));
  return [...nfts("A", heldA), ...nfts("B", heldB)];
}

/** Each NFT the star brought: whether it counted, and if not, for whom it had counted before. */
export function serialsSection(star: StarStory, claims: readonly SerialClaim[]): Html | "" {
  const [heldA, heldB] = [star.heldA.length, star.heldB.length];
  const nfts = shownNfts(star);
  if (nfts.length === 0) return "";
  const judged = nfts.map((nft) => ({ ...nft, verdict: verdictOn(star, nft, claims) }));
  const list = table({
    caption: "NFTs held when the star was cast",
    // Serials with the same verdict are one line.
    rows: alike(judged, ({ collection, verdict }) => JSON.stringify([collection, verdict])),
    columns: [
      [
        "Collection and serials",
        "plain",
        (same) => `${same[0].collection} ${serialsText(same.map(({ serial }) => serial))}`,
      ],
      ["Counted?", "whole", ([{ verdict }]) => counted(verdict)],
      ["Why", "text", ([{ verdict }]) => reason(verdict)],
    ],
  });
  return section(
    "NFTs it brought",
    html`${list}${andMore(heldA + heldB - nfts.length)}`,
    html`<span class="hint">${number(heldA)} of A, ${number(heldB)} of B</span>`,
  );
}

function counted({ isCounted }: Verdict): Html {
  return isCounted ? badge("good", "counted") : badge("plain", "not counted");
}

function reason({ why, before }: Verdict): Content {
  if (before === undefined) return why;
  return html`${why} by star ${starLink(before)}, ${instantText(instantOfStarId(before), true)}`;
}

/** @param all the claims there ever were on NFTs of the star, at this event and day or this forever mint */
function verdictOn(
  star: StarStory,
  { collection, serial }: Nft,
  all: readonly SerialClaim[],
): Verdict {
  if (star.type !== "event") {
    const why = collection === "A" ? "1 for each held" : "one +5 for all of collection B together";
    return { isCounted: true, why };
  }
  const claims = all.filter((claim) => claim.collection === collection && claim.serial === serial);
  const own = claims.find(({ starId, anchoredAt }) => starId === star.id && anchoredAt === null);
  if (own !== undefined) {
    const lost =
      own.releasedAt === null
        ? ""
        : `; it stopped counting ${instantText(own.releasedAt, true)}, when the wallet held it no more`;
    const part = collection === "A" ? "1 for each" : "the +5";
    return { isCounted: true, why: `${part}, by this star${lost}` };
  }
  const before = claims.find((claim) => claim.starId < star.id && stoodAt(claim, star.at));
  if (before !== undefined) {
    const whom = before.wallet === star.wallet ? "this wallet" : entityId(before.wallet);
    return { isCounted: false, why: `had counted for ${whom}`, before: before.starId };
  }
  const why =
    collection === "B"
      ? "one +5 is all that collection B adds"
      : "counted elsewhere when this was decided";
  return { isCounted: false, why };
}

function stoodAt({ releasedAt }: SerialClaim, at: number): boolean {
  return releasedAt === null || releasedAt > at;
}
