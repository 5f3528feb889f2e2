import * as assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import type { proto as Hapi } from "@hashgraph/proto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { test } from "uvu";
import { signaturesOver as hexSignaturesOver } from "../../../../src/local/hedera/consensus/signatures.ts";
import { ecdsaKey, ed25519Key } from "../../../../src/local/hedera/keys.ts";
import { keyList, thresholdKey } from "../../../support/key-lists.ts";
import { rawPublicKey } from "../network.ts";

const body = Buffer.from("the signed bytes");

function signaturesOver(over: Uint8Array, pairs: readonly Hapi.ISignaturePair[]) {
  const signatures = hexSignaturesOver(over, pairs);
  return { satisfy: (key: Uint8Array) => signatures.satisfy(Buffer.from(key).toString("hex")) };
}

interface Signer {
  readonly key: Uint8Array;
  readonly publicKey: Uint8Array;
  pair(prefix?: number, over?: Uint8Array): Hapi.ISignaturePair;
}

function ed25519Signer(): Signer {
  const { privateKey, publicKey: made } = generateKeyPairSync("ed25519");
  const publicKey = rawPublicKey(made);
  return {
    key: ed25519Key(publicKey),
    publicKey,
    pair: (prefix = 32, over = body) => ({
      pubKeyPrefix: publicKey.subarray(0, prefix),
      ed25519: sign(null, over, privateKey),
    }),
  };
}

function ecdsaSigner(): Signer {
  const { secretKey, publicKey } = secp256k1.keygen();
  return {
    key: ecdsaKey(publicKey),
    publicKey,
    pair: (prefix = 33, over = body) => ({
      pubKeyPrefix: publicKey.subarray(0, prefix),
      ECDSASecp256k1: secp256k1.sign(keccak_256(over), secretKey, { prehash: false }),
    }),
  };
}

const [a, b, c] = [ed25519Signer(), ecdsaSigner(), ed25519Signer()];

for (const [name, signer, other] of [
  ["ED25519", a, c],
  ["ECDSA", b, a],
] as const) {
  test(`an ${name} key is satisfied by its own signature over these bytes alone`, () => {
    assert.equal(signaturesOver(body, [signer.pair()]).satisfy(signer.key), true);
    const elsewhere = signer.pair(32, Buffer.from("other bytes"));
    assert.equal(signaturesOver(body, [elsewhere]).satisfy(signer.key), false);
    assert.equal(signaturesOver(body, [other.pair()]).satisfy(signer.key), false);
    assert.equal(signaturesOver(body, []).satisfy(signer.key), false);
  });

  test(`an ${name} key may be named by a prefix, or by nothing, but not by a wrong one`, () => {
    for (const length of [0, 5]) {
      assert.equal(signaturesOver(body, [signer.pair(length)]).satisfy(signer.key), true);
    }
    const wrong = { ...signer.pair(), pubKeyPrefix: other.publicKey };
    assert.equal(signaturesOver(body, [wrong]).satisfy(signer.key), false);
  });
}

test("a list needs all its keys, a threshold enough of them, however deep", () => {
  const both = signaturesOver(body, [a.pair(), b.pair()]);
  const one = signaturesOver(body, [a.pair()]);
  assert.equal(both.satisfy(keyList([a.key, b.key])), true);
  assert.equal(one.satisfy(keyList([a.key, b.key])), false);
  const twoOfThree = thresholdKey(2, [a.key, b.key, c.key]);
  assert.equal(both.satisfy(twoOfThree), true);
  assert.equal(one.satisfy(twoOfThree), false);
  assert.equal(both.satisfy(keyList([a.key, thresholdKey(1, [b.key, c.key])])), true);
});

test("an empty list, a threshold of none and an empty key are never satisfied", () => {
  const signatures = signaturesOver(body, [a.pair()]);
  for (const key of [keyList([]), thresholdKey(0, [a.key]), Buffer.alloc(0)]) {
    assert.equal(signatures.satisfy(key), false);
  }
});

test("garbage signatures and keys off the curve are false, never a throw", () => {
  const garbage = [
    { pubKeyPrefix: Buffer.alloc(0), ed25519: Buffer.alloc(64, 1) },
    { pubKeyPrefix: Buffer.alloc(0), ed25519: Buffer.alloc(3) },
    { pubKeyPrefix: Buffer.alloc(0), ECDSASecp256k1: Buffer.alloc(64, 0xff) },
    { pubKeyPrefix: Buffer.alloc(90, 1), ECDSASecp256k1: Buffer.alloc(64) },
  ];
  const keys = [a.key, b.key, ecdsaKey(Buffer.alloc(33, 0xff)), ed25519Key(Buffer.alloc(7, 1))];
  for (const key of keys) assert.equal(signaturesOver(body, garbage).satisfy(key), false);
});

test.run();
