import { z } from "zod";
import { type CollectionKeys, encode, type StarMessage } from "./message.ts";

const common = { version: z.literal(1), wallet: z.string(), vote: z.literal("up") };

const eventVote = z.strictObject({
  ...common,
  type: z.literal("event_vote"),
  event_id: z.string(),
  event_type: z.enum(["MINT_EVENT", "FOREVER_MINT", "ECOSYSTEM_MEETUP", "HACKATHON", "OTHER"]),
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

const starMessage = z.discriminatedUnion("type", [eventVote, assetVote]);

/**
 * Reads a message off the ledger, strictly: only bytes that `starMessage` would have
 * written are one.
 *
 * @returns undefined for anything else, be it one space too many
 */
export function parseStarMessage(bytes: Uint8Array, keys: CollectionKeys): StarMessage | undefined {
  const text = Buffer.from(bytes).toString("latin1");
  try {
    const message = read(starMessage.parse(JSON.parse(text)), keys);
    return encode(message, keys) === text ? message : undefined;
  } catch {
    return undefined;
  }
}

function read(row: z.output<typeof starMessage>, keys: CollectionKeys): StarMessage {
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
