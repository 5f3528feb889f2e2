import { counted } from "../../../counted.ts";
import { timeLeft } from "../words.ts";

/** What the service says beside a code; see the contract's table of refusals. */
export interface Refusal {
  /** Null where the answer is not the service's own. */
  readonly code: string | null;
  readonly resetsAt?: string | null;
  readonly limit?: number | null;
  readonly retryAfterSeconds?: number | null;
}

interface Ending {
  /** `at 00:00 UTC, in 5 hours 12 minutes` */
  readonly midnight: string;
  /** `in 3 seconds` */
  readonly soon: string;
  readonly limit: number | null;
}

const FAULT = "That is our fault, and nothing was spent. Reload the page and try again.";
/** What was done is not known. */
const UNKNOWN = "That is our fault. Reload the page and try again.";

/** One sentence for every code of the voting API, with the time at which the refusal ends. */
const SENTENCES: Readonly<Record<string, (ending: Ending) => string>> = {
  ALREADY_STARRED: ({ midnight }) => `You have starred this today. It opens again ${midnight}.`,
  ALLOWANCE_EXHAUSTED: ({ midnight, limit }) =>
    `All ${limit ?? "your"} votes of today are given. There are new ones ${midnight}.`,
  CHALLENGE_EXPIRED: () => "Signing took longer than five minutes. Sign in once more.",
  HEADERS_TOO_LARGE: () => FAULT,
  HOLDINGS_UNAVAILABLE: ({ soon }) =>
    `What your wallet holds cannot be read right now. Nothing was spent; try again ${soon}.`,
  IDEMPOTENCY_KEY_REUSED: () => FAULT,
  INTERNAL: () => UNKNOWN,
  INVALID_REQUEST: () => FAULT,
  INVALID_SESSION: () => "You are signed out. Sign in again to give this star.",
  INVALID_SIGNATURE: () => "The signature does not fit this wallet. Sign in once more.",
  JOURNAL_BEHIND: ({ soon }) =>
    `Lost stars are being restored, and no star is accepted until then. Nothing was spent; try again ${soon}.`,
  METHOD_NOT_ALLOWED: () => FAULT,
  MISSING_SESSION: () => "Sign in to give this star.",
  NOT_FOUND: () => "This is no longer in the directory. Nothing was spent.",
  PAYLOAD_TOO_LARGE: () => FAULT,
  RATE_LIMITED: ({ soon }) =>
    `Too many requests came from your address. Nothing was spent; try again ${soon}.`,
  REQUEST_TIMEOUT: () => "Your connection was too slow. Nothing was spent; press again.",
  UNAVAILABLE: ({ soon }) => `The service cannot answer right now. Try again ${soon}.`,
  UNKNOWN_WALLET: () => "The ledger knows no such account.",
  UNSUPPORTED_KEY: () => "This account has no key that can sign in.",
  UNSUPPORTED_MEDIA_TYPE: () => FAULT,
};

export const KNOWN_REFUSALS: readonly string[] = Object.keys(SENTENCES);

/** Where nothing of the service's own was answered. */
export const NO_ANSWER = "No answer came. Check your connection and try again.";

/**
 * Of a star that may stand though it was answered so: the next press asks with the same key.
 */
export function openSentence(refusal: Refusal): string {
  const what =
    refusal.code === null
      ? "No answer came. Check your connection and press again"
      : `The service did not confirm your star, which may count. Press again ${soonOf(refusal)}`;
  return `${what}: a star counts once, however often you ask.`;
}

/**
 * A refusal as a sentence, with the time at which it ends.
 *
 * @param now epoch milliseconds by the service's clock
 */
export function refusalSentence(refusal: Refusal, now: number): string {
  const { code, resetsAt = null, limit = null } = refusal;
  if (code === null) return NO_ANSWER;
  const left = resetsAt === null ? null : timeLeft(Date.parse(resetsAt) - now);
  const midnight = `at 00:00 UTC${left === null ? "" : `, in ${left}`}`;
  const sentence = SENTENCES[code] ?? (() => UNKNOWN);
  return sentence({ midnight, soon: soonOf(refusal), limit });
}

function soonOf({ retryAfterSeconds }: Refusal): string {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds ?? 1));
  return `in ${seconds < 120 ? counted(seconds, "second") : timeLeft(seconds * 1_000)}`;
}
