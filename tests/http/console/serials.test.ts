/** Goal: many serial numbers stay readable, and none is lost. Method: lists and what is said of them. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { serialsText } from "../../../src/http/console/words.ts";

test("consecutive serials are one range, the others are single", () => {
  assert.equal(serialsText([]), "");
  assert.equal(serialsText([7]), "7");
  assert.equal(serialsText([7, 8]), "7, 8");
  assert.equal(serialsText([2, 3, 4, 9, 11, 12, 13]), "2 to 4, 9, 11 to 13");
  assert.equal(serialsText([999, 1_000, 1_001]), "999 to 1,001");
});

test("unsorted serials are listed in their order", () => {
  assert.equal(serialsText([5, 4, 3]), "5, 4, 3");
});

test.run();
