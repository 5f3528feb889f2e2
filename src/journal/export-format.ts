import { createHash } from "node:crypto";
import { z } from "zod";
import { EVENT_KINDS, TARGET_TYPES } from "../../actors/content.ts";
import { isDay } from "../../actors/day.ts";

/**
 * The journal export of one UTC day, `GET /exports/{day}`: what messages on the ledger do not
 * carry, so that a reader of a mirror node can recompute the weights of events as well. This file
 * is the format, for those who write it and those who check it; it reads and writes nothing.
 *
 * **Bytes.** NDJSON: every line is one JSON object as `JSON.stringify` writes it, keys in the order
 * of the schemas below, UTF-8, ended by one `\n`. First one `header`, then every `conflict` by
 * rising `id`, every `lost` by topic and rising `sequenceNumber`, every `star` by rising `seq`,
 * every `release` by rising `mintOrder`, `collection`, `serial`, last one `footer`. Instants are
 * RFC 3339 UTC with milliseconds, unless said otherwise; what is not there is null, never absent.
 *
 * **Final.** A day is closed from 5 s after its end, when nothing that started before is still
 * on its way into the journal; it is final when, besides, each of its stars is published and
 * the day before is final. From then on the bytes never change. Until then the export is
 * provisional: `final` is false, `previous` and `chain` are null, publications may be incomplete,
 * and today's stars are those so far.
 *
 * **Hashes.** All are SHA-256, lower-case hex. `footer.sha256` is that of all bytes before the
 * footer's line. `footer.chain` is that of the 128 characters `header.previous` + `footer.sha256`,
 * and the next day's `header.previous`. The journal's first day has `GENESIS` there. Days follow
 * each other without a gap; a day without stars has a header and a footer.
 */
export const EXPORT_FORMAT = 1;

/** What stands for the chain hash before the first day. */
export const GENESIS = "0".repeat(64);

const entityId = z.string().regex(/^0\.0\.[1-9]\d{0,11}$/);
const instant = z.iso.datetime({ precision: 3 });
const day = z.string().refine(isDay);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const serial = z.int().min(1);
/** A number that the journal drew: those after it are exact in JSON too. */
const place = z.int().min(1).max(1e15);
/** Rising, so that none counts twice. */
const serials = z
  .array(serial)
  .refine((all) => all.every((each, index) => each > (all[index - 1] ?? 0)), "not rising");

const topic = z.enum(["event", "asset"]);
const targetType = z.enum(TARGET_TYPES);

const collection = z.strictObject({
  id: entityId,
  /** Its name inside a message's `holdings`. */
  key: z.string(),
});

/** The first line. Settings are those that workers had at the end of the day. */
export const exportHeader = z.strictObject({
  kind: z.literal("header"),
  format: z.literal(EXPORT_FORMAT),
  day,
  final: z.boolean(),
  network: z.enum(["local", "testnet", "mainnet", "previewnet"]),
  /** Null where a provisional export is served by a process that does not know them. */
  topics: z.strictObject({ event: entityId.nullable(), asset: entityId.nullable() }),
  /** A adds 1 per NFT, B adds 5 once. */
  collections: z.strictObject({ a: collection, b: collection }),
  /** They carry the base 1 alone: their holdings are not read. In the order of the setting. */
  excludedWallets: z.array(entityId),
  /** Leaderboard points that an accepted star credits. */
  xpPerStar: count.max(1_000),
  /** The chain hash of the day before; `GENESIS` on the first; null while provisional. */
  previous: hash.nullable(),
  /**
   * There on a final day whose stars came back from the ledger after a loss, and whose final export
   * of before was not kept: its hash is a new one, and the next day may follow the old one.
   */
  recovered: z.literal(true).optional(),
});

/** Where a star's message stands on the ledger; as in the receipt `GET /voting/stars/{id}`. */
export const exportPublication = z.strictObject({
  /** In a final export always `published`, and nothing else is null then. */
  state: z.enum(["stored", "submitted", "published"]),
  topicId: entityId.nullable(),
  /** `0.0.n@seconds.nnnnnnnnn` */
  transactionId: z.string().nullable(),
  sequenceNumber: z.int().min(1).nullable(),
  /** `seconds.nnnnnnnnn`, as the mirror node gives it. */
  consensusTimestamp: z.string().nullable(),
  /** Base64, as the mirror node gives it. */
  runningHash: z.string().nullable(),
});

/**
 * A star that was accepted because the journal had lost others, and breaks a rule beside them: it
 * counts in no total, and its message stays on the ledger.
 */
export const exportConflict = z.strictObject({
  kind: z.literal("conflict"),
  id: z.uuid(),
  wallet: entityId,
  at: instant,
  target: z.strictObject({ type: targetType, id: z.string() }),
  /** The star that was first on the ledger. */
  conflictsWith: z.uuid(),
  topic,
  message: z.string(),
  publication: exportPublication,
});

/**
 * A message of a star that the journal lost, and that its operator went on without. In the export
 * of the day of `acceptedAt`.
 */
export const exportLost = z.strictObject({
  kind: z.literal("lost"),
  topicId: entityId,
  sequenceNumber: z.int().min(1),
  acceptedAt: instant,
});

/** One accepted star. Those of a day are folded by `seq`, those of a forever mint by `mintOrder`. */
export const exportStar = z.strictObject({
  kind: z.literal("star"),
  /** The journal's order; unique, with gaps. */
  seq: place,
  id: z.uuid(),
  wallet: entityId,
  /** The message's `timestamp`. */
  at: instant,
  /** Which star of the wallet's day this is, from 1 to `limit`. */
  slot: z.int().min(1),
  /** The allowance under which it was accepted: the premium one with a pass for `seasonId`. */
  limit: z.int().min(1),
  seasonId: z.uuid().nullable(),
  /** The version of the rules it was decided under. */
  rules: z.int().min(1),
  target: z.strictObject({
    type: targetType,
    /** As the API names it; a message names a project by its ledger id where it has one. */
    id: z.string(),
    /** Of events, as decided and published; null of everything else. */
    eventType: z.enum(EVENT_KINDS).nullable(),
  }),
  /**
   * Within which an NFT counts once: `event-day` this event and UTC day, `forever-mint` this
   * mint until released, `none` wherever it is held (full voting power; the counter restarts
   * daily).
   */
  scope: z.enum(["event-day", "forever-mint", "none"]),
  /** The place among the mint's stars and releases, in the order of their commits; else null. */
  mintOrder: place.nullable(),
  /** 1 + A + bonus, from `held`. */
  votingPower: z.int().min(1),
  /** What it added to the counter: the sum of `breakdown`. */
  weight: count,
  /** `base` is 0 where the wallet had its base on this mint before. */
  breakdown: z.strictObject({ base: count, collectionA: count, collectionB: count }),
  /** The NFTs that counted here, and so nowhere else in the scope; null where the scope is `none`. */
  counted: z.strictObject({ collectionA: serials, collectionB: serial.nullable() }).nullable(),
  /** What the wallet held when the mirror node was asked: serials, in rising order. */
  held: z.strictObject({ collectionA: serials, collectionB: serials, readAt: instant }),
  topic,
  message: z.string(),
  publication: exportPublication,
});

/**
 * An NFT whose attribution on a forever mint ended that day, because the daily check found that its
 * wallet no longer holds it, or because its new holder's star proved that before the check had come
 * by: `runId` is then the id of that star, which is the next of the mint's order. In the export of
 * the day of `releasedAt`. Those of one `mintOrder` ended together: first all their serials became
 * free, then spares were chosen.
 */
export const exportRelease = z.strictObject({
  kind: z.literal("release"),
  mint: z.string(),
  mintOrder: place,
  runId: z.uuid(),
  /** The UTC day whose check it was: effective from its 00:00. */
  checkDay: day,
  collection: z.enum(["A", "B"]),
  serial,
  wallet: entityId,
  /** The star that had brought it. */
  starId: z.uuid(),
  /** What the mint's counter lost: 1 for A, 5 for B, 0 where a spare carries the +5 on. */
  weight: z.int().min(0),
  /** The collection B serial that carries the wallet's +5 from now on. */
  spare: serial.nullable(),
  /** The collection B serials the wallet held, to choose the spare from. */
  heldB: serials,
  /** As the mirror node said when asked for this serial alone, at `readAt`. */
  owner: z.string().nullable(),
  deleted: z.boolean(),
  /** When the reading of the whole collection, or of the star's wallet, began that first missed it. */
  listedAt: instant,
  readAt: instant,
  releasedAt: instant,
});

/** The messages of the day's stars on one topic, those published so far. */
export const exportSequences = z.strictObject({
  topicId: entityId,
  messages: z.int().min(1),
  first: z.int().min(1),
  last: z.int().min(1),
});

/** The last line: what came before it. */
export const exportFooter = z.strictObject({
  kind: z.literal("footer"),
  day,
  final: z.boolean(),
  stars: count,
  /** Of all stars. */
  weight: count,
  releases: count,
  /** Stars not yet published; 0 when final. */
  unpublished: count,
  /** By rising number of the topic. A topic may hold messages of other days within the range. */
  sequences: z.array(exportSequences),
  /** Of all bytes before this line. */
  sha256: hash,
  /** Null while provisional. */
  chain: hash.nullable(),
});

export const exportLine = z.discriminatedUnion("kind", [
  exportHeader,
  exportConflict,
  exportLost,
  exportStar,
  exportRelease,
  exportFooter,
]);

export type ExportHeader = z.output<typeof exportHeader>;
export type ExportConflict = z.output<typeof exportConflict>;
export type ExportLost = z.output<typeof exportLost>;
export type ExportStar = z.output<typeof exportStar>;
export type ExportRelease = z.output<typeof exportRelease>;
export type ExportSequences = z.output<typeof exportSequences>;
export type ExportFooter = z.output<typeof exportFooter>;
export type ExportLine = z.output<typeof exportLine>;

/** One entry of `GET /exports`: `{ "exports": [...] }`, oldest day first, without a gap. */
export const exportEntry = z.strictObject({
  day,
  final: z.boolean(),
  /** What is not final yet is null from here on. */
  stars: count.nullable(),
  releases: count.nullable(),
  /** `footer.sha256` and `footer.chain`. */
  sha256: hash.nullable(),
  chain: hash.nullable(),
  /** Of the whole export, footer included. */
  bytes: count.nullable(),
});
export type ExportEntry = z.output<typeof exportEntry>;

export const exportList = z.strictObject({
  exports: z
    .array(exportEntry)
    .refine(
      (all) => all.every((each, index) => each.day > (all[index - 1]?.day ?? "")),
      "not rising",
    ),
});

/** A line's text: canonical when the object's keys stand in the schema's order. */
export function lineText(line: ExportLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The chain hash of a final day. */
export function chainHash(previous: string, sha256: string): string {
  return createHash("sha256").update(`${previous}${sha256}`, "latin1").digest("hex");
}
