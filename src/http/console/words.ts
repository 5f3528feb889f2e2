import type { Alarm } from "../../publishing/publishing-alerts.ts";
import type { FindingKind } from "../../publishing/reconciliation-findings.ts";
import type { StarNumbers } from "../../reads/list-stars.ts";
import { number } from "./amounts.ts";
import { code, type Html, html } from "./markup.ts";

/**
 * Codes of the service in the words of the people who run it. What has no words here is shown
 * as it is, so nothing new is ever hidden.
 */
export const said =
  (words: Readonly<Record<string, string>>) =>
  (code: string): string =>
    words[code] ?? code;

/** Why a star was refused. */
export const refusalWords = said({
  ALREADY_STARRED: "Already starred today",
  ALLOWANCE_EXHAUSTED: "No votes left today",
});

/** Which rate limit refused. */
export const limitWords = said({
  api: "Public API: too many requests",
  voting: "Voting: too many requests",
  pages: "Pages: too many requests",
  exports: "Exports: too many requests",
});

/** How far a star's message is. */
export const publicationWords = said({
  pending: "waiting",
  reserved: "has a transaction id",
  signed: "signed, not yet sent",
  sent: "sent, not yet confirmed",
  published: "published",
});

/** The state of an actor. */
export const stateWords = said({
  open: "votes left",
  spent: "all votes used",
  counting: "stars are counted",
  collecting: "stars are counted",
});

export const checkWords = said({
  skipped: "nothing to check yet",
  running: "running",
  done: "done",
  incomplete: "ended with parts left open",
});

/** What became of a transaction id. */
export const outcomeWords = said({
  published: "on the ledger",
  "never sent": "given up before it was sent",
  refused: "refused by the network",
  failed: "failed on the ledger",
  foreign: "its id was used by somebody else",
  absent: "proved absent from the topic",
});

/** What an operator did. */
export const actionWords = said({
  "session.open": "signed in",
  "session.close": "signed out",
  "session.link": "made a sign-in link",
  "catalogue.approve": "approved records",
  "catalogue.import": "imported records",
  "catalogue.reject": "rejected records",
  "holdings.dry-run": "made a dry run of the holdings check",
  "holdings.run": "ran the holdings check",
  "journal.accept-loss": "accepted a loss",
  "journal.recover": "recovered the journal",
  "keys.issue": "issued a key",
  "keys.revoke": "revoked a key",
  "operators.add": "added an operator",
  "operators.change": "changed a role",
  "operators.revoke": "revoked an operator",
  "premium.grant": "granted a pass",
  "premium.revoke": "took a pass back",
  "publishing.redrive": "re-drove a star",
  "publishing.resolve": "set a finding aside",
  "queues.promote": "promoted a job",
  "queues.retry": "retried a job",
  "queues.retry-failed": "retried failed jobs",
  "rewards.reoffer": "offered a day's stars again",
  "seasons.add": "added a season",
  "sessions.revoke": "ended a wallet's sessions",
  "topics.create": "created the topics",
  "xp.credit": "booked points",
});

/** What sort of actor or target something is. */
export const kindWords = said({
  "wallet-day": "Wallet day",
  "event-day": "Event day",
  "forever-mint": "Forever mint",
  event: "event",
  token: "token",
  collection: "NFT collection",
  project: "project",
});

/** With a capital, as at the start of a sentence. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name of the code's as words: `wasStarredAlready` becomes `was starred already`. */
export function spelled(name: string): string {
  return name.replace(/[A-Z]/g, " $&").toLowerCase();
}

/** What a process complains of. */
export const alarmWords = said({
  configuration: "The ledger refuses for a reason that only a person can cure",
  foreign: "Somebody else used up a transaction id of this service",
  contradiction: "The consensus nodes and the mirror node contradict each other",
  returned: "A message that was proved absent is there after all",
  overdue: "A star has waited for more than a minute",
  "journal-behind": "The topics hold stars that the journal lacks",
  "topics-unread": "The topics could not be compared with the journal",
  "machine-contradiction": "Machine and journal contradict each other: a defect",
} satisfies Record<Alarm | "topics-unread" | "machine-contradiction", string>);

/** Where a topic differs from the journal. */
export const findingWords = said({
  missing: "Missing: accepted, but not on the topic",
  duplicate: "Double: a second message of one star",
  foreign: "Foreign: a message that Starboard did not send",
  malformed: "Malformed: no star of any kind",
  "wrong bytes": "Changed: another text than the star's own",
  "wrong topic": "Misplaced: on another topic than the star's own",
  "broken chain": "Broken chain: a running hash that does not follow",
  contradiction: "Contradiction: receipt and mirror node differ",
  lost: "Lost: on the topic, but not in the journal",
} satisfies Record<FindingKind, string>);

/** What operators have to do about the ledger's own codes, or may leave to time. */
const LEDGER_CODES: Readonly<Record<string, string>> = {
  BUSY: "the network is busy",
  DUPLICATE_TRANSACTION: "it had been sent already",
  INSUFFICIENT_PAYER_BALANCE: "the operator account has no money left",
  INSUFFICIENT_TX_FEE: "the fee is higher than we offer",
  INVALID_SIGNATURE: "the operator key does not fit",
  INVALID_SUBMIT_KEY: "the topic takes no messages from this key",
  INVALID_TOPIC_ID: "there is no such topic",
  PLATFORM_NOT_ACTIVE: "the network is not ready",
  PLATFORM_TRANSACTION_NOT_CREATED: "the network did not take it",
  RECEIPT_NOT_FOUND: "the network knows no receipt",
  THROTTLED_AT_CONSENSUS: "the network had too much to do",
  TOPIC_EXPIRED: "the topic has expired",
  TRANSACTION_EXPIRED: "its time was over",
  UNAUTHORIZED: "the topic takes no messages from this key",
  UNAVAILABLE: "the node is away",
};

/** A sentence of the publisher with the ledger's codes explained beside them. */
export function troubleWords(text: string): string {
  return text.replace(/\b[A-Z]{3,}(?:_[A-Z]+)*\b/g, (code) => {
    const words = LEDGER_CODES[code];
    return words === undefined ? code : `${words} (${code})`;
  });
}

/** Serial numbers in their order, those in a row as one: `2 to 42, 50`. */
export function serialsText(serials: readonly number[]): string {
  const runs: { readonly first: number; last: number }[] = [];
  for (const serial of serials) {
    const run = runs.at(-1);
    if (run !== undefined && run.last + 1 === serial) run.last = serial;
    else runs.push({ first: serial, last: serial });
  }
  return runs
    .map(({ first, last }) => {
      if (first === last) return number(first);
      return `${number(first)}${last === first + 1 ? ", " : " to "}${number(last)}`;
    })
    .join(", ");
}

/** `token 0.0.9001`, of `token/0.0.9001`. */
export function targetName(target: string): Html {
  const [type = "", id = ""] = target.split("/");
  return html`${kindWords(type)} ${code(id)}`;
}

/** A star's breakdown beside what its wallet held. */
type Weighed = Pick<StarNumbers, "base" | "countedA" | "bonusB" | "heldA" | "heldB">;

/** What a weight is made of, part by part; and what did not count though it was held. */
export function weightParts(star: Weighed): readonly (readonly [weight: number, of: string])[] {
  const { base, countedA, bonusB, heldA, heldB } = star;
  const rest = countedA < heldA ? `, ${othersWords(countedA, heldA)}` : "";
  const bonus = bonusB === 0 ? ` (${number(heldB)} held, no +5 was left to count)` : "";
  return [
    [base, base === 1 ? "for the wallet" : "for the wallet, which had starred before"],
    ...(heldA === 0
      ? []
      : [[countedA, `for collection A (${number(heldA)} held${rest})`] as const]),
    ...(heldB === 0 ? [] : [[bonusB, `for collection B${bonus}`] as const]),
  ];
}

/** The same as a sentence. */
export function weightWords(star: Weighed): string {
  const parts = weightParts(star).map(([weight, of]) => `${number(weight)} ${of}`);
  return parts.join(", ");
}

/** Of the NFTs of collection A, those that did not count: `the others had counted before`. */
function othersWords(counted: number, held: number): string {
  if (counted > 0)
    return held - counted === 1 ? "one had counted before" : "the others had counted before";
  return held === 1 ? "it had counted before" : "all had counted before";
}
