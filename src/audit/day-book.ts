import { createHash } from "node:crypto";
import type { EventKind } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import type { ExportStar } from "../journal/export-format.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import type { StarMessage } from "../publishing/message.ts";
import type { Mismatch, Place } from "./report.ts";

/** What the messages of one UTC day say, kept until the day is judged; plain data. */
export interface DayBook {
  readonly day: Day;
  readonly wallets: Map<string, WalletDay>;
  /** Digests of messages by topic and sequence number, for the day's export. */
  readonly messages: Map<string, Map<number, string>>;
  /** Stars by event, for the weights they added. */
  readonly events: Map<string, EventStars>;
  /** The highest number of stars any wallet has. */
  most: number;
}

/** A wallet's stars of the day: instants and items, in the order of the ledger. */
export interface WalletDay {
  readonly ats: number[];
  readonly items: string[];
}

export interface EventStars {
  readonly kind: EventKind;
  /** Who, when (epoch milliseconds), and where on the topic. */
  readonly stars: {
    readonly wallet: string;
    readonly at: number;
    readonly topic: string;
    readonly sequenceNumber: number;
  }[];
}

/** Twice the most stars of a day: more, on a forged topic, are reported and not kept. */
const ENTRIES_PER_VOTE = 2;

export function openDayBook(day: Day): DayBook {
  return { day, wallets: new Map(), messages: new Map(), events: new Map(), most: 0 };
}

/**
 * Enters a star, and says what it breaks: `(wallet, item, instant)` is unique, an item that is no
 * forever mint has one star per wallet and day, a wallet's instants within a day are all
 * different (contract, section 1), and its stars are 20 at most. The order within the day is not
 * judged by the order on the ledger: messages sent side by side may change places there.
 */
export function enterStar(book: DayBook, star: StarMessage, place: Place): readonly Mismatch[] {
  const item = itemOf(star);
  const wallet = book.wallets.get(star.wallet) ?? { ats: [], items: [] };
  book.wallets.set(star.wallet, wallet);
  const found = judge(wallet, { item, at: star.timestamp, isRepeatable: isForever(star) });
  const { premiumVotes } = rulesOn(book.day);
  if (wallet.ats.length < ENTRIES_PER_VOTE * premiumVotes) {
    wallet.ats.push(star.timestamp);
    wallet.items.push(item);
  }
  book.most = Math.max(book.most, wallet.ats.length);
  // One that is there twice counts once.
  const isTwin = found.some(({ kind }) => kind === "duplicate");
  if (star.type === "event_vote" && !isTwin) {
    const event = book.events.get(star.eventId) ?? { kind: star.eventType, stars: [] };
    book.events.set(star.eventId, event);
    const { topic, sequenceNumber } = place;
    event.stars.push({ wallet: star.wallet, at: star.timestamp, topic, sequenceNumber });
  }
  return found.map((broken) => ({ ...place, ...broken }));
}

type Broken = Pick<Mismatch, "kind" | "expected" | "found">;

function judge(
  { ats, items }: WalletDay,
  { item, at, isRepeatable }: { item: string; at: number; isRepeatable: boolean },
): readonly Broken[] {
  const found: Broken[] = [];
  const twin = ats.indexOf(at);
  if (twin !== -1 && items[twin] === item) {
    found.push({ kind: "duplicate", expected: `one ${item} at ${at}`, found: "another one" });
  } else if (twin !== -1) {
    found.push({ kind: "same-instant", expected: `no second star at ${at}`, found: item });
  }
  if (found.length === 0 && !isRepeatable && items.includes(item)) {
    found.push({ kind: "once-per-day", expected: `one star for ${item}`, found: "another one" });
  }
  const { premiumVotes } = rulesOn(dayOf(at));
  if (ats.length + 1 > premiumVotes) {
    found.push({ kind: "allowance", expected: `≤ ${premiumVotes}`, found: ats.length + 1 });
  }
  return found;
}

/** Keeps what the day's export is compared with. */
export function enterMessage(book: DayBook, message: MirrorTopicMessage): void {
  const topic = book.messages.get(message.topicId) ?? new Map<number, string>();
  book.messages.set(message.topicId, topic);
  topic.set(message.sequenceNumber, digestOf(message));
}

/** Stands for a message with all that the ledger says of it; 16 bytes, base64. */
export function digestOf({
  bytes,
  consensusTimestamp,
  runningHash,
  chunk,
}: Pick<MirrorTopicMessage, "bytes" | "consensusTimestamp" | "runningHash" | "chunk">): string {
  // Last: after the hash, one that is forged in an export could hold it.
  const transaction = chunk === null ? "" : ` ${chunk.transactionId}`;
  return createHash("sha256")
    .update(`${consensusTimestamp} ${runningHash} `)
    .update(bytes)
    .update(transaction)
    .digest()
    .subarray(0, 16)
    .toString("base64");
}

/** Whether a message is the one that an export says; its row may lack the transaction's id. */
export function isDigestOf(
  digest: string,
  { message, publication }: Pick<ExportStar, "message" | "publication">,
): boolean {
  const { consensusTimestamp, runningHash, transactionId } = publication;
  const said = {
    bytes: Buffer.from(message),
    consensusTimestamp: consensusTimestamp ?? "",
    runningHash: runningHash ?? "",
  };
  const chunk = { transactionId: transactionId ?? "", number: 1, total: 1 };
  return [chunk, null].some((each) => digestOf({ ...said, chunk: each }) === digest);
}

/** `type/id`, the id as it stands in the message. */
export function itemOf(star: StarMessage): string {
  return star.type === "event_vote"
    ? `event/${star.eventId}`
    : `${star.targetType}/${star.targetId}`;
}

function isForever(star: StarMessage): boolean {
  return star.type === "event_vote" && star.eventType === "FOREVER_MINT";
}

/** The ledger's clock and ours never differ by as much. */
const AHEAD_MS = 60_000;

/**
 * Whether a star's instant and the consensus on its message can belong together: published no
 * later than `lateMs` after it was cast, and never before.
 *
 * @param consensusMs epoch milliseconds
 */
export function judgeInstant(
  { at, consensusMs, lateMs }: { at: number; consensusMs: number; lateMs: number },
  place: Place,
): readonly Mismatch[] {
  if (at <= consensusMs + AHEAD_MS && consensusMs - at <= lateMs) return [];
  const expected = `between ${consensusMs - lateMs} and ${consensusMs + AHEAD_MS}`;
  return [{ ...place, kind: "wrong-day", expected, found: at }];
}
