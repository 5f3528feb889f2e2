import { NOT_SUBMITTED } from "../../reads/receipts.ts";
import type { Json } from "../openapi.ts";
import { type ProblemCode, standingReply } from "../problem.ts";
import type { Operation, OperationName } from "./operations.ts";

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

const TARGET_TEXT = '{ type: "token", id: "0.0.700001" }';
const SIGN_IN = `// signMessage: hedera_signMessage of your wallet, or personal_sign with scheme "eip191"
await starboard.signIn({
  wallet: "0.0.1005",
  sign: async (message) => ({ scheme: "hip820", signature: await signMessage(message) }),
});`;

interface Example {
  readonly query?: string;
  readonly request?: Json;
  readonly reply?: Json | string;
  /** What a TypeScript program says, once it has its client; absent where that asks by itself. */
  readonly call?: string;
}

/** What an operation is sent, and what it answers: on the demo's directory. */
export const examples: Readonly<Record<OperationName, Example>> = {
  readVotingOpenApi: { reply: { openapi: "3.1.0" } },
  readConfig: {
    call: "console.log(await starboard.config());",
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
  listItems: {
    query: "?type=token&limit=3",
    call: `const { items } = await starboard.items({ type: "token", limit: 3 });
console.log(items);`,
  },
  startSignIn: {
    call: SIGN_IN,
    request: { wallet: WALLET },
    reply: {
      id: ID,
      wallet: WALLET,
      message: "127.0.0.1:3000 wants you to sign in with your Hedera account:\n0.0.1005\n…",
      expiresAt: "2026-11-20T08:05:00.000Z",
    },
  },
  openSession: {
    call: SIGN_IN,
    request: { challengeId: ID, scheme: "hip820", signature: "CmYKIPUM0v…", cookie: false },
    reply: { token: "kZ3v…", wallet: WALLET, expiresAt: "2026-11-21T08:00:00.000Z" },
  },
  endSession: { call: "await starboard.signOut();" },
  endSessions: { call: "await starboard.signOut({ everywhere: true });" },
  readAllowance: {
    call: "console.log(await starboard.allowance());",
    reply: { wallet: WALLET, day: "2026-11-20", premium: false, ...ALLOWANCE },
  },
  previewStar: {
    query: "?type=token&id=0.0.700001",
    call: `console.log(await starboard.preview(${TARGET_TEXT}));`,
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
    call: `const { star, allowance } = await starboard.star(${TARGET_TEXT});
console.log(star.weight, allowance.remaining);`,
    request: { target: TARGET },
    reply: { star: STORED, counter: { totalVotes: 57 }, allowance: ALLOWANCE },
  },
  listStars: {
    query: "?day=2026-11-20",
    call: 'console.log(await starboard.stars("2026-11-20"));',
    reply: { day: "2026-11-20", stars: [STAR] },
  },
  readStar: { call: `console.log(await starboard.receipt("${ID}"));`, reply: STAR },
  followLive: {
    call: "for await (const { event, data } of starboard.live()) console.log(event, data);",
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

/** How to call an operation by the typed client; undefined where that has no word for it. */
export function typescriptOf(
  name: OperationName,
  { session }: Operation,
  publicUrl: string,
): string | undefined {
  const { call } = examples[name];
  if (call === undefined) return undefined;
  const token = session ? `, token: \`\${process.env.STARBOARD_SESSION}\`` : "";
  return `import { voting } from "@starboard/client";

const starboard = voting({ baseUrl: "${publicUrl}"${token} });
${call}`;
}

/** How to call an operation by `curl`. */
export function curlOf(
  name: OperationName,
  { method, path, session }: Operation,
  publicUrl: string,
): string {
  const { query = "", request, reply } = examples[name];
  const id = Object(reply).id ?? "";
  const words = [
    ...(method === "GET" || request !== undefined ? [] : [`-X ${method}`]),
    ...(session ? ['-H "Authorization: Bearer $STARBOARD_SESSION"'] : []),
    ...(name === "castStar" ? ["-H 'Idempotency-Key: my-first-star'"] : []),
    ...(request === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(request)}'`]),
    ...(name === "followLive" ? ["--no-buffer"] : []),
    `"${publicUrl}/voting${path.replace("{id}", id)}${query}"`,
  ];
  return `curl ${words.join(" ")}`;
}
