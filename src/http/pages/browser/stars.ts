import { mayRepeat } from "../../../../actors/content.ts";
import {
  mayStand,
  newIdempotencyKey,
  StarboardError,
  type StarReply,
} from "../../../../packages/client/src/index.ts";
import { carried, NO_VOTES, nextMidnight, votesLeft } from "../words.ts";
import { element, say } from "./element.ts";
import { now, showsToday } from "./page-clock.ts";
import { carriesOf, expectedWeight, forgetPreviews, itemOf, showPreview } from "./previews.ts";
import { openSentence, refusalSentence } from "./refusals.ts";
import { outdateReread, reread } from "./reread.ts";
import { deadline, service, targetOf } from "./service.ts";
import {
  counterOf,
  expectCounter,
  readVotes,
  setCounter,
  setVotes,
  spendVote,
  wasSetSince,
} from "./votes.ts";

const isSignedIn = (): boolean => document.body.dataset.wallet !== "";
const starsOnPage = (): NodeListOf<HTMLButtonElement> =>
  document.querySelectorAll<HTMLButtonElement>("[data-star]");

/** Asks for a wallet, because of a star that somebody wants to give. @param why they are asked */
export type AskForWallet = (star: HTMLButtonElement, why?: string) => void;

/** Lets stars be pressed, and says what each would carry once it is in sight. */
export function wakeStars(askForWallet: AskForWallet): void {
  for (const star of starsOnPage()) {
    star.disabled = false;
    star.addEventListener("click", () => {
      if (isSignedIn()) void press(star, askForWallet);
      else askForWallet(star);
    });
  }
  if (!isSignedIn()) return;
  readVotes();
  lookAhead();
  document.addEventListener("reread", () => {
    readVotes();
    forgetPreviews();
    lookAhead();
  });
}

let watching: IntersectionObserver | undefined;

/** In a long list, asks only for the previews of stars in sight. */
function lookAhead(): void {
  watching?.disconnect();
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      void showPreview(target as HTMLElement).then((againMs) => {
        if (againMs === undefined) return;
        setTimeout(() => watching === watch && watch.observe(target), againMs);
      });
    }
  });
  watching = watch;
  for (const star of starsOnPage()) watch.observe(star);
}

/**
 * Idempotency keys of stars that may stand though this page does not know it: an answer was lost. A
 * second press on the same day sends the same key.
 */
const keys = new Map<string, string>();

/** Shows the star as given at once, and then what the service answers. */
async function press(star: HTMLButtonElement, askForWallet: AskForWallet): Promise<void> {
  const { key, scope } = itemOf(star);
  if (star.dataset.pending !== undefined) return;
  const wasGiven = star.getAttribute("aria-pressed") === "true";
  if (wasGiven && !mayRepeat(scope) && showsToday()) {
    const resetsAt = new Date(nextMidnight(now())).toISOString();
    return say(refusalSentence({ code: "ALREADY_STARRED", resetsAt }, now()));
  }
  const pressedAt = performance.now();
  const before = counterOf(key);
  star.dataset.pending = "";
  star.setAttribute("aria-pressed", "true");
  star.classList.add("just-given");
  const weight = expectedWeight(key, scope) ?? 0;
  if (before !== undefined) expectCounter(key, before + weight);
  const endVote = spendVote();
  const midnight = nextMidnight(now());
  const attempt = `${midnight} ${key}`;
  const idempotencyKey = keys.get(attempt) ?? newIdempotencyKey();
  let isDoubtful = false;
  try {
    const reply = await service.star(targetOf(key), { idempotencyKey, ...deadline() });
    outdateReread();
    keys.delete(attempt);
    star.dataset.given = reply.star.day;
    if (!wasSetSince(key, pressedAt)) setCounter(key, reply.counter.totalVotes, reply.star.day);
    confirm(star, reply);
    // Another wallet was signed in elsewhere: the page is that wallet's now.
    isDoubtful = reply.star.wallet !== document.body.dataset.wallet;
  } catch (error) {
    const refusal = error instanceof StarboardError ? error : { code: null };
    const { code } = refusal;
    star.setAttribute("aria-pressed", String(wasGiven || code === "ALREADY_STARRED"));
    if (before !== undefined && !wasSetSince(key, pressedAt)) expectCounter(key, before);
    isDoubtful = star.dataset.pending !== "";
    const isOpen = mayStand(error, keys.has(attempt));
    if (isOpen) keys.set(attempt, idempotencyKey);
    if (code === "INVALID_SESSION" || code === "MISSING_SESSION")
      return askForWallet(star, refusalSentence(refusal, now()));
    say(isOpen ? openSentence(refusal) : refusalSentence(refusal, now()));
    // The star may stand, or the wallet has voted elsewhere meanwhile.
    isDoubtful ||= isOpen || code === "ALREADY_STARRED" || code === "ALLOWANCE_EXHAUSTED";
  } finally {
    endVote();
    delete star.dataset.pending;
    star.classList.remove("just-given");
    // A page that turned to a new day meanwhile has left this star as it was.
    if (isDoubtful || midnight !== nextMidnight(now())) void reread();
  }
}

/** What a star is for, by its label: `Star <name>`. */
export function nameOf(star: Element): string {
  return (star.getAttribute("aria-label") ?? "").replace(/^Star /, "");
}

/** The confirmation says the weight that the star carried. */
function confirm(star: HTMLButtonElement, { star: given, allowance }: StarReply): void {
  const { key, scope } = itemOf(star);
  forgetPreviews(key);
  setVotes(allowance);
  say(`Your star for ${nameOf(star)} carried ${given.weight}. ${votesLeft(allowance)}.`);
  const receipt = element("a", { href: `/stars/${given.id}`, textContent: "Receipt" });
  if (mayRepeat(scope))
    void showPreview(star, [`Your star carried ${given.weight}. `, receipt, " "]);
  else carriesOf(key)?.replaceChildren(`${carried(given.weight)} `, receipt);
  if (allowance.remaining === 0) sayNoVotes(star);
}

/** All other stars say that there is no vote left, those that are not in sight yet too. */
function sayNoVotes(last: HTMLButtonElement): void {
  forgetPreviews();
  for (const star of starsOnPage()) {
    const { key, scope } = itemOf(star);
    const isGiven = star.getAttribute("aria-pressed") === "true" && !mayRepeat(scope);
    if (isGiven || star === last) continue;
    const place = carriesOf(key);
    if (place !== null) place.textContent = NO_VOTES;
  }
}
