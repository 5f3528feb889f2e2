import { nextMidnight, votesLeft } from "../words.ts";
import { now } from "./page-clock.ts";

interface Told {
  readonly remaining: number;
  readonly limit: number;
}

interface Votes extends Told {
  /** The 00:00 UTC at which there are new ones, epoch milliseconds. */
  readonly until: number;
}

/** Stars that the page shows as given, and that the service has not answered yet. */
let pending = 0;
let told: Votes | undefined;

const places = (): NodeListOf<Element> => document.querySelectorAll("[data-votes]");

/** Takes what the service has just drawn. */
export function readVotes(): void {
  const [, remaining, limit] = /^(\d+) of (\d+) /.exec(places()[0]?.textContent ?? "") ?? [];
  if (remaining === undefined) return;
  take({ remaining: Number(remaining), limit: Number(limit), until: nextMidnight(now()) });
}

/** As if a vote were spent already. @returns to be called when it is answered, however it is */
export function spendVote(): () => void {
  pending += 1;
  show();
  return () => {
    pending -= 1;
    show();
  };
}

/** Takes what a star's reply says. */
export function setVotes({ remaining, limit, resetsAt }: Told & { resetsAt: string }): void {
  take({ remaining, limit, until: Date.parse(resetsAt) });
}

/** Replies may overtake each other: of one day's, that with fewer votes is the later one. */
function take(votes: Votes): void {
  const { until, limit, remaining } = votes;
  if (until <= now()) return;
  const isOlder = told?.until === until && told.limit === limit && told.remaining < remaining;
  if (!isOlder) told = votes;
  show();
}

function show(): void {
  if (told === undefined) return;
  const { remaining, limit } = told;
  const text = votesLeft({ remaining: Math.max(0, remaining - pending), limit });
  for (const place of places()) if (place.textContent !== text) place.textContent = text;
}
