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
