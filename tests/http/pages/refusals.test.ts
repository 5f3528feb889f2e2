/** Every refusal that a voter can meet is a sentence, with the time at which it ends. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { mayStand, StarboardError } from "../../../packages/client/src/index.ts";
import {
  KNOWN_REFUSALS,
  NO_ANSWER,
  openSentence,
  refusalSentence,
} from "../../../src/http/pages/browser/refusals.ts";
import {
  carried,
  NO_VOTES,
  timeLeft,
  votesLeft,
  wouldCarry,
} from "../../../src/http/pages/words.ts";
import { PROBLEM_CODES, standingReply } from "../../../src/http/problem.ts";
import { scriptOf } from "../../support/script.ts";

const NOW = Date.UTC(2026, 10, 20, 18, 48);
const resetsAt = "2026-11-21T00:00:00.000Z";
/** Codes of the public API, of the console and of the exports: no page meets them. */
const ELSEWHERE = [
  ...["INVALID_API_KEY", "MISSING_API_KEY", "REVOKED_API_KEY", "INVALID_PARAMETER"],
  ...["INVALID_OPERATOR_TOKEN", "RANGE_NOT_SATISFIABLE"],
];

test("every code of the service has a sentence of its own, or belongs elsewhere", () => {
  const known = [...KNOWN_REFUSALS, ...ELSEWHERE].filter((code) => code !== "METHOD_NOT_ALLOWED");
  assert.deepEqual([...PROBLEM_CODES].sort(), known.sort());
});

test("a sentence is one for people: it ends, names no code, and says when it is over", () => {
  for (const code of [...KNOWN_REFUSALS, "SOMETHING_NEW"]) {
    const text = refusalSentence({ code, resetsAt, limit: 5, retryAfterSeconds: 3 }, NOW);
    assert.match(text, /^[A-Z][^_]+\.$/, code);
  }
  const said = (code: string, more = {}) => refusalSentence({ code, resetsAt, ...more }, NOW);
  const midnight = "at 00:00 UTC, in 5 hours 12 minutes";
  assert.equal(said("ALREADY_STARRED"), `You have starred this today. It opens again ${midnight}.`);
  assert.equal(
    said("ALLOWANCE_EXHAUSTED", { limit: 20 }),
    `All 20 votes of today are given. There are new ones ${midnight}.`,
  );
  for (const code of ["HOLDINGS_UNAVAILABLE", "JOURNAL_BEHIND", "RATE_LIMITED", "UNAVAILABLE"]) {
    assert.match(said(code, { retryAfterSeconds: 3 }), /[Tt]ry again in 3 seconds\.$/);
    assert.match(said(code, { retryAfterSeconds: 600 }), /[Tt]ry again in 10 minutes\.$/);
    assert.match(said(code), /[Tt]ry again in 1 second\.$/);
  }
});

test("a refusal says that nothing was spent only where that is certain", () => {
  for (const code of KNOWN_REFUSALS) {
    const ours = PROBLEM_CODES.find((known) => known === code);
    const { status } = ours === undefined ? { status: 405 } : standingReply(ours);
    const error = new StarboardError(new Response(null, { status }), { code } as object);
    const text = refusalSentence({ code }, NOW);
    if (mayStand(error)) assert.doesNotMatch(text, /spent/, code);
  }
  assert.doesNotMatch(refusalSentence({ code: "SOMETHING_NEW" }, NOW), /spent/);
});

test("of a star that may stand it is said that it may, when to press again, and that it counts once", () => {
  const end = "a star counts once, however often you ask.";
  const may = "The service did not confirm your star, which may count.";
  assert.equal(
    openSentence({ code: "UNAVAILABLE", retryAfterSeconds: 3 }),
    `${may} Press again in 3 seconds: ${end}`,
  );
  assert.equal(openSentence({ code: "INTERNAL" }), `${may} Press again in 1 second: ${end}`);
  assert.equal(
    openSentence({ code: null }),
    `No answer came. Check your connection and press again: ${end}`,
  );
});

test("an answer that is not the service's own counts as no answer", () => {
  assert.equal(refusalSentence({ code: null }, NOW), NO_ANSWER);
});

test("what a star would carry, and why, in one line", () => {
  const breakdown = { base: 1, collectionA: 12, collectionB: 5 };
  assert.equal(
    wouldCarry({ votingPower: 18, weight: 18, breakdown }, "none"),
    "Would carry 18: base 1, A 12, B 5.",
  );
  const some = { base: 1, collectionA: 5, collectionB: 5 };
  assert.equal(
    wouldCarry({ votingPower: 18, weight: 11, breakdown: some }, "event-day"),
    "Would carry 11: base 1, A 5, B 5. 7 of your 12 NFTs have counted here today.",
  );
  const one = { base: 1, collectionA: 0, collectionB: 5 };
  assert.equal(
    wouldCarry({ votingPower: 7, weight: 6, breakdown: one }, "event-day"),
    "Would carry 6: base 1, A 0, B 5. 1 of your 1 NFT has counted here today.",
  );
  // A later version of the rules may give another bonus.
  const more = { base: 1, collectionA: 5, collectionB: 7 };
  assert.equal(
    wouldCarry({ votingPower: 20, weight: 13, breakdown: more }, "event-day"),
    "Would carry 13: base 1, A 5, B 7. 7 of your 12 NFTs have counted here today.",
  );
  const spent = { base: 1, collectionA: 0, collectionB: 0 };
  assert.equal(
    wouldCarry({ votingPower: 18, weight: 1, breakdown: spent }, "event-day"),
    "Would carry 1: base 1, A 0, B 0. 17 of your power of 18 has counted here today.",
  );
  const again = { base: 0, collectionA: 0, collectionB: 0 };
  assert.equal(
    wouldCarry({ votingPower: 1, weight: 0, breakdown: again }, "forever-mint"),
    "Would carry 0: base 0, A 0, B 0. 1 of your power of 1 has counted here already.",
  );
});

test("what stays beside a star while a page is open counts no time", () => {
  assert.equal(carried(9), "Your star carried 9. It opens again at 00:00 UTC.");
  assert.doesNotMatch(NO_VOTES, /hour|minute/);
});

test("time and votes in words", () => {
  assert.equal(timeLeft(0), "less than a minute");
  assert.equal(timeLeft(-5), "less than a minute");
  assert.equal(timeLeft(61_000), "1 minute");
  assert.equal(timeLeft(3_600_000), "1 hour");
  assert.equal(timeLeft(23 * 3_600_000 + 59 * 60_000), "23 hours 59 minutes");
  assert.equal(votesLeft({ remaining: 0, limit: 20 }), "0 of 20 votes left");
});

test("of a day's replies that overtake each other, the one with fewer votes is shown", async () => {
  const place = { textContent: "5 of 5 votes left" };
  const body = { dataset: { now: String(NOW) } };
  Object.assign(globalThis, { document: { body, querySelectorAll: () => [place] } });
  // By its address: it is checked with the types of a browser.
  const votes = scriptOf(new URL("../../../src/http/pages/browser/votes.ts", import.meta.url));
  const { readVotes, setVotes, spendVote } = await import(votes);
  readVotes();
  const [first, second] = [spendVote(), spendVote()];
  assert.equal(place.textContent, "3 of 5 votes left");
  setVotes({ limit: 5, remaining: 3, resetsAt });
  second();
  setVotes({ limit: 5, remaining: 4, resetsAt });
  first();
  Reflect.deleteProperty(globalThis, "document");
  assert.equal(place.textContent, "3 of 5 votes left");
});

test.run();
