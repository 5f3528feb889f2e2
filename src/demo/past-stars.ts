import type { EventKind } from "../../actors/content.ts";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { votingPower } from "../../actors/weight.ts";
import { newStarId } from "../journal/star-id.ts";
import type { demoDirectory } from "../local/demo-directory.ts";
import type { DemoLedger } from "../local/demo-ledger.ts";
import type { PastMessage, SerialsOf } from "../local/demo-past.ts";
import { type CollectionKeys, type MessageStar, starMessage } from "../publishing/message.ts";

/** How many days of stars lie behind a demo that starts for the first time. */
export const PAST_DAYS = 6;
/** This voter stars this mint, and sells an NFT that counted there: see `first-start.ts`. */
export const SELLER = 1;
export const SOLD_ON = "open-sea-forever";

const CONSENSUS_AFTER_MS = 2_200;
/** The newest past star is older than any reading that judges it. */
const SETTLED_AFTER_MS = 120_000;
const STARS_A_DAY_MAX = 4;
const SECONDS_A_DAY = DAY_MS / 1_000;

/**
 * What the topics of a demo ledger hold at its first start: stars of its voters over the last
 * days and of today so far. Each is one that the rules allow: the wallet has the NFTs, votes are
 * left, and no item is starred twice a day.
 *
 * @param given.targets the more popular ones first
 * @param given.now epoch milliseconds
 */
export function pastStars(given: {
  readonly demo: DemoLedger;
  readonly serialsOf: SerialsOf;
  readonly targets: readonly MessageStar["target"][];
  readonly keys: CollectionKeys;
  readonly now: number;
}): readonly PastMessage[] {
  const { demo, keys, now } = given;
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const stars = Array.from({ length: PAST_DAYS + 1 }, (_, days) => today - days * DAY_MS)
    .flatMap((from) => demo.voters.flatMap((_, voter) => starsOf(given, voter, from)))
    .filter(({ at }) => at < now - SETTLED_AFTER_MS)
    .sort((one, other) => one.at - other.at);
  return stars.map((star) => ({
    topic: star.target.type === "event" ? demo.eventTopic : demo.assetTopic,
    consensusAt: star.at + CONSENSUS_AFTER_MS,
    text: starMessage(star, keys),
    memo: newStarId(star.at),
  }));
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
  { demo, serialsOf, targets, now }: Parameters<typeof pastStars>[0],
  voter: number,
  from: number,
): MessageStar[] {
  const wallet = demo.voters[voter]?.id ?? "";
  const random = randomFrom(from / DAY_MS + voter * 7_919);
  const chosen = new Set<MessageStar["target"]>();
  const isSale = voter === SELLER && from === Math.floor(now / DAY_MS) * DAY_MS - 2 * DAY_MS;
  const sold = targets.find(({ id }) => id === SOLD_ON);
  if (isSale && sold !== undefined) chosen.add(sold);
  const count = 1 + Math.floor(random() * STARS_A_DAY_MAX);
  // The square makes the first of the list the popular ones.
  for (let n = 0; n < count; n += 1) {
    const target = targets[Math.floor(random() ** 2 * targets.length)];
    if (target !== undefined) chosen.add(target);
  }
  const { a: collectionA, b: collectionB } = serialsOf(wallet);
  const holdings = { collectionA, collectionB };
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
