import { NOT_SUBMITTED } from "../../reads/receipts.ts";
import { type ProblemCode, standingReply } from "../problem.ts";
import type { OperationName } from "./operations.ts";

type Json = { readonly [name: string]: unknown };

const ID = "01a1f88e-2c92-7a00-9861-bc1879f11b22";
const WALLET = "0.0.1005";
const RESETS_AT = "2026-11-21T00:00:00.000Z";
const TARGET = { type: "token", id: "0.0.700001" };
const ALLOWANCE = { limit: 5, used: 1, remaining: 4, resetsAt: RESETS_AT };
const BREAKDOWN = { base: 1, collectionA: 3, collectionB: 5 };

const STAR = {
  id: ID,
  wallet: WALLET,
  target: TARGET,
  at: "2026-11-20T08:00:00.000Z",
  day: "2026-11-20",
  votingPower: 9,
  weight: 9,
  breakdown: BREAKDOWN,
  holdings: { collectionA: 3, collectionB: 1 },
  publication: {
    state: "published",
    topicId: "0.0.1014",
    transactionId: "0.0.1001@1795161600.731000000",
    sequenceNumber: 267,
    consensusTimestamp: "1795161602.904000000",
    runningHash: "hVKY0n0Ym6hXyGq7CzVcPBmRkV5mFNsH1s1cOqgF2WkT5cZ2gk0i5n8x1vQ8q4eN",
  },
};

const STORED = { ...STAR, publication: NOT_SUBMITTED };

/** What an operation is sent, and what it answers: on the demo's directory. */
export const examples: Readonly<
  Record<OperationName, { readonly request?: Json; readonly reply?: Json | string }>
> = {
  readVotingOpenApi: { reply: { openapi: "3.1.0" } },
  readConfig: {
    reply: {
      network: "local",
      chainId: "hedera:local",
      publicUrl: "http://127.0.0.1:3000",
      mirrorNodeUrl: "http://127.0.0.1:5551",
      explorerUrl: null,
      topics: { event: "0.0.1013", asset: "0.0.1014" },
      collections: {
        a: { id: "0.0.1003", key: "collection_a" },
        b: { id: "0.0.1004", key: "collection_b" },
      },
      demoWallets: true,
      walletConnectProjectId: null,
    },
  },
  // Its records have examples of their own.
  listItems: {},
  startSignIn: {
    request: { wallet: WALLET },
    reply: {
      id: ID,
      wallet: WALLET,
      message: "127.0.0.1:3000 wants you to sign in with your Hedera account:\n0.0.1005\n…",
      expiresAt: "2026-11-20T08:05:00.000Z",
    },
  },
  openSession: {
    request: { challengeId: ID, scheme: "hip820", signature: "CmYKIPUM0v…", cookie: false },
    reply: { token: "kZ3v…", wallet: WALLET, expiresAt: "2026-11-21T08:00:00.000Z" },
  },
  endSession: {},
  endSessions: {},
  readAllowance: { reply: { wallet: WALLET, day: "2026-11-20", premium: false, ...ALLOWANCE } },
  previewStar: {
    reply: {
      votingPower: 9,
      weight: 9,
      breakdown: BREAKDOWN,
      alreadyStarred: false,
      lastStarredDay: null,
      allowance: ALLOWANCE,
    },
  },
  castStar: {
    request: { target: TARGET },
    reply: { star: STORED, counter: { totalVotes: 57 }, allowance: ALLOWANCE },
  },
  listStars: { reply: { day: "2026-11-20", stars: [STAR] } },
  readStar: { reply: STAR },
  followLive: {
    reply: `event: counter\ndata: {"type":"token","id":"0.0.700001","totalVotes":57,"day":"2026-11-20"}\n\n`,
  },
};

const DETAILS: Partial<Record<ProblemCode, Json>> = {
  INVALID_REQUEST: { field: "wallet" },
  ALREADY_STARRED: { starId: ID, resetsAt: RESETS_AT },
  ALLOWANCE_EXHAUSTED: { limit: 5, used: 5, resetsAt: RESETS_AT },
};

/** The body of a refusal. */
export function refusalExample(code: ProblemCode): Json {
  return { error: standingReply(code).text, code, ...DETAILS[code] };
}
