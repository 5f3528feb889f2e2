import { DAY_MS } from "../../actors/day.ts";
import type { ExportHeader, ExportStar } from "../journal/export-format.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { msOf } from "../ledger/transaction-id.ts";
import { parseStarMessage } from "../publishing/message.ts";
import type { AuditState, Judge } from "./audit-state.ts";
import { countWeight } from "./counters.ts";
import { type DayBook, isDigestOf, judgeInstant } from "./day-book.ts";
import { totalOf } from "./event-accounts.ts";
import { placeOf } from "./judge-star.ts";
import { LAG_MS } from "./rebuild-weights.ts";
import { addLine, type Mismatch } from "./report.ts";
import { score } from "./season-board.ts";
import { textOf } from "./topic-chain.ts";

/** `votes30d` begins with a full hour. */
const LONGEST_WINDOW_MS = 31 * DAY_MS;

export interface Matching {
  readonly state: AuditState;
  readonly book: DayBook;
  /** Where the export says that messages of its day go. */
  readonly topics: ExportHeader["topics"];
  /** By the texts of stars that are said not to be published: what is wrong where there is no message. */
  readonly unpublished: Map<string, readonly Mismatch[]>;
}

/** The message a star is said to have, against the one on the ledger. */
export async function matchMessage(
  judge: Judge,
  { state, book, topics, unpublished }: Matching,
  star: ExportStar,
): Promise<readonly Mismatch[]> {
  const { state: published, topicId, sequenceNumber, consensusTimestamp } = star.publication;
  if (published !== "published" || topicId === null || sequenceNumber === null) {
    state.checked.pendingStars += 1;
    // It would use up NFTs and never be on the ledger, if its day were never called final.
    const isLate = Date.parse(star.at) + judge.lateMs < judge.ownedAt;
    const on = topics[star.topic];
    const isUnread = on !== null && state.chains.every(({ topic }) => topic !== on);
    if (isUnread) addLine(state.findings.unprovable, notAudited(on));
    const none = { expected: "its message", found: published } as const;
    unpublished.set(
      star.message,
      isLate && !isUnread ? [{ ...placeOf(star), kind: "no-message", ...none }] : [],
    );
    return [];
  }
  const followed = state.chains.find(({ topic }) => topic === topicId);
  if (followed === undefined) {
    const doubt = notAudited(topicId);
    addLine(state.findings.unprovable, doubt);
    if (star.scope !== "none") totalOf(state.accounts, star.target.id).doubt ??= doubt;
    countUnread(judge, state, star);
    return [];
  }
  const consensusMs = msOf(consensusTimestamp ?? "");
  if (sequenceNumber > followed.sequenceNumber && consensusMs > judge.reading.from - LAG_MS) {
    // Published since the topics were read: the next audit judges it, unless it is dated to stay ahead of each.
    state.checked.pendingStars += 1;
    const { at, message } = star;
    const place = { topic: topicId, sequenceNumber, message };
    return judgeInstant({ at: Date.parse(at), consensusMs, lateMs: judge.lateMs }, place);
  }
  const messages = book.messages.get(topicId);
  const digest = messages?.get(sequenceNumber);
  messages?.delete(sequenceNumber);
  if (digest === undefined) {
    const expected = `message ${sequenceNumber} on ${topicId}`;
    return [{ ...placeOf(star), kind: "no-message", expected, found: "none of this star's day" }];
  }
  if (isDigestOf(digest, star)) return [];
  const message = await messageAt(judge, topicId, sequenceNumber);
  const expected = message === undefined ? "the message on the ledger" : textOf(message.bytes);
  const differing =
    star.message === expected ? "another time, running hash or transaction id" : star.message;
  return [{ ...placeOf(star), kind: "message-differs", expected, found: differing }];
}

const notAudited = (topic: string): string => `messages on ${topic}: that topic is not audited`;

/** The rankings may show a star whose message is not read: its export alone says that it was. */
function countUnread(judge: Judge, state: AuditState, star: ExportStar): void {
  const at = Date.parse(star.at);
  const weight = star.scope === "none" ? star.weight : 0;
  const scored = { wallet: star.wallet, at, stars: 1, weight, isSettled: false } as const;
  score(state.accounts.board, scored, judge.reading);
  if (weight === 0 || at < judge.reading.from - LONGEST_WINDOW_MS) return;
  const item = `${star.target.type}/${star.target.id}`;
  const { until } = judge.reading;
  countWeight(state.counters, { item, at, weight }, { isSettled: false, until });
}

/** An event's star whose message was read, with its place there: the service may not have seen it yet. */
export function asRead(star: ExportStar, { events }: DayBook): ExportStar {
  if (star.publication.state === "published") return star;
  const at = Date.parse(star.at);
  const stars = events.get(star.target.id)?.stars ?? [];
  const read = stars.find((each) => each.wallet === star.wallet && each.at === at);
  if (read === undefined) return star;
  const { topic: topicId, sequenceNumber } = read;
  return { ...star, publication: { ...star.publication, topicId, sequenceNumber } };
}

/**
 * Messages of the day that no star of its export has: of a file kept before its day was over, stars since. And
 * stars that are without a message although none may come any more.
 */
export async function leftOver(
  judge: Judge,
  { state, book, unpublished, isWhole }: Omit<Matching, "topics"> & { readonly isWhole: boolean },
): Promise<readonly Mismatch[]> {
  const found: Mismatch[] = [];
  for (const [topic, messages] of book.messages) {
    for (const sequenceNumber of messages.keys()) {
      const read = await messageAt(judge, topic, sequenceNumber);
      const message = read === undefined ? null : textOf(read.bytes);
      // A star whose message the service itself has not yet seen there.
      if (message !== null && unpublished.delete(message)) continue;
      if (isWhole) {
        const expected = `a star in the export of ${book.day}`;
        const none = read === undefined ? "none" : `none; ${read.payer} paid for the message`;
        found.push({ kind: "no-star", topic, sequenceNumber, expected, found: none, message });
        continue;
      }
      const doubt = `the export of ${book.day} is not final and lacks stars of its messages`;
      addLine(state.findings.unprovable, doubt);
      const star = parseStarMessage(Buffer.from(message ?? ""), judge.keys);
      if (star?.type === "event_vote") totalOf(state.accounts, star.eventId).doubt ??= doubt;
    }
  }
  book.messages.clear();
  return [...found, ...[...unpublished.values()].flat()];
}

/** A message on the ledger, read again; undefined when there is none. */
async function messageAt(
  { mirror }: Judge,
  topic: string,
  sequenceNumber: number,
): Promise<MirrorTopicMessage | undefined> {
  const { messages } = await mirror.topicMessages(topic, { afterSequence: sequenceNumber - 1 });
  const [first] = messages;
  return first?.sequenceNumber === sequenceNumber ? first : undefined;
}
