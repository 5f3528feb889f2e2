import { z } from "zod";
import { categories, eventStatuses, eventTypes } from "../../store/enumerations.ts";
import { record } from "../openapi.ts";

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

/** Of the demo's directory, as all examples are. */
const EVENT = {
  id: "harbour-meetup",
  title: "Harbour builders' meetup",
  description: "Three evenings of talks by people who ship on the network.",
  eventType: "ECOSYSTEM_MEETUP" as const,
  isForeverMint: false,
  status: "live" as const,
  source: "SOURCE_A",
  startsAt: "2026-11-20T08:00:00.000Z",
  endsAt: "2026-11-23T08:00:00.000Z",
  host: "Harbour Collective",
  location: "Lisbon",
  imageUrl: null,
  url: null,
  totalVotes: 62,
  createdAt: "2026-11-01T08:00:00.000Z",
};

export const eventSchema = record(
  "Event",
  {
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
    totalVotes: count.describe(
      "Weight of all its stars; of a forever mint, without that of NFTs that their wallets no longer hold.",
    ),
    createdAt: instant,
  },
  EVENT,
);

export const eventDetailSchema = record(
  "EventDetail",
  {
    ...eventSchema.shape,
    links: z.array(z.strictObject({ label: text, url: text })),
    prizes: z.array(
      z.strictObject({ title: text, description: text.nullable(), value: text.nullable() }),
    ),
  },
  {
    ...EVENT,
    links: [{ label: "Programme", url: "https://example.org/harbour" }],
    prizes: [{ title: "Best talk", description: null, value: "500" }],
  },
);

const rank = z.int().min(1);
const dayRank = rank.describe("By `totalVotes`, then `votes30d`, then the lower number of the id.");

export const tokenSchema = record(
  "Token",
  {
    rank: dayRank,
    id: text.describe("Ledger id, 0.0.n."),
    symbol: text,
    name: text,
    iconUrl: url,
    totalVotes: starWindows.totalVotes,
    price: usd.describe("US dollars."),
    marketCap: usd.describe("US dollars."),
    votes7d: starWindows.votes7d,
    votes30d: starWindows.votes30d,
  },
  {
    rank: 1,
    id: "0.0.700001",
    symbol: "BUOY",
    name: "Buoy",
    iconUrl: null,
    totalVotes: 48,
    price: 0.0123,
    marketCap: 1_230_000,
    votes7d: 312,
    votes30d: 312,
  },
);

export const collectionSchema = record(
  "Collection",
  {
    rank: dayRank,
    id: text.describe("Ledger id, 0.0.n."),
    name: text,
    imageUrl: url,
    totalVotes: starWindows.totalVotes,
    owners: count.nullable(),
    supply: count.nullable(),
    votes7d: starWindows.votes7d,
    votes30d: starWindows.votes30d,
  },
  {
    rank: 1,
    id: "0.0.1003",
    name: "Lanterns",
    imageUrl: null,
    totalVotes: 21,
    owners: 19,
    supply: 86,
    votes7d: 140,
    votes30d: 140,
  },
);

export const projectSchema = record(
  "Project",
  {
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
  },
  {
    id: "almanac",
    slug: "almanac",
    name: "Almanac",
    category: "DATA",
    country: "DE",
    description: null,
    logoUrl: null,
    websiteUrl: "https://example.org/almanac",
    totalVotes: 17,
    votes7d: 96,
    votes30d: 96,
    createdAt: "2026-11-20T08:00:00.000Z",
  },
);

export const seasonSchema = record(
  "Season",
  {
    id: text,
    name: text,
    startsAt: instant,
    endsAt: instant.describe("The first instant after it."),
  },
  {
    id: "01a202b7-387f-70d3-8e82-78a520dd26b0",
    name: "Harvest season",
    startsAt: "2026-11-02T00:00:00.000Z",
    endsAt: "2027-01-31T00:00:00.000Z",
  },
);

export const entrySchema = record(
  "LeaderboardEntry",
  {
    rank: rank.describe("By points, then stars, then the lower account number."),
    wallet: text.describe("Account id, 0.0.n."),
    points: count.describe("XP credited in the season."),
    stars: count.describe("Stars accepted in the season."),
    weight: count.describe("What those stars added to their counters."),
  },
  { rank: 1, wallet: "0.0.1021", points: 20, stars: 20, weight: 80 },
);

/** What a paged list says beside its records. */
export const page = {
  total: count
    .describe("Records that pass the filter, on all pages together.")
    .meta({ examples: [1] }),
  hasMore: z
    .boolean()
    .describe("Stop when false.")
    .meta({ examples: [false] }),
  limit: z
    .int()
    .min(1)
    .max(100)
    .meta({ examples: [20] }),
  offset: count.meta({ examples: [0] }),
};

export const errorSchema = record("Error", {
  error: z.string(),
  code: z.enum([
    "MISSING_API_KEY",
    "INVALID_API_KEY",
    "REVOKED_API_KEY",
    "NOT_FOUND",
    "INTERNAL",
    "UNAVAILABLE",
    "HEADERS_TOO_LARGE",
    "REQUEST_TIMEOUT",
  ]),
});

export const invalidParameterSchema = record(
  "InvalidParameter",
  {
    error: z.string(),
    code: z.literal("INVALID_PARAMETER"),
    parameter: z.string(),
    allowed: z.union([z.string(), z.array(z.string())]),
  },
  {
    error: "The parameter limit is not valid.",
    code: "INVALID_PARAMETER",
    parameter: "limit",
    allowed: "integer 1 to 100",
  },
);

/** 405 and 429: the specification's table of errors gives them no code. */
export const plainErrorSchema = record("PlainError", { error: z.string() });
