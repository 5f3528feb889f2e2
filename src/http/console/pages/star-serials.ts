import { walletOf } from "../../../journal/star-record.ts";
import type { SerialClaim, StarStory } from "../../../reads/console-star.ts";
import { starLink } from "../links.ts";
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

/** Of one collection; a wallet may hold thousands. */
export const SERIALS_SHOWN = 200;

/** Each NFT the star brought: whether it counted, and if not, for whom it had counted before. */
export function serialsSection(star: StarStory, claims: readonly SerialClaim[]): Html | "" {
  const { heldA, heldB, type } = star;
  if (heldA.length + heldB.length === 0) return "";
  const rows = [
    ...heldA
      .slice(0, SERIALS_SHOWN)
      .map((serial) => row(star, { collection: "A", serial, claims })),
    ...heldB
      .slice(0, SERIALS_SHOWN)
      .map((serial) => row(star, { collection: "B", serial, claims })),
  ];
  const hidden =
    Math.max(0, heldA.length - SERIALS_SHOWN) + Math.max(0, heldB.length - SERIALS_SHOWN);
  return section(
    "NFTs it brought",
    html`${table({
      caption: "NFTs held when the star was cast",
      columns: [
        "Collection",
        { label: "Serial", isNumber: true },
        { label: "Counted?", isWhole: true },
        { label: "Why", isText: true },
      ],
      rows,
    })}${hidden === 0 ? "" : html`<p class="hint">And ${number(hidden)} more.</p>`}`,
    type === "event" ? null : html`<span class="hint">all count here</span>`,
  );
}

function row(
  star: StarStory,
  given: {
    readonly collection: "A" | "B";
    readonly serial: number;
    readonly claims: readonly SerialClaim[];
  },
): Content[] {
  const { collection, serial } = given;
  const cells = (badgeOf: Html, why: Content): Content[] => [
    collection,
    number(serial),
    badgeOf,
    why,
  ];
  const yes = badge("good", "counted");
  const no = badge("plain", "did not");
  if (star.type !== "event") {
    return cells(
      yes,
      collection === "A" ? "1 for each held" : "one +5 for all of collection B together",
    );
  }
  const mine = given.claims.filter(
    (claim) => claim.collection === collection && claim.serial === serial,
  );
  const own = mine.find(({ starId, anchoredAt }) => starId === star.id && anchoredAt === null);
  if (own !== undefined) {
    const lost =
      own.releasedAt === null
        ? ""
        : html`; it stopped counting ${instant(own.releasedAt)}, when the wallet held it no more`;
    return cells(yes, html`${collection === "A" ? "1" : "the +5"}, by this star${lost}`);
  }
  const before = mine.find((claim) => claim.starId < star.id && stoodAt(claim, star.at));
  if (before !== undefined) {
    const for_ = before.wallet === star.wallet ? "this wallet" : walletOf(before.wallet);
    return cells(
      no,
      html`it had counted for ${for_} by star ${starLink(before.starId)}, ${instant(timeOf(before.starId))}`,
    );
  }
  return cells(
    no,
    collection === "B"
      ? "one +5 is all that collection B adds"
      : "it counted elsewhere when this was decided",
  );
}

function stoodAt({ releasedAt }: SerialClaim, at: number): boolean {
  return releasedAt === null || releasedAt > at;
}

/** A star's instant, told by its id. */
function timeOf(starId: string): number {
  return Number.parseInt(starId.slice(0, 8) + starId.slice(9, 13), 16);
}
