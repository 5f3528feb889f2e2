import { z } from "zod";
import { isDay } from "../../../actors/day.ts";
import type { ProblemCode } from "../problem.ts";
import { none } from "../v1/parameters.ts";
import { challengeBody, sessionBody, starBody, starTarget } from "./bodies.ts";
import { clientConfig } from "./client-config.ts";
import { itemPage, itemQuery } from "./items.ts";
import {
  challengeSchema,
  currentAllowanceSchema,
  previewSchema,
  sessionSchema,
  starReplySchema,
  starSchema,
  starsOfDaySchema,
} from "./schemas.ts";

/** One row of the table from which the routes and the OpenAPI document are made. */
export interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `/voting`, as `/stars/{id}`. */
  readonly path: string;
  readonly description: string;
  readonly session: boolean;
  readonly query: z.ZodObject;
  readonly body?: z.ZodType;
  /** Of a success; null: no body. */
  readonly response: z.ZodType | null;
  readonly status: 200 | 201 | 204;
  /** Refusals of its own: `problems` lists those of all, of a session and of a body. */
  readonly codes: readonly ProblemCode[];
}

const open = { session: false, query: none, codes: [] } as const;
const own = { session: true, query: none, codes: [] } as const;
const reads = { method: "GET", status: 200 } as const;
const ends = { method: "DELETE", status: 204, response: null } as const;
const makes = { method: "POST", status: 201 } as const;

const dayQuery = z.strictObject({
  day: z.string().refine(isDay).optional().describe("A UTC day, 2026-11-20; today when absent."),
});

/** Every operation under `/voting`, by its name: the operation's id in the OpenAPI document. */
export const operations = {
  readVotingOpenApi: {
    ...open,
    ...reads,
    path: "/openapi.json",
    description: "The OpenAPI 3.1 document of this API.",
    response: z.looseObject({ openapi: z.string() }).meta({ id: "OpenApi" }),
  },
  readConfig: {
    ...open,
    ...reads,
    path: "/config",
    description: "What a client needs to know before it asks anything else.",
    response: clientConfig,
  },
  listItems: {
    ...open,
    ...reads,
    path: "/items",
    description: "Approved records that can be starred, as the public API shows and orders them.",
    query: itemQuery,
    response: itemPage,
  },
  startSignIn: {
    ...open,
    ...makes,
    path: "/challenges",
    description: "A text for the wallet to sign, once, within five minutes.",
    body: challengeBody("local"),
    response: challengeSchema,
    codes: ["UNKNOWN_WALLET"],
  },
  openSession: {
    ...open,
    ...makes,
    path: "/sessions",
    description: "Trades the signature for a session of 24 hours.",
    body: sessionBody,
    response: sessionSchema,
    codes: ["INVALID_SIGNATURE", "UNKNOWN_WALLET", "CHALLENGE_EXPIRED", "UNSUPPORTED_KEY"],
  },
  endSession: {
    ...own,
    ...ends,
    path: "/sessions/current",
    description: "Ends this session.",
  },
  endSessions: {
    ...own,
    ...ends,
    path: "/sessions",
    description: "Ends all sessions of the wallet.",
  },
  readAllowance: {
    ...own,
    ...reads,
    path: "/allowance",
    description: "What is left of today's votes.",
    response: currentAllowanceSchema,
  },
  previewStar: {
    ...own,
    ...reads,
    path: "/preview",
    description: "What a star would carry now. Spends nothing.",
    query: starTarget,
    response: previewSchema,
    codes: ["NOT_FOUND", "HOLDINGS_UNAVAILABLE"],
  },
  castStar: {
    ...own,
    ...makes,
    path: "/stars",
    description:
      "Casts a star. With an Idempotency-Key it may be sent as often as needed; after UNAVAILABLE, when the star may stand, the key gives the answer.",
    body: starBody,
    response: starReplySchema,
    codes: [
      "NOT_FOUND",
      "ALREADY_STARRED",
      "IDEMPOTENCY_KEY_REUSED",
      "ALLOWANCE_EXHAUSTED",
      "HOLDINGS_UNAVAILABLE",
      "JOURNAL_BEHIND",
    ],
  },
  listStars: {
    ...own,
    ...reads,
    path: "/stars",
    description: "The wallet's stars of a UTC day, newest first.",
    query: dayQuery,
    response: starsOfDaySchema,
  },
  readStar: {
    ...open,
    ...reads,
    path: "/stars/{id}",
    description: "One star with its publication.",
    response: starSchema,
    codes: ["NOT_FOUND"],
  },
  followLive: {
    ...open,
    ...reads,
    path: "/live",
    description:
      "Counters as they change, as server-sent events: `counter`, `day`, `reset`. A client comes back with Last-Event-ID.",
    response: z.string().meta({ id: "EventStream" }),
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** Every code that an operation refuses with; 405 comes besides. */
export function codesOf({ session, body, codes }: Operation): readonly ProblemCode[] {
  return [
    "INVALID_REQUEST",
    "RATE_LIMITED",
    "INTERNAL",
    "UNAVAILABLE",
    ...(session ? (["MISSING_SESSION", "INVALID_SESSION"] as const) : []),
    ...(body === undefined ? [] : (["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)),
    ...codes,
  ];
}
