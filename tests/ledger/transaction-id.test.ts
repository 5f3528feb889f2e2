import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import {
  formatTimestamp,
  formatTransactionId,
  mirrorTransactionId,
  parseTimestamp,
  parseTransactionId,
} from "../../src/ledger/transaction-id.ts";

const payer = fc.integer({ min: 1, max: 999_999_999_999 }).map((n) => `0.0.${n}`);
const nanoseconds = fc.bigInt({ min: 0n, max: 9_999_999_999_999_999_999n });

test("42 nanoseconds survive both spellings", () => {
  const id = { payer: "0.0.1001", validStart: 1_699_999_993_000_000_042n };
  assert.equal(formatTransactionId(id), "0.0.1001@1699999993.000000042");
  assert.equal(mirrorTransactionId(id), "0.0.1001-1699999993-000000042");
  assert.deepEqual(parseTransactionId("0.0.1001@1699999993.000000042"), id);
  assert.deepEqual(parseTransactionId("0.0.1001-1699999993-000000042"), id);
});

test("every id survives both spellings", () => {
  fc.assert(
    fc.property(payer, nanoseconds, (account, validStart) => {
      const id = { payer: account, validStart };
      assert.deepEqual(parseTransactionId(formatTransactionId(id)), id);
      assert.deepEqual(parseTransactionId(mirrorTransactionId(id)), id);
    }),
  );
});

test("every timestamp survives, and text orders as time does", () => {
  fc.assert(
    fc.property(nanoseconds, (at) => {
      const text = formatTimestamp(at);
      assert.match(text, /^\d{1,10}\.\d{9}$/);
      assert.equal(parseTimestamp(text), at);
    }),
  );
  assert.equal(formatTimestamp(0n), "0.000000000");
  assert.equal(parseTimestamp("1700000001.000000123"), 1_700_000_001_000_000_123n);
});

test("nanoseconds of fewer or more than nine digits are refused, not guessed", () => {
  for (const text of [
    "1.42",
    "1.0000000042",
    "1",
    "1.",
    ".000000001",
    "01.000000001",
    "-1.000000001",
    "1e3.000000001",
    " 1.000000001",
    "12345678901.000000001",
  ]) {
    assert.throws(() => parseTimestamp(text), RangeError, text);
    assert.throws(() => parseTransactionId(`0.0.1001@${text}`), RangeError, text);
  }
  assert.throws(() => formatTimestamp(-1n), RangeError);
});

test("mixed and foreign spellings of a transaction id are refused", () => {
  for (const text of [
    "",
    "0.0.1001",
    "0.0.1001@1-000000001",
    "0.0.1001-1.000000001",
    "0.0.1001@1.000000001?scheduled",
    "0.0.1001@1.000000001/1",
    "1001@1.000000001",
    "0.0.0@1.000000001",
    `0.0.1001@1.${"0".repeat(10_000)}`,
  ]) {
    assert.throws(() => parseTransactionId(text), RangeError, text.slice(0, 40));
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.throws(() => parseTransactionId(text), RangeError);
    }),
  );
});

test.run();
