import { followLive } from "./live.ts";
import { keepTime } from "./page-clock.ts";
import { reread } from "./reread.ts";
import { say } from "./said.ts";
import { service } from "./service.ts";
import { wakeStars } from "./stars.ts";

/** What every page does: its time, its counters, its stars. The rest is loaded where it is needed. */
keepTime(() => void reread());
followLive({ reread: () => void reread() });
wakeStars(openSignIn);
wakeButton("[data-sign-in]", openSignIn);
wakeButton("[data-sign-out]", () => void signOut());
if (document.querySelector("[data-journey]") !== null) void import("./receipt.ts");

function wakeButton(selector: string, press: () => void): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>(selector)) {
    button.disabled = false;
    button.addEventListener("click", press);
  }
}

function openSignIn(): void {
  void import("./sign-in.ts").then(({ signIn }) => signIn());
}

async function signOut(): Promise<void> {
  await service.signOut().then(
    () => location.reload(),
    () => say("That was not answered, so you may still be signed in. Try again."),
  );
}
