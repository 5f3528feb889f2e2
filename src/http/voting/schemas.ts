import { z } from "zod";
import { record } from "../openapi.ts";
import { targetType } from "./bodies.ts";

/**
 * The replies of the voting API, field by field (contract, section 3). The OpenAPI document is made
 * from them, and tests hold real replies against them.
 */

const text = z.string();
const count = z.int().min(0);
const instant = z.iso.datetime({ precision: 3 });
const day = z.iso.date().describe("A UTC day.");
const wallet = text.describe("Account id, 0.0.n.");

export const challengeSchema = record("Challenge", {
  id: text,
  wallet: text.describe("As it was asked for; an EVM address in lower case."),
  message: text.describe("To be signed as it stands."),
  expiresAt: instant,
});

export const sessionSchema = record("Session", {
  token: text.optional().describe("Absent where it went into the cookie."),
  wallet,
  expiresAt: instant,
});

const allowance = {
  limit: count,
  used: count,
  remaining: count,
  resetsAt: instant.describe("The next 00:00 UTC."),
};
const left = record("Allowance", allowance);

export const currentAllowanceSchema = record("CurrentAllowance", {
  wallet,
  day,
  premium: z.boolean(),
  ...allowance,
});

const breakdown = record("Breakdown", { base: count, collectionA: count, collectionB: count });

export const previewSchema = record("Preview", {
  votingPower: count,
  weight: count.describe("What a star would add to the counter now."),
  breakdown,
  alreadyStarred: z.boolean().describe("Today; on a forever mint ever."),
  lastStarredDay: day.nullable(),
  allowance: left,
});

export const starSchema = record("Star", {
  id: text,
  wallet,
  target: z.strictObject({ type: targetType, id: text }),
  at: instant,
  day,
  votingPower: count,
  weight: count.describe("What it added to the counter."),
  breakdown,
  holdings: z.strictObject({ collectionA: count, collectionB: count }),
  publication: z.strictObject({
    state: z.enum(["stored", "submitted", "published"]),
    topicId: text.nullable(),
    transactionId: text.nullable().describe("0.0.n@seconds.nnnnnnnnn"),
    sequenceNumber: count.nullable(),
    consensusTimestamp: text.nullable().describe("seconds.nnnnnnnnn"),
    runningHash: text.nullable().describe("Base64, as the mirror node gives it."),
  }),
});

export const starReplySchema = record("StarReply", {
  star: starSchema,
  counter: z.strictObject({ totalVotes: count }),
  allowance: left,
});

export const starsOfDaySchema = record("StarsOfDay", {
  day,
  stars: z.array(starSchema).describe("Newest first."),
});

const refusal = <Code extends string, More extends z.ZodRawShape>(
  code: Code,
  id: string,
  more: More,
) => z.strictObject({ error: text, code: z.literal(code), ...more }).meta({ id });

/** Refusals that say more than their code. */
export const refusalSchemas = {
  INVALID_REQUEST: refusal("INVALID_REQUEST", "InvalidRequest", {
    field: text.nullable().describe("What is bad; null where the body is no JSON object."),
  }),
  ALREADY_STARRED: refusal("ALREADY_STARRED", "AlreadyStarred", {
    starId: text,
    resetsAt: instant,
  }),
  ALLOWANCE_EXHAUSTED: refusal("ALLOWANCE_EXHAUSTED", "AllowanceExhausted", {
    limit: count,
    used: count,
    resetsAt: instant,
  }),
} as const;
