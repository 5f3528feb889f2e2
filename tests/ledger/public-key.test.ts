import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ed25519 as curve } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { test } from "uvu";
import type { MirrorKey } from "../../src/ledger/public-key.ts";
import { isSupportedKey, verifyWalletSignature } from "../../src/ledger/wallet-signature.ts";
import {
  contractId,
  ecdsa,
  ed25519,
  encoded,
  hex,
  listOf,
  MESSAGE,
  mirrorKey,
  personalSign,
  signatureMap,
} from "./wallet-keys.ts";

const bytesOf = (key: { publicKey: { toBytesRaw(): Uint8Array } }) => key.publicKey.toBytesRaw();

test("the keys of the recorded accounts can sign, and a missing one cannot", () => {
  const recorded: { path: string; status: number; body: { account: string; key: MirrorKey } }[] =
    JSON.parse(readFileSync(new URL("../golden/mirror-golden.json", import.meta.url), "utf8"));
  const supported = new Map(
    recorded
      .filter(({ path, status }) => /accounts\/0\.0\.\d+\?/.test(path) && status === 200)
      .map(({ body }) => [body.account, isSupportedKey(body.key)]),
  );
  assert.deepEqual(Object.fromEntries(supported), {
    "0.0.1001": true,
    "0.0.1002": true,
    "0.0.1003": true,
    "0.0.1004": true,
    "0.0.1005": false,
    "0.0.1006": true,
    "0.0.1009": true,
  });
});

for (const [name, key, expected] of [
  ["no key", null, false],
  ["an ED25519 key", mirrorKey(ed25519()), true],
  ["an ECDSA key", mirrorKey(ecdsa()), true],
  ["an encoded single key", encoded({ ed25519: bytesOf(ed25519()) }), true],
  ["a contract id", encoded(contractId), false],
  ["a delegatable contract id", { _type: "ProtobufEncoded", key: "42021807" }, false],
  ["an RSA key", encoded({ RSA_3072: Buffer.alloc(32, 1) }), false],
  ["a P-384 key", encoded({ ECDSA_384: Buffer.alloc(48, 1) }), false],
  ["an empty list", encoded({ keyList: { keys: [] } }), false],
  ["a list with an empty list in it", mirrorKey(listOf([ed25519(), listOf([])])), false],
  [
    "a threshold of 0",
    encoded({ thresholdKey: { threshold: 0, keys: { keys: [{ ed25519: bytesOf(ed25519()) }] } } }),
    false,
  ],
  [
    "a threshold above its keys",
    encoded({ thresholdKey: { threshold: 2, keys: { keys: [{ ed25519: bytesOf(ed25519()) }] } } }),
    false,
  ],
  ["a threshold without keys", encoded({ thresholdKey: { threshold: 1 } }), false],
  [
    "a list with a contract id",
    encoded({ keyList: { keys: [contractId, { ed25519: bytesOf(ed25519()) }] } }),
    false,
  ],
  [
    "1 of a contract id and a key",
    encoded({
      thresholdKey: { threshold: 1, keys: { keys: [contractId, { ed25519: bytesOf(ed25519()) }] } },
    }),
    true,
  ],
  ["a short ED25519 key", { _type: "ED25519", key: "ab".repeat(31) }, false],
  ["an ECDSA key off the curve", { _type: "ECDSA_SECP256K1", key: `02${"ff".repeat(32)}` }, false],
  ["an uncompressed ECDSA key", { _type: "ECDSA_SECP256K1", key: `04${"11".repeat(64)}` }, false],
  ["half a byte", { _type: "ProtobufEncoded", key: "123" }, false],
  ["no hex", { _type: "ED25519", key: "zz".repeat(32) }, false],
] as [string, MirrorKey, boolean][]) {
  test(`${name} ${expected ? "can" : "can never"} sign`, () => {
    assert.equal(isSupportedKey(key), expected);
  });
}

test("keys may be nested as deeply as on the ledger, and no deeper", () => {
  const key = ed25519();
  const nested = (lists: number) => {
    let inner = listOf([key]);
    for (let i = 1; i < lists; i++) inner = listOf([inner]);
    return mirrorKey(inner);
  };
  const signature = signatureMap([key]);
  assert.equal(isSupportedKey(nested(14)), true);
  const signs = (lists: number) =>
    verifyWalletSignature({ scheme: "hip820", message: MESSAGE, signature, key: nested(lists) });
  assert.equal(signs(14), true);
  assert.equal(signs(15), false);
  assert.equal(isSupportedKey(nested(15)), false);
  assert.equal(isSupportedKey(nested(100)), false);
});

test("every ED25519 key of small order is one that signs nothing", () => {
  const [base] = [
    curve.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
  ];
  let point = base;
  const seen = new Set<string>();
  for (let i = 0; i < 8; i++) {
    assert.ok(point.isSmallOrder());
    seen.add(point.toHex());
    point = point.add(base);
  }
  assert.equal(seen.size, 8);
  for (const key of [
    ...seen,
    // The same points in encodings that are not canonical.
    `ed${"ff".repeat(30)}7f`,
    `ed${"ff".repeat(31)}`,
    `ee${"ff".repeat(30)}7f`,
    `ee${"ff".repeat(31)}`,
    `${"00".repeat(31)}80`,
    `01${"00".repeat(30)}80`,
  ]) {
    assert.equal(isSupportedKey({ _type: "ED25519", key }), false, key);
  }
});

const key = ecdsa();
const account = mirrorKey(key);
const list = mirrorKey(listOf([key, ed25519()], 1));
const mirrorKeys = fc.oneof(
  fc.constant(null),
  fc.constant(account),
  fc.constant(list),
  fc.record({
    _type: fc.constantFrom("ED25519", "ECDSA_SECP256K1", "ProtobufEncoded" as const),
    key: fc.oneof(fc.string(), fc.uint8Array({ maxLength: 200 }).map(hex)),
  }),
);
const base64 = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));

test("garbage signatures are false, never an exception", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("hip820", "eip191" as const),
      fc.oneof(fc.string(), base64, fc.uint8Array({ minLength: 65, maxLength: 65 }).map(hex)),
      mirrorKeys,
      (scheme, signature, mirror) => {
        const given = { scheme, message: MESSAGE, signature, key: mirror };
        assert.equal(verifyWalletSignature(given), false);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("garbage keys are unsupported or usable, never an exception", () => {
  fc.assert(
    fc.property(mirrorKeys, (mirror) => {
      assert.equal(typeof isSupportedKey(mirror), "boolean");
    }),
    { numRuns: 3_000 },
  );
});

test("a true signature with any byte changed, cut off or added is no exception, and true only as the same signature", () => {
  const whole = Buffer.from(signatureMap([key]), "base64");
  const verify = (bytes: Uint8Array) =>
    verifyWalletSignature({
      scheme: "hip820",
      message: MESSAGE,
      signature: Buffer.from(bytes).toString("base64"),
      key: account,
    });
  assert.equal(verify(whole), true);
  for (let at = 0; at < whole.length; at++) {
    assert.equal(verify(whole.subarray(0, at)), false);
    const changed = Uint8Array.from(whole, (byte, i) => (i === at ? byte ^ 0x55 : byte));
    // The prefix too: a signature counts only for keys that begin with it.
    assert.equal(verify(changed), false, `byte ${at}`);
    assert.equal(verify(Buffer.concat([whole, Buffer.alloc(at + 1, 0xff)])), false);
  }
});

test("base64 and hex are taken strictly", () => {
  const signature = signatureMap([key]);
  const hip820 = (text: string) =>
    verifyWalletSignature({ scheme: "hip820", message: MESSAGE, signature: text, key: account });
  assert.equal(hip820(signature), true);
  assert.equal(hip820(` ${signature}`), false);
  assert.equal(hip820(`${signature}\n`), false);
  assert.equal(hip820(`${signature.slice(0, 4)}\n${signature.slice(4)}`), false);
  assert.equal(hip820(signature.replace(/.$/, "*")), false);
  assert.equal(hip820("A".repeat(1_000_000)), false);
  const personal = personalSign(key);
  const eip191 = (text: string) =>
    verifyWalletSignature({ scheme: "eip191", message: MESSAGE, signature: text, key: account });
  assert.equal(eip191(personal), true);
  assert.equal(eip191(`${personal}00`), false);
  assert.equal(eip191(personal.slice(0, -2)), false);
  assert.equal(eip191(`0x${personal}`), false);
  assert.equal(eip191(personal.replace("0x", "0X")), false);
});

test("signatures of all zeros, and of the curve's own order, are false", () => {
  const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
  for (const rs of [
    "00".repeat(64),
    order + order,
    `${"00".repeat(31)}01${order}`,
    "ff".repeat(64),
  ]) {
    const given = {
      scheme: "eip191",
      message: MESSAGE,
      signature: `${rs}1b`,
      key: account,
    } as const;
    assert.equal(verifyWalletSignature(given), false);
  }
});

test.run();
