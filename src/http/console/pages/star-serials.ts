import { instantOfStarId } from "../../../journal/star-id.ts";
import { walletOf } from "../../../journal/star-record.ts";
import type { SerialClaim, StarStory } from "../../../reads/console-star.ts";
import { alike } from "../alike.ts";
import { starLink } from "../links.ts";
import {
  andMore,
  badge,
  type Content,
  type Html,
  html,
  instantText,
  number,
  section,
  table,
} from "../markup.ts";
import { serialsText } from "../serials.ts";

/** NFTs shown of each collection; a wallet may hold thousands. */
export const SERIALS_SHOWN = 200;

type Collection = SerialClaim["collection"];

/** What became of an NFT that a star brought. */
interface Verdict {
  readonly isCounted: boolean;
  readonly why: string;
  /** The star by which it had counted before. */
  readonly before?: string;
}

/** Each NFT the star brought: whether it counted, and if not, for whom it had counted before. */
export function serialsSection(star: StarStory, claims: readonly SerialClaim[]): Html | "" {
  const { heldA, heldB } = star;
  if (heldA.length + heldB.length === 0) return "";
  const lines = [
    ...linesOf(star, { collection: "A", held: heldA, claims }),
    ...linesOf(star, { collection: "B", held: heldB, claims }),
  ];
  const hidden =
    Math.max(0, heldA.length - SERIALS_SHOWN) + Math.max(0, heldB.length - SERIALS_SHOWN);
  return section(
    "NFTs it brought",
    html`${table({
      caption: "NFTs held when the star was cast",
      rows: lines,
      columns: [
        ["Collection and serials", "plain", nfts],
        ["Counted?", "whole", ({ verdict }) => counted(verdict)],
        ["Why", "text", ({ verdict }) => reason(verdict)],
      ],
    })}${andMore(hidden)}`,
    html`<span class="hint">${number(heldA.length)} of A, ${number(heldB.length)} of B</span>`,
  );
}

interface Line {
  readonly collection: Collection;
  readonly verdict: Verdict;
  readonly serials: readonly number[];
}

/** Serials with the same verdict are one line. */
function linesOf(
  star: StarStory,
  given: {
    readonly collection: Collection;
    readonly held: readonly number[];
    readonly claims: readonly SerialClaim[];
  },
): readonly Line[] {
  const { collection, held, claims } = given;
  const judged = held.slice(0, SERIALS_SHOWN).map((serial) => {
    const mine = claims.filter(
      (claim) => claim.collection === collection && claim.serial === serial,
    );
    return { serial, verdict: verdictOn(star, collection, mine) };
  });
  return alike(judged, ({ verdict }) => JSON.stringify(verdict)).map((same) => {
    return { collection, verdict: same[0].verdict, serials: same.map(({ serial }) => serial) };
  });
}

function nfts({ collection, serials }: Line): string {
  return `${collection} ${serialsText(serials)}`;
}

function counted({ isCounted }: Verdict): Html {
  return isCounted ? badge("good", "counted") : badge("plain", "not counted");
}

function reason({ why, before }: Verdict): Content {
  if (before === undefined) return why;
  return html`${why} by star ${starLink(before)}, ${instantText(instantOfStarId(before), true)}`;
}

/** @param claims all there ever were on the NFT, at this event and day or this forever mint */
function verdictOn(
  star: StarStory,
  collection: Collection,
  claims: readonly SerialClaim[],
): Verdict {
  if (star.type !== "event") {
    const why = collection === "A" ? "1 for each held" : "one +5 for all of collection B together";
    return { isCounted: true, why };
  }
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
    const whom = before.wallet === star.wallet ? "this wallet" : walletOf(before.wallet);
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
