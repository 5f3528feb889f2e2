import { setCounter } from "./counters.ts";
import { setClock } from "./page-clock.ts";

/** Elements that change in place; each has a name by which the fresh page's is found. */
const LIVING = ["data-votes", "data-carries", "data-star"] as const;

let reading: Promise<void> | undefined;
let isWanted = false;

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
    await readOnce().catch(() => undefined);
  }
}

async function readOnce(): Promise<void> {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const text = await response.text();
  if (isWanted) return;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const { now, wallet } = fresh.body.dataset;
  // Signed in or out elsewhere: the whole page is another.
  if (wallet !== document.body.dataset.wallet) return location.reload();
  setClock(Number(now));
  for (const place of fresh.querySelectorAll<HTMLElement>("[data-counter]")) {
    const { counter = "" } = place.dataset;
    setCounter(counter, Number(place.textContent?.replaceAll(",", "")));
  }
  for (const name of LIVING) replaceAll(fresh, name);
  document.dispatchEvent(new CustomEvent("reread"));
}

function replaceAll(fresh: Document, name: string): void {
  for (const old of document.querySelectorAll<HTMLElement>(`[${name}]`)) {
    // A star that is on its way stays as it is.
    if (old.dataset.pending !== undefined) continue;
    const selector = `[${name}="${CSS.escape(old.getAttribute(name) ?? "")}"]`;
    const next = fresh.querySelector(selector);
    if (next === null) continue;
    const pressed = next.getAttribute("aria-pressed");
    if (pressed !== null) old.setAttribute("aria-pressed", pressed);
    else if (old.innerHTML !== next.innerHTML) old.replaceChildren(...next.childNodes);
  }
}
