/**
 * Goal: a message's fault is named, and no other; counters are those of the contract's
 * windows. Method: stars and messages by hand.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { countersOf, countWeight, noCounters, type Reading } from "../../src/audit/counters.ts";
import { enterStar, judgeInstant, openDayBook } from "../../src/audit/day-book.ts";
import { followLink, startOfChain } from "../../src/audit/topic-chain.ts";
import { type Framing, runningHash } from "../../src/ledger/running-hash.ts";
import type { StarMessage } from "../../src/publishing/message.ts";

const place = { topic: "0.0.8001", sequenceNumber: 1, message: "" };
const NOON = Date.parse("2026-11-20T12:00:00.000Z");
const HOUR = 3_600_000;

function eventStar(at: number, event: string, isForever = false): StarMessage {
  const eventType = isForever ? "FOREVER_MINT" : "HACKATHON";
  return { type: "event_vote", wallet: "0.0.1001", eventId: event, eventType, timestamp: at };
}

test("twice the same star, twice the same item, twice the same instant", () => {
  const book = openDayBook("2026-11-20");
  const kinds = (star: StarMessage) => enterStar(book, star, place).map(({ kind }) => kind);
  assert.deepEqual(kinds(eventStar(NOON, "a")), []);
  assert.deepEqual(kinds(eventStar(NOON, "a")), ["duplicate"]);
  assert.deepEqual(kinds(eventStar(NOON + 1, "a")), ["once-per-day"]);
  assert.deepEqual(kinds(eventStar(NOON + 1, "b")), ["same-instant"]);
  // On the ledger an earlier star may stand behind a later one.
  assert.deepEqual(kinds(eventStar(NOON - 1, "c")), []);
  assert.deepEqual(kinds({ ...eventStar(NOON, "a"), wallet: "0.0.1002" }), []);
  assert.equal(book.events.get("a")?.stars.length, 3, "of two that are the same, one counts");
});

test("a forever mint again and again, but 20 stars a day at most", () => {
  const book = openDayBook("2026-11-20");
  for (let n = 0; n < 20; n++) {
    assert.deepEqual(enterStar(book, eventStar(NOON + n, "mint", true), place), []);
  }
  const [broken] = enterStar(book, eventStar(NOON + 20, "mint", true), place);
  assert.equal(broken?.kind, "allowance");
  assert.equal(broken?.found, 21);
});

test("a message may follow its star by a day, and precede it by no more than clocks differ", () => {
  const judge = (at: number, consensusMs: number) =>
    judgeInstant({ at, consensusMs, lateMs: 24 * HOUR }, place).map(({ kind }) => kind);
  assert.deepEqual(judge(NOON, NOON + 2_000), []);
  assert.deepEqual(judge(NOON, NOON + 24 * HOUR), []);
  assert.deepEqual(judge(NOON, NOON + 24 * HOUR + 1), ["wrong-day"]);
  assert.deepEqual(judge(NOON, NOON - 60_000), []);
  assert.deepEqual(judge(NOON, NOON - 60_001), ["wrong-day"]);
});

test("the windows: today from 00:00, 7 and 30 days from the full hour", () => {
  const reading: Reading = { from: NOON + 600_000, until: NOON + 600_000, ends: null };
  const counters = noCounters();
  const add = (at: number, weight: number, isSettled = true) =>
    countWeight(counters, { item: "token/0.0.1", at, weight }, { isSettled, until: reading.until });
  add(NOON - 30 * 24 * HOUR - 1, 1);
  add(NOON - 30 * 24 * HOUR, 2);
  add(NOON - 7 * 24 * HOUR - 1, 4);
  add(NOON - 7 * 24 * HOUR, 8);
  add(NOON - 12 * HOUR - 1, 16);
  add(NOON - 12 * HOUR, 32);
  add(NOON, 64, false);
  add(NOON + 600_001, 128, false);
  assert.deepEqual(countersOf(counters, "token/0.0.1", reading), {
    totalVotes: { low: 32, high: 96 },
    votes7d: { low: 56, high: 120 },
    votes30d: { low: 62, high: 126 },
  });
  // Around an hour's end both windows may have been shown.
  const around = { ...reading, from: NOON - 1, until: NOON + 1 };
  const { votes7d } = countersOf(counters, "token/0.0.1", around);
  assert.deepEqual(votes7d, { low: 56, high: 124 });
});

test("a chain is followed in either framing, and the report names it; another version is not", () => {
  for (const framing of ["stream", "plain"] as Framing[]) {
    const chain = startOfChain("0.0.8001");
    let previous: Uint8Array = Buffer.alloc(48);
    for (let sequenceNumber = 1; sequenceNumber <= 3; sequenceNumber++) {
      const message = {
        topicId: "0.0.8001",
        sequenceNumber,
        consensusTimestamp: `170000000${sequenceNumber}.000000000`,
        bytes: Buffer.from("{}"),
        payer: "0.0.2",
        runningHashVersion: 3,
        chunk: null,
      };
      const { consensusTimestamp, bytes, payer } = message;
      const link = { previous, payer, topic: "0.0.8001", consensusTimestamp, sequenceNumber };
      const hash = runningHash({ ...link, message: bytes }, framing);
      previous = hash;
      const given = { ...message, runningHash: hash.toString("base64") };
      const other = followLink(structuredClone(chain), { ...given, runningHashVersion: 2 });
      assert.deepEqual(
        other.map(({ kind }) => kind),
        ["chain"],
      );
      const early = { ...given, consensusTimestamp: chain.consensusTimestamp };
      assert.deepEqual(
        followLink(structuredClone(chain), early).map(({ kind }) => kind),
        ["consensus-order"],
      );
      assert.deepEqual(followLink(chain, given), []);
    }
    assert.equal(chain.framings[framing], 3);
  }
});

test.run();
