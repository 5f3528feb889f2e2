import { z } from "zod";
import {
  EVENT_KINDS,
  type EventKind,
  type TargetRecord,
  type TargetType,
} from "../../actors/content.ts";
import { bounds } from "../bounds.ts";
import { isEntityId } from "../ledger/entity-id.ts";

/** The part of a star that is on the ledger; a journal's star record is one. */
export interface MessageStar {
  readonly wallet: string;
  /** Epoch milliseconds: the message's `timestamp`. */
  readonly at: number;
  readonly target: TargetRecord;
  readonly votingPower: number;
  /** Serials held of each collection; their numbers are published. */
  readonly holdings: {
    readonly collectionA: readonly number[];
    readonly collectionB: readonly number[];
  };
}

/** The names of the two collections inside `holdings`: COLLECTION_A_KEY and COLLECTION_B_KEY. */
export interface CollectionKeys {
  readonly a: string;
  readonly b: string;
}

/** A message read back. */
export type StarMessage =
  | {
      readonly type: "event_vote";
      readonly wallet: string;
      readonly eventId: string;
      readonly eventType: EventKind;
      readonly timestamp: number;
    }
  | {
      readonly type: "asset_vote";
      readonly wallet: string;
      readonly targetId: string;
      readonly targetType: Exclude<TargetType, "event">;
      readonly votingPower: number;
      readonly holdings: { readonly collectionA: number; readonly collectionB: number };
      readonly timestamp: number;
    };

type Field = readonly [name: string, value: string | number | readonly Field[]];

const VERSION = 1;
/** The first instant of the year 10000, of which no day has a name. */
const INSTANT_END = Date.UTC(10_000, 0);

/**
 * The one text a star has on the ledger: exactly the specification's fields in its
 * order, compact JSON, ASCII (contract, section 5). Equal stars give equal bytes.
 *
 * @throws RangeError when a value cannot stand in a message, or the text is longer than
 *   the ledger takes in one piece
 */
export function starMessage(star: MessageStar, keys: CollectionKeys): string {
  const { target, holdings } = star;
  if (target.type === "event") {
    const message = {
      type: "event_vote",
      wallet: star.wallet,
      eventId: target.id,
      eventType: target.eventKind ?? fail("an event without a kind"),
      timestamp: star.at,
    } as const;
    return encode(message, keys);
  }
  const message = {
    type: "asset_vote",
    wallet: star.wallet,
    targetId: target.ledgerId ?? target.id,
    targetType: target.type,
    votingPower: star.votingPower,
    holdings: {
      collectionA: holdings.collectionA.length,
      collectionB: holdings.collectionB.length,
    },
    timestamp: star.at,
  } as const;
  return encode(message, keys);
}

/** The canonical text of a message. @throws RangeError as `starMessage` does */
export function encode(message: StarMessage, keys: CollectionKeys): string {
  const { wallet, timestamp } = message;
  if (!isEntityId(wallet)) fail(`not a wallet: ${wallet.slice(0, 40)}`);
  if (!Number.isSafeInteger(timestamp) || timestamp < 0 || timestamp >= INSTANT_END) {
    fail(`not an instant: ${timestamp}`);
  }
  const text = toJson(
    message.type === "event_vote" ? eventFields(message) : assetFields(message, keys),
  );
  if (text.length > bounds.messageBytesMax) fail(`a message of ${text.length} bytes`);
  return text;
}

function eventFields(message: StarMessage & { type: "event_vote" }): readonly Field[] {
  return [
    ["type", message.type],
    ["version", VERSION],
    ["wallet", message.wallet],
    ["event_id", message.eventId],
    ["event_type", message.eventType],
    ["vote", "up"],
    ["timestamp", message.timestamp],
  ];
}

function assetFields(
  message: StarMessage & { type: "asset_vote" },
  keys: CollectionKeys,
): readonly Field[] {
  if (keys.a === keys.b) fail("both collections have the same key");
  const { collectionA, collectionB } = message.holdings;
  for (const count of [message.votingPower, collectionA, collectionB]) {
    if (!Number.isSafeInteger(count) || count < 0) fail(`not a count: ${count}`);
  }
  return [
    ["type", message.type],
    ["version", VERSION],
    ["wallet", message.wallet],
    ["target_id", message.targetId],
    ["target_type", message.targetType],
    ["vote", "up"],
    ["voting_power", message.votingPower],
    [
      "holdings",
      [
        [keys.a, collectionA],
        [keys.b, collectionB],
      ],
    ],
    ["timestamp", message.timestamp],
  ];
}

/** By hand, because an object would put keys made of digits first. */
function toJson(fields: readonly Field[]): string {
  const members = fields.map(([name, value]) => {
    const text = typeof value === "object" ? toJson(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  // What is not ASCII is escaped: the count of characters is the count of bytes.
  return `{${members.join(",")}}`.replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function fail(reason: string): never {
  throw new RangeError(`no message for this star: ${reason}`);
}

const common = { version: z.literal(1), wallet: z.string(), vote: z.literal("up") };

const eventVote = z.strictObject({
  ...common,
  type: z.literal("event_vote"),
  event_id: z.string(),
  event_type: z.enum(EVENT_KINDS),
  timestamp: z.int(),
});

const assetVote = z.strictObject({
  ...common,
  type: z.literal("asset_vote"),
  target_id: z.string(),
  target_type: z.enum(["token", "collection", "project"]),
  voting_power: z.int(),
  holdings: z.record(z.string(), z.int()),
  timestamp: z.int(),
});

const messageSchema = z.discriminatedUnion("type", [eventVote, assetVote]);

/**
 * Reads a message off the ledger, strictly: only bytes that `starMessage` would have
 * written are one.
 *
 * @returns undefined for anything else, be it one space too many
 */
export function parseStarMessage(bytes: Uint8Array, keys: CollectionKeys): StarMessage | undefined {
  const text = Buffer.from(bytes).toString("latin1");
  try {
    const message = fromRow(messageSchema.parse(JSON.parse(text)), keys);
    return encode(message, keys) === text ? message : undefined;
  } catch {
    return undefined;
  }
}

function fromRow(row: z.output<typeof messageSchema>, keys: CollectionKeys): StarMessage {
  const { wallet, timestamp } = row;
  if (row.type === "event_vote") {
    return { type: row.type, wallet, eventId: row.event_id, eventType: row.event_type, timestamp };
  }
  return {
    type: row.type,
    wallet,
    targetId: row.target_id,
    targetType: row.target_type,
    votingPower: row.voting_power,
    // An absent count is no count, and no text of this service.
    holdings: {
      collectionA: row.holdings[keys.a] ?? Number.NaN,
      collectionB: row.holdings[keys.b] ?? Number.NaN,
    },
    timestamp,
  };
}
