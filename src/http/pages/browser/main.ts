import "./receipt.ts";
import { followLive } from "./live.ts";
import { keepTime } from "./page-clock.ts";
import { reread } from "./reread.ts";
import { say } from "./said.ts";
import { deadline, service } from "./service.ts";
import { signIn } from "./sign-in.ts";
import { wakeStars } from "./stars.ts";
import { forgetWish, keepWish, showWish } from "./wish.ts";

/** What every page does: its time, its counters, its stars. */
if ("error" in document.body.dataset) {
  // An error page has nothing that changes; reading it again would fail again.
  keepTime(
    () => location.reload(),
    () => undefined,
  );
} else {
  keepTime(() => void reread());
  followLive();
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
