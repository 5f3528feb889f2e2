import { type Allowance, allowanceOf } from "../../actors/allowance.ts";
import { instant } from "../../actors/day.ts";
import type { StarRecord } from "../journal/star-record.ts";
import { NOT_SUBMITTED, type StarReceipt } from "../reads/receipts.ts";

/** A Star as clients see it (contract, section 3): instants in RFC 3339. */
export function starBody(receipt: StarReceipt) {
  const { id, wallet, target, at, day, votingPower, weight, breakdown, holdings, publication } =
    receipt;
  return {
    id,
    wallet,
    target: { type: target.type, id: target.id },
    at: instant(at),
    day,
    votingPower,
    weight,
    breakdown,
    holdings,
    publication,
  };
}

/** An allowance as clients see it. */
export function allowanceBody({ limit, used, remaining, resetsAt }: Allowance) {
  return { limit, used, remaining, resetsAt: instant(resetsAt) };
}

/** The reply to an accepted star, in two halves: the counter is known only after the commit. */
export interface ReplyHalves {
  readonly replyHead: string;
  readonly replyTail: string;
}

const COUNTER_PLACE = '"totalVotes":0}';

/**
 * `{ star, counter, allowance }` as JSON, split where the counter stands. The journal puts
 * the counter between the halves and keeps the text, so that a repeated request gets the
 * first body byte for byte.
 */
export function starReply(star: StarRecord): ReplyHalves {
  const receipt: StarReceipt = {
    publication: NOT_SUBMITTED,
    ...star,
    holdings: {
      collectionA: star.holdings.collectionA.length,
      collectionB: star.holdings.collectionB.length,
    },
  };
  const text = JSON.stringify({
    star: starBody(receipt),
    allowance: allowanceBody(allowanceOf(star.day, star.limit, star.slot)),
    counter: { totalVotes: 0 },
  });
  const place = text.lastIndexOf(COUNTER_PLACE) + COUNTER_PLACE.length - "0}".length;
  return { replyHead: text.slice(0, place), replyTail: text.slice(place + 1) };
}

/** The whole reply, as the journal puts it together too. */
export function completeReply({ replyHead, replyTail }: ReplyHalves, totalVotes: number): string {
  return `${replyHead}${totalVotes}${replyTail}`;
}
