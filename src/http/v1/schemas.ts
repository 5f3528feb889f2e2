import { z } from "zod";
import { categories, eventStatuses, eventTypes } from "../../store/enumerations.ts";

/**
 * The records of the public API, field by field (contract, section 2). Replies are typed by
 * these, the OpenAPI document is made from them, and tests check real replies against them.
 */

const text = z.string().max(300);
const instant = z.iso.datetime({ precision: 3 });
const count = z.int().min(0);
const usd = z.number().min(0).nullable();
const url = text.nullable();

const starWindows = {
  totalVotes: count.describe("Weight of today's stars; zero from 00:00 UTC."),
  votes7d: count.describe("Weight from the full UTC hour 7 × 24 hours ago until now."),
  votes30d: count.describe("Weight from the full UTC hour 30 × 24 hours ago until now."),
};

const event = z.strictObject({
  id: text,
  title: text,
  description: z.string().max(4_000).nullable(),
  eventType: z.enum(eventTypes),
  isForeverMint: z.boolean(),
  status: z.enum(eventStatuses).describe("By the clock, at each read."),
  source: text.nullable(),
  startsAt: instant,
  endsAt: instant.nullable().describe("Null for forever mints alone."),
  host: text.nullable(),
  location: text.nullable(),
  imageUrl: url,
  url,
  totalVotes: count.describe("Weight of all its stars."),
  createdAt: instant,
});
export const eventSchema = event.meta({ id: "Event" });

export const eventDetailSchema = z
  .strictObject({
    ...event.shape,
    links: z.array(z.strictObject({ label: text, url: text })),
    prizes: z.array(
      z.strictObject({ title: text, description: text.nullable(), value: text.nullable() }),
    ),
  })
  .meta({ id: "EventDetail" });

const rank = z.int().min(1);

export const tokenSchema = z
  .strictObject({
    rank,
    id: text.describe("Ledger id, 0.0.n."),
    symbol: text,
    name: text,
    iconUrl: url,
    totalVotes: starWindows.totalVotes,
    price: usd.describe("US dollars."),
    marketCap: usd.describe("US dollars."),
    votes7d: starWindows.votes7d,
    votes30d: starWindows.votes30d,
  })
  .meta({ id: "Token" });

export const collectionSchema = z
  .strictObject({
    rank,
    id: text.describe("Ledger id, 0.0.n."),
    name: text,
    imageUrl: url,
    totalVotes: starWindows.totalVotes,
    owners: count.nullable(),
    supply: count.nullable(),
    votes7d: starWindows.votes7d,
    votes30d: starWindows.votes30d,
  })
  .meta({ id: "Collection" });

export const projectSchema = z
  .strictObject({
    id: text,
    slug: text,
    name: text,
    category: z.enum(categories),
    country: text.nullable().describe("Two letters."),
    description: z.string().max(4_000).nullable(),
    logoUrl: url,
    websiteUrl: url,
    ...starWindows,
    createdAt: instant,
  })
  .meta({ id: "Project" });

export const seasonSchema = z
  .strictObject({
    id: text,
    name: text,
    startsAt: instant,
    endsAt: instant.describe("The first instant after it."),
  })
  .meta({ id: "Season" });

export const entrySchema = z
  .strictObject({
    rank: rank.describe("By points, then stars, then the lower account number."),
    wallet: text.describe("Account id, 0.0.n."),
    points: count.describe("XP credited in the season."),
    stars: count.describe("Stars accepted in the season."),
    weight: count.describe("What those stars added to their counters."),
  })
  .meta({ id: "LeaderboardEntry" });

/** What a paged list says beside its records. */
export const page = {
  total: count.describe("Records that pass the filter, on all pages together."),
  hasMore: z.boolean().describe("Stop when false."),
  limit: z.int(),
  offset: z.int(),
};

export const errorSchema = z
  .strictObject({
    error: z.string(),
    code: z.enum([
      "MISSING_API_KEY",
      "INVALID_API_KEY",
      "REVOKED_API_KEY",
      "NOT_FOUND",
      "INTERNAL",
      "UNAVAILABLE",
    ]),
  })
  .meta({ id: "Error" });

export const invalidParameterSchema = z
  .strictObject({
    error: z.string(),
    code: z.literal("INVALID_PARAMETER"),
    parameter: z.string(),
    allowed: z.union([z.string(), z.array(z.string())]),
  })
  .meta({ id: "InvalidParameter" });

/** 405 and 429: the specification's table of errors gives them no code. */
export const plainErrorSchema = z.strictObject({ error: z.string() }).meta({ id: "PlainError" });
