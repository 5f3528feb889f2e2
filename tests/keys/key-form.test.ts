/** A key: a fixed prefix ending in `_live_`, 178 random bits, and a checksum. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { hashOf, isKey, makeKey, shownPrefix } from "../../src/keys/key-form.ts";

const FORM = /^starboard_live_[0-9A-Za-z]{36}$/;

test("a key has the form of the contract, and no two are equal", () => {
  const keys = Array.from({ length: 20_000 }, () => makeKey());
  for (const key of keys) assert.match(key, FORM);
  assert.ok(keys.every((key) => isKey(key)));
  assert.equal(new Set(keys).size, keys.length);
});

test("the random part favours no character", () => {
  const counts = new Map<string, number>();
  const keys = 10_000;
  for (let n = 0; n < keys; n++) {
    for (const character of makeKey().slice(15, 45)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  assert.equal(counts.size, 62);
  const expected = (keys * 30) / 62;
  // Six standard deviations; taking bytes modulo 62 would give eight characters 25 % more.
  for (const [character, count] of counts) {
    assert.ok(Math.abs(count - expected) < 6 * Math.sqrt(expected), `${character}: ${count}`);
  }
});

test("one changed, swapped, missing or added character makes it no key", () => {
  const key = makeKey();
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === "x" ? "y" : "x";
    assert.equal(isKey(key.slice(0, index) + other + key.slice(index + 1)), false, String(index));
  }
  assert.equal(isKey(key.slice(1)), false);
  assert.equal(isKey(`${key}0`), false);
  assert.equal(isKey(`${key}\n`), false);
  assert.equal(isKey(key.toUpperCase()), false);
  assert.equal(isKey(""), false);
});

test("the checksum is CRC-32 of all that is before it, in base62", () => {
  // Bit by bit, so that it shares nothing with the code under test.
  const body = `starboard_live_${"0".repeat(30)}`;
  const table = Array.from({ length: 256 }, (_, n) => {
    let value = n;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body)) crc = (table[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  let rest = (crc ^ 0xffffffff) >>> 0;
  let text = "";
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (let n = 0; n < 6; n++, rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text;
  assert.ok(isKey(body + text));
});

test("only the SHA-256 is stored, and lists show only the first characters", () => {
  const key = makeKey();
  assert.equal(hashOf(key).length, 32);
  assert.equal(shownPrefix(key), key.slice(0, 19));
});

test.run();
