/**
 * The specification's table "Rules per content type", as data. Everything that
 * depends on what is starred asks here; nothing else knows the kinds apart.
 */

/** What a star points at, as clients name it. */
export type TargetType = "event" | "token" | "collection" | "project";

/** `event_type` on the ledger: forever mints have a name of their own there. */
export type EventKind = "MINT_EVENT" | "FOREVER_MINT" | "ECOSYSTEM_MEETUP" | "HACKATHON" | "OTHER";

/** A row of the table. */
export interface ContentRule {
  readonly content: string;
  readonly starredOn: string;
  readonly targetType: TargetType;
  readonly eventKinds: readonly EventKind[];
  /** `daily`: once per item and UTC day. `once`: counts once, may be starred again. */
  readonly frequency: "daily" | "once";
  readonly counter: "accumulates" | "today only";
  readonly topic: "event" | "asset";
  /** How the weight is found: each NFT once per scope, or the full voting power. */
  readonly weight: "each NFT once per event and day" | "each NFT once per mint" | "full";
}

const onEventPage = {
  starredOn: "event page",
  targetType: "event",
  frequency: "daily",
  counter: "accumulates",
  topic: "event",
  weight: "each NFT once per event and day",
} as const;

const asset = {
  eventKinds: [],
  frequency: "daily",
  counter: "today only",
  topic: "asset",
  weight: "full",
} as const;

/** The table, row by row, in the specification's order. */
export const contentRules: readonly ContentRule[] = [
  { content: "NFT mints", ...onEventPage, eventKinds: ["MINT_EVENT"] },
  { content: "Meetups, live audio sessions", ...onEventPage, eventKinds: ["ECOSYSTEM_MEETUP"] },
  { content: "Hackathons, other events", ...onEventPage, eventKinds: ["HACKATHON", "OTHER"] },
  {
    content: "Forever mints",
    ...onEventPage,
    eventKinds: ["FOREVER_MINT"],
    frequency: "once",
    weight: "each NFT once per mint",
  },
  { content: "Tokens", starredOn: "markets list, token page", targetType: "token", ...asset },
  {
    content: "NFT collections",
    starredOn: "markets list (NFTs tab)",
    targetType: "collection",
    ...asset,
  },
  {
    content: "Ecosystem projects",
    starredOn: "ecosystem directory",
    targetType: "project",
    ...asset,
  },
];

/** Something that can be starred, with what the rules need to know of it. */
export interface Target {
  readonly type: TargetType;
  readonly id: string;
  /** Set on events, and on nothing else. */
  readonly eventKind: EventKind | null;
  /** A project's ledger id, where the catalogue has one: it stands in the message. */
  readonly ledgerId: string | null;
}

/**
 * The row that governs a target.
 *
 * @throws RangeError for an event without a kind: the catalogue cannot hold one
 */
export function ruleOf(target: Pick<Target, "type" | "eventKind">): ContentRule {
  const { type, eventKind } = target;
  const rule = contentRules.find(
    (row) =>
      row.targetType === type &&
      (eventKind === null ? row.eventKinds.length === 0 : row.eventKinds.includes(eventKind)),
  );
  if (rule === undefined) throw new RangeError(`no rule for ${type} ${eventKind ?? ""}`);
  return rule;
}
