import { nextMidnight, timeLeft } from "../words.ts";

/** The service's clock, as the page was drawn by it, moved on by this machine's monotonic timer. */
let drawnAt = Number(document.body.dataset.now);
let drawnWhen = performance.now();

/** Epoch milliseconds by the service's clock, not by this machine's. */
export function now(): number {
  return drawnAt + performance.now() - drawnWhen;
}

/**
 * Follows the clock of a page that was drawn just now.
 *
 * @param at its `data-now`
 * @returns whether it is of another UTC day than the page shows
 */
export function setClock(at: number): boolean {
  const isNewDay = nextMidnight(at) !== nextMidnight(drawnAt);
  drawnAt = at;
  drawnWhen = performance.now();
  return isNewDay;
}

/** Whether the page shows today: it may have been drawn before 00:00 UTC, and not been read since. */
export function showsToday(): boolean {
  return nextMidnight(drawnAt) === nextMidnight(now());
}

/** How far this machine's clock is ahead of that timer, which stands still while the machine sleeps. */
let ahead = Date.now() - performance.now();
/** A countdown in minutes shows it. */
const SLEPT_MS = 10_000;

/** Whether this machine has slept since this was last asked: then `now` is behind. */
function hasSlept(): boolean {
  const before = ahead;
  ahead = Date.now() - performance.now();
  return ahead - before > SLEPT_MS;
}

/** Often enough for a countdown in minutes. */
const LOOK_EVERY_MS = 5_000;
/** The service's clock may be a little behind: asked too early it would show what ends. */
const TURN_SLACK_MS = 400;

/** When there are other votes: at 00:00 UTC, or when the pass that the page shows ends. */
function nextTurn(): number {
  const pass = document.querySelector<HTMLTimeElement>("[data-premium] time");
  const end = Date.parse(pass?.dateTime ?? "");
  return Math.min(nextMidnight(now()), end > now() ? end : Number.POSITIVE_INFINITY);
}

/**
 * Keeps the countdown true, and says when there are other votes.
 *
 * @param turn runs after each 00:00 UTC, and after the end of a pass
 * @param wake runs after a sleep of this machine, which leaves `now` behind until the page is read; `turn` when absent
 */
export function keepTime(turn: () => void, wake = turn): void {
  const countdown = document.querySelector("[data-countdown]");
  const local = document.querySelector("[data-local]");
  let turnAt = nextTurn();
  const show = (): void => {
    const midnight = nextMidnight(now());
    const text = timeLeft(midnight - now());
    if (countdown !== null && countdown.textContent !== text) countdown.textContent = text;
    if (local !== null) local.textContent = localTime(midnight);
  };
  const look = (): void => {
    if (hasSlept()) wake();
    if (now() >= turnAt + TURN_SLACK_MS) {
      turnAt = nextTurn();
      turn();
    }
    // A page that was read again may show another pass.
    else turnAt = Math.min(turnAt, nextTurn());
    show();
    // Never later than the turn itself; a machine that slept looks when it wakes.
    const untilTurn = turnAt + TURN_SLACK_MS - now();
    setTimeout(look, Math.max(50, Math.min(LOOK_EVERY_MS, untilTurn)));
  };
  look();
  nameLocalTimes(document);
}

/** Each time's own title says it in the visitor's zone. */
export function nameLocalTimes(shown: Document): void {
  for (const time of shown.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    time.title = new Date(time.dateTime).toLocaleString([], { timeZoneName: "short" });
  }
}

/** `02:00 your time (Europe/Berlin)` */
export function localTime(at: number): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const text = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }).format(at);
  return `${text} your time (${zone})`;
}
