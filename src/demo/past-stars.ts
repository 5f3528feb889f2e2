import type { EventKind } from "../../actors/content.ts";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { votingPower } from "../../actors/weight.ts";
import type { demoDirectory } from "../local/demo-directory.ts";
import type { DemoLedger } from "../local/demo-ledger.ts";
import type { MessageStar } from "../publishing/message.ts";

/** How many days of stars lie behind a demo that starts for the first time. */
export const PAST_DAYS = 6;
/** This voter stars this mint, and sells an NFT that counted there: see `first-start.ts`. */
export const SELLER = 1;
export const SOLD_ON = "open-sea-forever";

/** The newest past star is older than any reading that judges it. */
const SETTLED_AFTER_MS = 120_000;
const STARS_A_DAY_MAX = 4;
const SECONDS_A_DAY = DAY_MS / 1_000;

interface Past {
  readonly voters: DemoLedger["voters"];
  readonly holdingsOf: (wallet: string) => MessageStar["holdings"];
  /** The more popular ones first. */
  readonly targets: readonly MessageStar["target"][];
  readonly now: number;
}

/**
 * What a demo finds on its ledger at its first start: stars of its voters over the last days and of
 * today so far, in their order. Each is one that the rules allow: the wallet has the NFTs, votes are
 * left, and no item is starred twice a day.
 */
export function pastStars(past: Past): readonly MessageStar[] {
  const { voters, now } = past;
  const today = startOfDay(dayOf(now));
  return Array.from({ length: PAST_DAYS + 1 }, (_, days) => today - days * DAY_MS)
    .flatMap((from) => voters.flatMap((_, voter) => starsOf(past, voter, from)))
    .filter(({ at }) => at < now - SETTLED_AFTER_MS)
    .sort((one, other) => one.at - other.at);
}

/** Everything in the demo's directory that can be starred, kinds mixed. */
export function demoTargets({
  events,
  tokens,
  collections,
  projects,
}: ReturnType<typeof demoDirectory>): readonly MessageStar["target"][] {
  const plain = { eventKind: null, ledgerId: null };
  const lists: (readonly MessageStar["target"][])[] = [
    tokens.map(({ id }) => ({ type: "token", id, ...plain })),
    events.map(({ id, eventType, isForeverMint }) => {
      const eventKind = (isForeverMint ? "FOREVER_MINT" : eventType) as EventKind;
      return { type: "event", id, eventKind, ledgerId: null };
    }),
    projects.map(({ id }) => ({ type: "project", id, ...plain })),
    collections.map(({ id }) => ({ type: "collection", id, ...plain })),
  ];
  const rounds = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    lists.flatMap((list) => list.slice(round, round + 1)),
  ).flat();
}

/** The stars of one voter on the day that begins `from`. */
function starsOf(
  { voters, holdingsOf, targets, now }: Past,
  voter: number,
  from: number,
): MessageStar[] {
  const wallet = voters[voter]?.id ?? "";
  const random = randomFrom(from / DAY_MS + voter * 7_919);
  const chosen = new Set<MessageStar["target"]>();
  const isSale = voter === SELLER && from === startOfDay(dayOf(now)) - 2 * DAY_MS;
  const sold = targets.find(({ id }) => id === SOLD_ON);
  if (isSale && sold !== undefined) chosen.add(sold);
  const count = 1 + Math.floor(random() * STARS_A_DAY_MAX);
  // The square makes the first of the list the popular ones.
  for (let n = 0; n < count; n += 1) {
    const target = targets[Math.floor(random() ** 2 * targets.length)];
    if (target !== undefined) chosen.add(target);
  }
  const holdings = holdingsOf(wallet);
  return [...chosen].map((target, index) => ({
    wallet,
    // Each in its part of the day, on a millisecond of its voter: no two stars share an instant.
    at:
      from +
      Math.floor(((index + random()) * SECONDS_A_DAY) / (STARS_A_DAY_MAX + 2)) * 1_000 +
      voter,
    target,
    votingPower: votingPower({ ...holdings, readAt: from }, rulesOn(dayOf(from))),
    holdings,
  }));
}

/** Numbers from 0 to below 1, always the same for a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
