/** What people read of the doctor and of the verdict: no line is wider than what it says. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { checksText } from "../../src/cli/checks-text.ts";

const well = { name: "redis", ok: true, message: "answers", since: null, fix: null };

test("checks that are well are a table alone", () => {
  assert.equal(checksText([well], { "what to do": "fix" }), "check      what\nredis  ok  answers");
});

test("what is to be done stands below the table, and widens no other line", () => {
  const fix = "see that a worker runs and reaches the ledger ".repeat(5).trim();
  const wrong = { ...well, name: "publishing", ok: false, message: "1 star waits", fix };
  assert.equal(
    checksText([well, wrong], { since: "since", "what to do": "fix" }),
    `check              what
redis       ok     answers
publishing  WRONG  1 star waits

publishing
  what to do: ${fix}`,
  );
});

test.run();
