import type { Alarm } from "../../publishing/publishing-alerts.ts";
import type { FindingKind } from "../../publishing/reconciliation-findings.ts";
import { said } from "./words.ts";

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
