import { z } from "zod";
import { DAY_MS, dayOf, endOfDay } from "../../actors/day.ts";
import { categories, eventTypes } from "../store/enumerations.ts";

/**
 * The records of a catalogue file: those of the public API without what is derived
 * (contract, sections 2 and 7). Unknown fields are refused, a missing one that may be null
 * is null, and instants become epoch milliseconds.
 */

const TEXT_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 4_000;

/** Shows nothing: spaces, the blank of Braille, and what is drawn by no font. */
const BLANK = /^[\s\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u;
/** They change the order in which text is shown, so that one name could look like another. */
const BIDIRECTIONAL_OVERRIDE = /[\u202a-\u202e\u2066-\u2069]/;

const storable = (max: number) =>
  z
    .string()
    .refine((given) => !isLonger(given, max), `has more than ${max} characters`)
    .refine(isStorable, "has characters that cannot be stored")
    .refine((given) => !BIDIRECTIONAL_OVERRIDE.test(given), "has bidirectional overrides");
const text = storable(TEXT_CHARACTERS_MAX);
const name = text.refine((given) => !BLANK.test(given), "is blank");
const optionalText = text.nullable().default(null);
const description = storable(DESCRIPTION_CHARACTERS_MAX).nullable().default(null);
const url = text
  .refine((given) => !/\s/.test(given), "has a space")
  .pipe(z.url({ protocol: /^https?$/, error: "is no http(s) URL" }))
  .refine((given) => !hasCredentials(given), "bears credentials");
const optionalUrl = url.nullable().default(null);
const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "is not 1–64 of A-Z a-z 0-9 _ -");
const ledgerId = z.string().regex(/^0\.0\.[1-9]\d{0,11}$/, "is no ledger id such as 0.0.1001");
const usd = z.number().min(0, "is negative").nullable().default(null);
const count = z.int().min(0, "is negative").nullable().default(null);
/** An RFC 3339 year has four digits. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const instant = z.iso
  .datetime({ offset: true, error: "is no RFC 3339 instant" })
  .transform((given) => Date.parse(given))
  .refine((at) => at >= 0, "is before 1970")
  .refine((at) => at <= LAST_INSTANT, "is after the year 9999");
const createdAt = instant.nullable().default(null);

/** The two event sources are a setting: without it, no event can have one. */
const event = (sources: readonly string[]) =>
  z
    .strictObject({
      id: recordId,
      title: name,
      description,
      eventType: z.enum(eventTypes),
      isForeverMint: z.boolean().default(false),
      source: z.enum(sources).nullable().default(null),
      startsAt: instant,
      endsAt: instant.nullable().default(null),
      host: optionalText,
      location: optionalText,
      imageUrl: optionalUrl,
      url: optionalUrl,
      links: z.array(z.strictObject({ label: text, url })).default([]),
      prizes: z
        .array(z.strictObject({ title: name, description: optionalText, value: optionalText }))
        .default([]),
      createdAt,
    })
    .superRefine(
      (given, context) => {
        for (const { path, message } of eventFlaws(given)) {
          context.addIssue({ code: "custom", path: [path], message });
        }
      },
      // Also beside other flaws: every bad field is named at once.
      { when: ({ value }) => value instanceof Object },
    )
    .transform((given) => ({ ...given, endsAt: given.endsAt ?? defaultEnd(given) }));

const token = z.strictObject({
  id: ledgerId,
  symbol: name,
  name,
  iconUrl: optionalUrl,
  price: usd,
  marketCap: usd,
  createdAt,
});

const collection = z.strictObject({
  id: ledgerId,
  name,
  imageUrl: optionalUrl,
  owners: count,
  supply: count,
  createdAt,
});

const project = z
  .strictObject({
    id: recordId,
    slug: recordId.optional(),
    name,
    category: z.enum(categories),
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/, "is no two-letter country code")
      .toUpperCase()
      .nullable()
      .default(null),
    description,
    logoUrl: optionalUrl,
    websiteUrl: optionalUrl,
    ledgerId: ledgerId.nullable().default(null),
    createdAt,
  })
  .transform((given) => ({ ...given, slug: given.slug ?? given.id }));

/** A whole file; a list that is absent is empty. */
export const catalogSchema = (eventSources: readonly string[]) =>
  z.strictObject({
    events: z.array(event(eventSources)).default([]),
    tokens: z.array(token).default([]),
    collections: z.array(collection).default([]),
    projects: z.array(project).default([]),
  });

export type Catalog = z.output<ReturnType<typeof catalogSchema>>;

interface EventTimes {
  readonly eventType: string;
  readonly isForeverMint: boolean;
  readonly startsAt: number;
  readonly endsAt: number | null;
}

/** What no field shows by itself. A field with a flaw of its own is absent here. */
function eventFlaws(event: Partial<EventTimes>): { path: string; message: string }[] {
  const { eventType, isForeverMint = false, startsAt, endsAt = null } = event;
  const flaws: { path: string; message: string }[] = [];
  if (isForeverMint && eventType !== undefined && eventType !== "MINT_EVENT") {
    flaws.push({ path: "isForeverMint", message: "only a MINT_EVENT can be a forever mint" });
  }
  if (isForeverMint && endsAt !== null) {
    flaws.push({ path: "endsAt", message: "a forever mint has no end" });
  }
  if (endsAt !== null && startsAt !== undefined && endsAt < startsAt) {
    flaws.push({ path: "endsAt", message: "is before startsAt" });
  }
  // What is no instant is named as that.
  const isInstant = typeof startsAt === "number" && startsAt >= 0 && startsAt <= LAST_INSTANT;
  if (eventType !== undefined && isInstant && endsAt === null) {
    const end = defaultEnd({ eventType, isForeverMint, startsAt });
    if (end !== null && end > LAST_INSTANT) {
      flaws.push({ path: "endsAt", message: "is needed: the default is after the year 9999" });
    }
  }
  return flaws;
}

const MINT_DAYS = 7;

/** "Any other event needs an end": a mint's is 7 days later, the rest end with their first UTC day. */
function defaultEnd({
  eventType,
  isForeverMint,
  startsAt,
}: Omit<EventTimes, "endsAt">): number | null {
  if (isForeverMint) return null;
  return eventType === "MINT_EVENT" ? startsAt + MINT_DAYS * DAY_MS : endOfDay(dayOf(startsAt));
}

/** Counts as Postgres does: a character has one or two of the units of `length`. */
function isLonger(given: string, max: number): boolean {
  // More units than that are always too many: none is looked at.
  return given.length > 2 * max || (given.length > max && [...given].length > max);
}

/** Postgres holds no NUL, and JSON no half of a surrogate pair. */
function isStorable(given: string): boolean {
  return !given.includes("\0") && !/\p{Cs}/u.test(given);
}

/** Asked of every text: what is no URL was named as that already. */
function hasCredentials(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { username, password } = new URL(given);
  return username !== "" || password !== "";
}
