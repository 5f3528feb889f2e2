/**
 * The specification's table "Rules per content type", as data. Everything that
 * depends on what is starred asks here; nothing else knows the kinds apart.
 */

/** What a star points at, as clients name it. */
export const TARGET_TYPES = ["event", "token", "collection", "project"] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

/** `event_type` on the ledger: forever mints have a name of their own there. */
export const EVENT_KINDS = [
  "MINT_EVENT",
  "FOREVER_MINT",
  "ECOSYSTEM_MEETUP",
  "HACKATHON",
  "OTHER",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** A row of the table. */
export interface ContentRule {
  readonly content: string;
  readonly starredOn: string;
  readonly targetType: TargetType;
  readonly eventKinds: readonly EventKind[];
  readonly scope: Scope;
  readonly counter: "accumulates" | "today only";
  readonly topic: "event" | "asset";
}

const onEventPage = {
  starredOn: "event page",
  targetType: "event",
  scope: "event-day",
  counter: "accumulates",
  topic: "event",
} as const;

const asset = {
  eventKinds: [],
  scope: "none",
  counter: "today only",
  topic: "asset",
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
    scope: "forever-mint",
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

/** Something that can be starred, as the catalogue names it. */
export interface TargetRecord {
  readonly type: TargetType;
  readonly id: string;
  /** Set on events, and on nothing else. */
  readonly eventKind: EventKind | null;
  /** A project's ledger id, where the catalogue has one: it stands in the message. */
  readonly ledgerId: string | null;
}

/** Something that can be starred, with the row of the table that governs it. */
export interface Target extends TargetRecord {
  /** `<type>/<id>`: its name inside an actor. */
  readonly key: string;
  readonly rule: ContentRule;
}

/**
 * Looks the rule of a target up, once for all that is done with it.
 *
 * @throws RangeError for an event without a kind: the catalogue cannot hold one
 */
export function targetOf(record: TargetRecord): Target {
  const { type, id, eventKind, ledgerId } = record;
  return { type, id, eventKind, ledgerId, key: targetKey(type, id), rule: ruleOf(record) };
}

/** How a target is named inside an actor. */
export function targetKey(type: TargetType, id: string): string {
  return `${type}/${id}`;
}

/**
 * The row that governs a target.
 *
 * @throws RangeError for an event without a kind: the catalogue cannot hold one
 */
export function ruleOf({ type, eventKind }: Pick<TargetRecord, "type" | "eventKind">): ContentRule {
  const rule = contentRules.find(
    (row) =>
      row.targetType === type &&
      (eventKind === null ? row.eventKinds.length === 0 : row.eventKinds.includes(eventKind)),
  );
  if (rule === undefined) throw new RangeError(`no rule for ${type} ${eventKind ?? ""}`);
  return rule;
}

/**
 * Within what an NFT counts once. `event-day`: this event and UTC day. `forever-mint`: this mint,
 * where a star counts once and may be given again. `none`: the star carries the full voting power.
 */
export type Scope = "event-day" | "forever-mint" | "none";

/** Whether a wallet may star an item again on the same UTC day. */
export function mayRepeat(scope: Scope): boolean {
  return scope === "forever-mint";
}
