import { type Html, html, raw } from "../console/markup.ts";

const COLOURS: readonly (readonly [sky: string, sea: string, sun: string])[] = [
  ["#cfe3f5", "#2b6ca3", "#f2a93b"],
  ["#f7dccb", "#8c4a5e", "#e8743b"],
  ["#d8ecd9", "#2f7d63", "#d9a62e"],
  ["#e3dcf3", "#5b4a9c", "#d9689a"],
  ["#1f3350", "#4f86b8", "#f3e3b0"],
  ["#fbe9b8", "#c0703a", "#c93f3a"],
  ["#243b3a", "#57a293", "#f0b64c"],
  ["#dfe6ea", "#4a5f73", "#7fa7c4"],
];

/**
 * A drawn stand-in for an item's picture: sea and light, the same for the same item always. Pictures
 * of the catalogue lie on other hosts, which would learn who looks at what; the pages ask none.
 *
 * @param key `<type>/<id>`
 */
export function standIn(key: string): Html {
  const seed = hashOf(key);
  const pick = (shift: number, choices: number): number => (seed >>> shift) % choices;
  const lift = 1 + pick(3, 4) * 0.5;
  const wave = (top: number): string => `M-${pick(7, 4)} ${top}q2-${lift} 4 0t4 0t4 0t4 0V8H-4z`;
  const [sky, sea, sun] = COLOURS[pick(23, COLOURS.length)] ?? [];
  const light = `<circle fill="${sun}" cx="${2 + pick(11, 5)}" cy="${1.5 + pick(15, 3) * 0.5}" r="${0.75 + pick(19, 4) * 0.25}"/>`;
  const waves = `<path d="${wave(4)}"/><path d="${wave(6)}"/>`;
  return html`<svg class="art" viewBox="0 0 8 8" width="48" height="48" fill="${sea}" aria-hidden="true" focusable="false"><rect width="8" height="8" fill="${sky}"/>${raw(light + waves)}</svg>`;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // Short keys differ in their ends alone: spread that over all bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
