import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { readPersonalSignature, readSignatureMap } from "../../src/ledger/given-signature.ts";
import { bytesOf, MalformedMessage, readFields } from "../../src/ledger/protobuf-wire.ts";
import { isSupportedKey } from "../../src/ledger/wallet-signature.ts";
import { ed25519, hex, mapOf } from "./wallet-keys.ts";

const fromHex = (text: string) => Buffer.from(text, "hex");
const malformed = (text: string) =>
  assert.throws(() => readFields(fromHex(text)), MalformedMessage, text);

test("fields are read in order, integers and bytes", () => {
  assert.deepEqual(readFields(fromHex("")), []);
  assert.deepEqual(readFields(fromHex("0802120361626308ffffffff0f")), [
    { number: 1, integer: 2 },
    { number: 2, bytes: fromHex("616263") },
    { number: 1, integer: 0xffff_ffff },
  ]);
  assert.deepEqual(readFields(fromHex("f2070100").subarray(0, 4)), [
    { number: 126, bytes: fromHex("00") },
  ]);
});

for (const [name, bytes] of [
  ["a tag without a value", "08"],
  ["a length without its bytes", "1203616"],
  ["a length one too long", "12046162"],
  ["a length beyond everything", "12ffffffff0f61"],
  ["field number 0", "0000"],
  ["bytes in field number 0", "020161"],
  ["an integer beyond 32 bits", "08ffffffff1f"],
  ["an integer that does not end", "08ffffffffff01"],
  ["a fixed 64-bit value", "090000000000000000"],
  ["a fixed 32-bit value", "0d00000000"],
  ["a group", "0b0c"],
] as const) {
  test(`${name} is malformed`, () => malformed(bytes));
}

test("any bytes are fields that add up to them, or malformed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        const held = readFields(bytes).map((field) => ("bytes" in field ? field.bytes.length : 0));
        assert.ok(held.reduce((sum, length) => sum + length, 0) <= bytes.length);
      } catch (error) {
        assert.ok(error instanceof MalformedMessage);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("an integer is not taken for bytes", () => {
  assert.throws(() => bytesOf({ number: 1, integer: 1 }), MalformedMessage);
});

const signature = Buffer.alloc(64, 9);
const encodeMap = (bytes: string) => fromHex(bytes).toString("base64");

test("a signature map is its pairs and nothing else", () => {
  const text = mapOf([
    { pubKeyPrefix: fromHex("0102"), ed25519: signature },
    { ECDSASecp256k1: signature },
    { contract: signature },
    { RSA_3072: signature },
    { pubKeyPrefix: fromHex("03") },
  ]);
  assert.deepEqual(
    readSignatureMap(text).map(({ kind, claimedPrefix }) => [kind, hex(claimedPrefix)]),
    [
      ["ed25519", "0102"],
      ["ecdsa", ""],
    ],
  );
  const sig = `40${hex(signature)}`;
  for (const [name, bytes] of [
    ["another field", "12020a00"],
    ["an integer for a pair", "0801"],
    ["two signatures in a pair", `0a84011a${sig}32${sig}`],
    ["the same signature field twice", `0a84011a${sig}1a${sig}`],
    ["two prefixes", "0a060a01010a0101"],
    ["an unknown kind of signature", `0a423a${sig}`],
    ["a signature of 63 bytes", `0a411a3f${hex(signature.subarray(1))}`],
    ["a signature of 65 bytes", `0a431a41${hex(signature)}00`],
    ["an empty signature", "0a021a00"],
  ] as const) {
    assert.throws(() => readSignatureMap(encodeMap(bytes)), MalformedMessage, name);
  }
  assert.deepEqual(readSignatureMap(encodeMap(`0a421a${sig}`)).length, 1);
  assert.throws(() => readPersonalSignature("00".repeat(64)), MalformedMessage);
});

test("a key message is one key and nothing else", () => {
  const key = hex(ed25519().publicKey.toBytesRaw());
  const supported = (bytes: string) => isSupportedKey({ _type: "ProtobufEncoded", key: bytes });
  const one = `1220${key}`;
  const list = `0a22${one}`;
  assert.equal(supported(one), true);
  assert.equal(supported(`3224${list}`), true);
  assert.equal(supported(`2a2808011224${list}`), true);
  for (const [name, bytes] of [
    ["two keys at once", one + one],
    ["a key and something else", `${one}4a00`],
    ["an integer for a key", "1001"],
    ["a key cut short", one.slice(0, -2)],
    ["a list with another field", `3227${list}120161`],
    ["two thresholds", `2a2a080108011224${list}`],
    ["two lists in a threshold", `2a4e08011224${list}1224${list}`],
    ["a threshold with another field", `2a2a080118011224${list}`],
    ["a threshold as bytes", `2a290a01011224${list}`],
  ] as const) {
    assert.equal(supported(bytes), false, name);
  }
});

test("a key with more keys than a ledger transaction can carry is not followed", () => {
  const entry = fromHex(`0a221220${hex(ed25519().publicKey.toBytesRaw())}`);
  const listOf = (count: number) => {
    const keys = Buffer.concat(Array.from({ length: count }, () => entry));
    const length = Buffer.from([(keys.length & 0x7f) | 0x80, keys.length >> 7]);
    return hex(Buffer.concat([fromHex("32"), length, keys]));
  };
  assert.equal(isSupportedKey({ _type: "ProtobufEncoded", key: listOf(170) }), true);
  assert.equal(isSupportedKey({ _type: "ProtobufEncoded", key: listOf(200) }), false);
});

test.run();
