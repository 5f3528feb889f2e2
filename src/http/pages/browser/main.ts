import "./receipt.ts";
import { say } from "./element.ts";
import { keepTime } from "./page-clock.ts";
import { followLive, reread } from "./reread.ts";
import { deadline, service } from "./service.ts";
import { signIn } from "./sign-in.ts";
import { nameOf, wakeStars } from "./stars.ts";

if ("error" in document.body.dataset) {
  // An error page has nothing that changes; reading it again would fail again.
  keepTime(
    () => location.reload(),
    () => undefined,
  );
} else {
  keepTime(() => void reread());
  followLive();
  // The browser may have kept it for hours, and its stream, which has it read again, may be refused.
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (visit?.type === "back_forward") void reread();
}
pressOnce();
wakeStars((star, why) => {
  keepWish(star);
  void signIn(why);
});
wakeButton("[data-sign-in]", () => {
  forgetWish();
  void signIn();
});
wakeButton("[data-sign-out]", () => void signOut());
showWish();

/**
 * A double click is one press, and so is a key that is held down: of a star, and of the sheet that it
 * opens, whose first button then has the focus.
 */
function pressOnce(): void {
  const skip = (event: MouseEvent): void => {
    if (event.detail > 1) event.stopPropagation();
  };
  addEventListener("click", skip, { capture: true });
  addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter") event.preventDefault();
  });
}

function wakeButton(selector: string, press: () => void): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>(selector)) {
    button.disabled = false;
    button.addEventListener("click", press);
  }
}

async function signOut(): Promise<void> {
  await service.signOut(deadline()).then(
    () => location.reload(),
    () => say("That was not answered, so you may still be signed in. Try again."),
  );
}

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
