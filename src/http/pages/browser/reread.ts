import { StarboardError } from "../../../../packages/client/src/index.ts";
import { nameLocalTimes, setClock } from "./page-clock.ts";
import { deadline, service } from "./service.ts";
import { dayOf, setCounter, wasSetSince } from "./votes.ts";

/** Elements that change in place; each has a name by which the fresh page's is found. */
const LIVING = ["data-votes", "data-premium", "data-carries", "data-star", "data-stars"] as const;

/** After a failure: at 00:00 UTC every open page is read, and the service may refuse some. */
const AGAIN_AFTER_MS = { first: 2_000, most: 30_000, factor: 2 };

let reading: Promise<void> | undefined;
let isWanted = false;
let again: ReturnType<typeof setTimeout> | undefined;
let waitMs = AGAIN_AFTER_MS.first;

/**
 * Reads this page again and shows what has changed of counters, votes and stars: the service
 * draws a page in one way, first and later.
 */
export function reread(): Promise<void> {
  isWanted = true;
  reading ??= readWhileWanted().finally(() => {
    reading = undefined;
  });
  return reading;
}

/** Something has changed on this page: what is being read may have been drawn before it. */
export function outdateReread(): void {
  isWanted = reading !== undefined;
}

/** Runs once more where it was asked for while it ran: what changed since may be newer. */
async function readWhileWanted(): Promise<void> {
  while (isWanted) {
    isWanted = false;
    clearTimeout(again);
    try {
      await readOnce();
      waitMs = AGAIN_AFTER_MS.first;
    } catch (error) {
      readLater(error);
    }
  }
}

function readLater(error: unknown): void {
  const askedMs = error instanceof StarboardError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  again = setTimeout(
    () => {
      // A hidden page is read when it is seen again.
      if (document.visibilityState === "visible") void reread();
    },
    Math.max(waitMs, askedMs),
  );
  waitMs = Math.min(AGAIN_AFTER_MS.most, waitMs * AGAIN_AFTER_MS.factor);
}

async function readOnce(): Promise<void> {
  const askedAt = performance.now();
  // On a page to which one goes back a browser may answer what is asked at first from its cache.
  const anew = { headers: { Accept: "text/html" }, cache: "no-cache" } as const;
  const response = await fetch(location.href, { ...anew, ...deadline() });
  if (response.status === 429 || response.status >= 500) throw new StarboardError(response, {});
  if (!response.ok) return;
  const text = await response.text();
  if (isWanted) return;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  nameLocalTimes(fresh);
  const { now, wallet } = fresh.body.dataset;
  // Signed in or out elsewhere: the whole page is another.
  if (wallet !== document.body.dataset.wallet) return reload();
  const today = new Date(Number(now)).toISOString().slice(0, 10);
  const isNewDay = setClock(Number(now));
  const isOver: IsOver = (day) => (day === undefined ? isNewDay : day < today);
  for (const old of document.querySelectorAll<HTMLElement>("[data-counter]")) {
    const { counter = "" } = old.dataset;
    const star = starOf(counter);
    if (star?.dataset.pending !== undefined) {
      // It is on its way, and the reply says more; where it is refused the page is read once more.
      star.dataset.pending = "passed over";
      continue;
    }
    // A late reading finds stars of the new day that the live stream has brought.
    const begins = !counter.startsWith("event/") && isOver(dayOf(counter)) ? "0" : undefined;
    const shown = sameIn(fresh, old, "data-counter")?.textContent ?? begins;
    // What the live stream brought meanwhile may be newer.
    if (shown !== undefined && !wasSetSince(counter, askedAt))
      setCounter(counter, Number(shown.replaceAll(",", "")));
  }
  for (const name of LIVING) replaceAll(fresh, name, isOver);
  document.dispatchEvent(new CustomEvent("reread"));
}

/** A sign-in under way would be lost: first its sheet is closed. */
function reload(): void {
  const sheet = document.querySelector("dialog");
  if (sheet === null) location.reload();
  else sheet.addEventListener("close", () => location.reload(), { once: true });
}

const sameIn = (fresh: Document, old: Element, name: string): Element | null =>
  fresh.querySelector(`[${name}="${CSS.escape(old.getAttribute(name) ?? "")}"]`);

const starOf = (key: string): HTMLElement | null =>
  document.querySelector(`[data-star="${CSS.escape(key)}"]`);

/** Whether a UTC day is over; of what is of a day that was not said, whether one has ended since. */
type IsOver = (day: string | undefined) => boolean;

/**
 * Of an item that is listed no longer nothing is known, but that it begins a new day as all do, unless its
 * star was given on it.
 */
function replaceAll(fresh: Document, name: string, isOver: IsOver): void {
  for (const old of document.querySelectorAll<HTMLElement>(`[${name}]`)) {
    // A star that is on its way stays as it is.
    if (old.dataset.pending !== undefined) continue;
    const next = sameIn(fresh, old, name);
    const { given } = starOf(old.getAttribute(name) ?? "")?.dataset ?? {};
    if (next === null && !isOver(given)) continue;
    if (old.hasAttribute("aria-pressed"))
      old.setAttribute("aria-pressed", next?.getAttribute("aria-pressed") ?? "false");
    else if (old.innerHTML !== (next?.innerHTML ?? "")) replaceContent(old, next);
  }
}

/** The keyboard's focus goes on at the same link, at the item's star, or at the part's first link. */
function replaceContent(old: HTMLElement, next: Element | null): void {
  const { activeElement } = document;
  const isWithin = old !== activeElement && old.contains(activeElement);
  const href = activeElement?.getAttribute("href") ?? "";
  const same = () => [...old.querySelectorAll<HTMLElement>(`[href="${CSS.escape(href)}"]`)];
  // Several stars may be of one item; newer ones stand above.
  const fromEnd = same().indexOf(activeElement as HTMLElement) - same().length;
  old.replaceChildren(...(next?.childNodes ?? []));
  if (!isWithin) return;
  const link = same().at(fromEnd);
  const star = old.closest(".item")?.querySelector<HTMLElement>("[data-star]");
  // Who has scrolled elsewhere stays there.
  (link ?? star ?? old.querySelector("a"))?.focus({ preventScroll: true });
}

/** After a refusal that the client does not wait out. */
const FOLLOW_AGAIN_AFTER_MS = 5_000;

/**
 * Follows the counters as they change, while the page is seen. A page that comes back, and one
 * whose stream begins, is read again: between its drawing and the stream something may have
 * happened.
 */
export function followLive(): void {
  let leaving: AbortController | undefined;
  const close = (): void => {
    leaving?.abort();
    leaving = undefined;
  };
  const look = (): void => {
    if (document.visibilityState === "hidden") close();
    else if (leaving === undefined) {
      leaving = new AbortController();
      void follow(leaving.signal);
    }
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", look);
  look();
}

async function follow(signal: AbortSignal): Promise<void> {
  // A resumed stream sends what was missed.
  const onOpen = (isResumed: boolean): void => {
    if (!isResumed) void reread();
  };
  while (!signal.aborted) {
    try {
      for await (const { event, data } of service.live({ signal, onOpen })) {
        if (event === "counter") setCounter(`${data.type}/${data.id}`, data.totalVotes, data.day);
        else void reread();
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_AGAIN_AFTER_MS));
    }
  }
}
