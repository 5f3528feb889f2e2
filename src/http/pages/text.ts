import { type Content, type Html, html } from "../console/markup.ts";

/** Characters that turn the direction of what follows, and controls: no name needs them. */
const TURNS = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/gu;

/** A name where no markup can isolate it: in titles and in labels. */
export function plainName(text: string): string {
  return text.replace(TURNS, "");
}

/** A name in a sentence or list, of either direction: what stands beside it keeps its own. */
export function name(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Running text of others, its paragraphs kept. */
export function paragraphs(text: string): Content {
  const parts = text.split(/\n\s*\n/).filter((part) => part.trim() !== "");
  return parts.map((part) => html`<p dir="auto">${part}</p>`);
}

/** A link to a page of others; text alone where the address is none to follow. */
export function outwards(url: string | null, text: string): Content {
  const isWeb = url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) return name(text);
  return html`<a href="${url}" rel="noopener noreferrer nofollow external">${name(text)}</a>`;
}

const DAYS = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const TIMES = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** `20 Nov 2026, 08:00 UTC`; with the visitor's own time in its title once a script has run. */
export function time(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${dayText(at)}, ${TIMES.format(at)} UTC</time>`;
}

/** `20 Nov 2026` */
export function dayText(at: number): string {
  return DAYS.format(at);
}

/** US dollars as markets write them: `$0.0123`, `$0.20`, `$1.23M`. */
export function dollars(value: number): string {
  // Below 1 four digits that say something, and the cents; Node 20 writes no more than 20 places.
  const places = Math.min(20, Math.max(2, 3 - Math.floor(Math.log10(value || 1))));
  return value.toLocaleString("en", {
    style: "currency",
    currency: "USD",
    maximumFractionDigits: value < 1 ? places : 2,
    ...(value >= 1_000_000 && { notation: "compact" }),
  });
}

/** `INFRASTRUCTURE` as people read it. */
export function categoryText(category: string): string {
  const short = category === "DEFI" ? "DeFi" : category === "NFT" ? "NFT" : undefined;
  return short ?? category.charAt(0) + category.slice(1).toLowerCase();
}

const COUNTRIES = new Intl.DisplayNames("en", { type: "region", fallback: "code" });

/** `PT` → `Portugal`; letters that are no country stay as they are. */
export function countryText(code: string): string {
  return COUNTRIES.of(code) ?? code;
}
