import { say } from "./said.ts";
import { nameOf } from "./stars.ts";

/**
 * The star that somebody wanted to give before they were signed in. It stays with this entry of the
 * history, which outlives the reload that follows, and nothing else.
 */
export function keepWish(star: HTMLButtonElement): void {
  history.replaceState({ star: star.dataset.star }, "");
}

export function forgetWish(): void {
  history.replaceState(null, "");
}

/** Leads back to that star, once: what it would carry is said beside it before it is given. */
export function showWish(): void {
  const { star: key } = (history.state ?? {}) as { star?: string };
  if (key === undefined || document.body.dataset.wallet === "") return;
  forgetWish();
  const star = document.querySelector<HTMLElement>(`[data-star="${CSS.escape(key)}"]`);
  if (star === null) return;
  // The browser would scroll to where the shorter page, before the reload, was left.
  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => {
    history.scrollRestoration = "auto";
  });
  star.focus();
  star.scrollIntoView({ block: "nearest" });
  if (star.getAttribute("aria-pressed") === "false")
    say(`You are signed in. Press the star once more to give it to ${nameOf(star)}.`);
}
