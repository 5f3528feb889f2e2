// timeout: 120 s
/**
 * Goal: no failpoint of voting and publishing leaves a star without its one message. Method: what
 * `npm run prove:publish` does in full, for every fourth place in one mode, another choice every
 * day; the day is printed, and SAMPLE_DAY=n repeats it.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { allCases, type Case, sampleOf } from "./cases.ts";
import { openPublishWorld } from "./publish-world.ts";
import { type Outcome, runCases } from "./run-cases.ts";
import { openVoteWorld } from "./vote-world.ts";

const DAY_MS = 86_400_000;
const day = Number(process.env.SAMPLE_DAY ?? Math.floor(Date.now() / DAY_MS));

function assertHeld(outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  const lines = failed.map(
    ({ name, failure }) => `${failure?.message}\n  npm run prove:publish -- --only ${name}`,
  );
  assert.equal(failed.length, 0, `SAMPLE_DAY=${day}\n${lines.join("\n")}`);
}

/** Whether a star passes some places depends on who is faster; most, it passes always. */
function assertPassed(outcomes: readonly Outcome[], cases: readonly Case[]): void {
  assert.ok(outcomes.length >= 0.75 * cases.length, `${outcomes.length} of ${cases.length} passed`);
}

test(`publishing, day ${day}: each place once`, async () => {
  const cases = sampleOf(allCases("publish"), day);
  const options = { lanes: 2, allHits: false };
  const outcomes = await runCases(cases, openPublishWorld, options);
  assertHeld(outcomes);
  assertPassed(outcomes, cases);
});

test(`voting, day ${day}: each place once`, async () => {
  const cases = sampleOf(allCases("vote"), day);
  // One lane: what is armed in this process is armed for all of it.
  const outcomes = await runCases(cases, openVoteWorld, { lanes: 1, allHits: false });
  assertHeld(outcomes);
  assertPassed(outcomes, cases);
});

test.run();
