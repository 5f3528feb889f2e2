import { dayOf } from "../../actors/day.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { msOf } from "../ledger/transaction-id.ts";
import { parseStarMessage, type StarMessage } from "../publishing/message.ts";
import type { AuditState, Judge } from "./audit-state.ts";
import { countWeight, isSettled } from "./counters.ts";
import { enterMessage, enterStar, itemOf, judgeInstant, openDayBook } from "./day-book.ts";
import { knownMatter } from "./known-messages.ts";
import { judgeCounts, judgeVotingPower } from "./rebuild-weights.ts";
import { addKnown, addMismatches, addVerdict, type Mismatch, type Place } from "./report.ts";
import { score } from "./season-board.ts";
import { followLink, textOf } from "./topic-chain.ts";

/**
 * Judges one message, the next of its topic, and remembers what of it later ones are judged by.
 * A message that is no star is reported and never counts.
 */
export function judgeMessage(judge: Judge, state: AuditState, message: MirrorTopicMessage): void {
  const { topicId: topic, sequenceNumber, bytes } = message;
  state.checked.messages += 1;
  const chain = state.chains.find((each) => each.topic === topic);
  if (chain !== undefined) addMismatches(state.findings, followLink(chain, message));
  const place = { topic, sequenceNumber, message: textOf(bytes) };
  const star = starOf(judge, message);
  if (star === undefined) {
    const expected = `a star message of ${judge.kinds.get(topic)}, in one piece`;
    addMismatches(state.findings, [{ ...place, kind: "foreign", expected, found: place.message }]);
    return;
  }
  const matter = knownMatter(judge.known, message);
  if (matter !== undefined) {
    addKnown(state.findings, matter);
    return;
  }
  const isJudged = judge.day === null || dayOf(star.timestamp) === judge.day;
  const isCounted = isJudged ? judgeStarMessage(judge, state, { star, message, place }) : true;
  if (isCounted) countStar(judge, state, { star, message, place });
}

function starOf(
  { kinds, keys }: Judge,
  { topicId, bytes, chunk }: MirrorTopicMessage,
): StarMessage | undefined {
  const star = parseStarMessage(bytes, keys);
  const isWhole = chunk === null || chunk.total === 1;
  return isWhole && star?.type === kinds.get(topicId) ? star : undefined;
}

function countStar({ reading }: Judge, state: AuditState, { star, place }: Judged): void {
  const at = star.timestamp;
  const settled = isSettled(reading, place.topic, place.sequenceNumber);
  // The weights of event stars are found out when their day is over.
  const weight = star.type === "asset_vote" ? star.votingPower : 0;
  const scored = { wallet: star.wallet, at, stars: 1, weight, isSettled: settled } as const;
  score(state.accounts.board, scored, reading);
  if (star.type !== "asset_vote") return;
  const { until } = reading;
  countWeight(state.counters, { item: itemOf(star), at, weight }, { isSettled: settled, until });
}

interface Judged {
  readonly star: StarMessage;
  readonly message: MirrorTopicMessage;
  readonly place: Place;
}

/** @returns whether the star counts: one that is there twice counts once */
function judgeStarMessage(
  judge: Judge,
  state: AuditState,
  { star, message, place }: Judged,
): boolean {
  const { findings } = state;
  const at = star.timestamp;
  const consensusMs = msOf(message.consensusTimestamp);
  addMismatches(findings, judgeInstant({ at, consensusMs, lateMs: judge.lateMs }, place));
  if (state.wallets.get(star.wallet) === false) {
    const expected = "an account of the ledger";
    addMismatches(findings, [{ ...place, kind: "unknown-wallet", expected, found: star.wallet }]);
  }
  const isTwice = enterIntoBook(judge, state, { star, message, place });
  if (star.type === "event_vote") {
    state.checked.eventStars += 1;
    addMismatches(findings, judgeKind(state, star, place));
    return !isTwice;
  }
  state.checked.assetStars += 1;
  addMismatches(findings, judgeVotingPower(star, place));
  const { ownerships, excluded } = judge;
  const mayBeExcluded = excluded.has(star.wallet);
  const counts = judgeCounts(star, { ownerships, mayBeExcluded, place }, state.margins);
  addVerdict(findings, counts);
  return !isTwice;
}

/** An event that is starred stays a forever mint, or none: else its NFTs would count in both ways. */
function judgeKind(
  { foreverMints }: AuditState,
  { eventId, eventType }: StarMessage & { type: "event_vote" },
  place: Place,
): readonly Mismatch[] {
  const isForever = eventType === "FOREVER_MINT";
  const wasForever = foreverMints.get(eventId) ?? isForever;
  foreverMints.set(eventId, wasForever);
  if (isForever === wasForever) return [];
  const expected = wasForever ? "FOREVER_MINT, as before" : "no forever mint, as before";
  return [{ ...place, kind: "event-type", expected, found: eventType }];
}

function enterIntoBook(judge: Judge, state: AuditState, { star, message, place }: Judged): boolean {
  const day = dayOf(star.timestamp);
  // Reported already: it comes later than any star of that day may.
  if (state.closedThrough !== null && day <= state.closedThrough) return false;
  const book = state.books.get(day) ?? openDayBook(day);
  state.books.set(day, book);
  const broken = enterStar(book, star, place);
  addMismatches(state.findings, broken);
  if (judge.exports !== null) enterMessage(book, message);
  return broken.some(({ kind }) => kind === "duplicate");
}
