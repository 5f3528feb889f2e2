import { mayRepeat, type Scope } from "../../../../actors/content.ts";
import { type Preview, StarboardError } from "../../../../packages/client/src/index.ts";
import { NO_VOTES, wouldCarry } from "../words.ts";
import { now } from "./page-clock.ts";
import { refusalSentence } from "./refusals.ts";
import { deadline, service, targetOf } from "./service.ts";

/** Asked one after another: each reads the wallet's NFTs on the ledger. */
let queue: Promise<unknown> = Promise.resolve();
/** By item; items where every star carries the whole power share one. */
const previews = new Map<string, Promise<Preview>>();
/** Items that the directory no longer has: what others share does not hold for them. */
const gone = new Set<string>();

const nameOf = (key: string, scope: Scope): string =>
  scope === "none" && !gone.has(key) ? "the whole power" : key;
const isNotFound = (error: unknown): boolean =>
  error instanceof StarboardError && error.code === "NOT_FOUND";

/** What a star would carry now; undefined while it is not known. */
const known = new Map<string, number>();

/** The weight that a star is expected to carry. */
export function expectedWeight(key: string, scope: Scope): number | undefined {
  return known.get(nameOf(key, scope));
}

/** Forgets what stars would carry: one was given, or a new day is here. @param key all when absent */
export function forgetPreviews(key?: string): void {
  if (key === undefined) {
    previews.clear();
    known.clear();
  } else {
    previews.delete(key);
    known.delete(key);
  }
}

function load(key: string, scope: Scope): Promise<Preview> {
  const name = nameOf(key, scope);
  const asked = previews.get(name);
  if (asked !== undefined) {
    return asked.catch((error) => {
      // The item that was asked for is gone, and says nothing of this one.
      if (isNotFound(error)) return load(key, scope);
      throw error;
    });
  }
  const preview = queue.then(() => service.preview(targetOf(key), deadline()));
  queue = preview.catch(() => undefined);
  previews.set(name, preview);
  preview.then(
    ({ weight }) => known.set(name, weight),
    (error) => {
      previews.delete(name);
      if (isNotFound(error)) gone.add(key);
    },
  );
  return preview;
}

/** What a star belongs to, as the server has drawn it. */
export function itemOf({ dataset }: HTMLElement): { readonly key: string; readonly scope: Scope } {
  return { key: dataset.star ?? "", scope: (dataset.scope ?? "none") as Scope };
}

/** Where it is said what an item's star would carry. */
export function carriesOf(key: string): Element | null {
  return document.querySelector(`[data-carries="${CSS.escape(key)}"]`);
}

/** Of what is out of reach for now, at the soonest. */
const AGAIN_AFTER_MS = 5_000;

/**
 * Says beside a star what it would carry, before it is pressed.
 *
 * @param given what is said of a star that was just given, where another one can be
 * @returns milliseconds after which to ask again; undefined where that would change nothing
 */
export async function showPreview(
  star: HTMLElement,
  given?: readonly (Node | string)[],
): Promise<number | undefined> {
  const { key, scope } = itemOf(star);
  const place = carriesOf(key);
  const isGiven = star.getAttribute("aria-pressed") === "true" && !mayRepeat(scope);
  if (place === null || isGiven) return undefined;
  if (given !== undefined) place.replaceChildren(...given);
  const before = place.innerHTML;
  const start = given === undefined ? "Would carry" : "Another would carry";
  let text: string;
  let waitSeconds: number | null = null;
  try {
    const preview = await load(key, scope);
    text = preview.allowance.remaining === 0 ? NO_VOTES : wouldCarry(preview, scope, start);
  } catch (error) {
    const isRefusal = error instanceof StarboardError;
    text = isRefusal ? refusalSentence(error, now()) : "";
    waitSeconds = isRefusal ? error.retryAfterSeconds : 0;
  }
  // What was written meanwhile is newer: that the star was given, or that there is no vote left.
  if (place.innerHTML === before) {
    if (given === undefined) place.textContent = text;
    // The keyboard's focus may be on the link that is given.
    else place.append(text);
  }
  return waitSeconds === null ? undefined : Math.max(AGAIN_AFTER_MS, waitSeconds * 1_000);
}
