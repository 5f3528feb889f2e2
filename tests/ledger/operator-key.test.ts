import * as assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { test } from "uvu";
import { readOperatorKey } from "../../src/ledger/operator-key.ts";

const ed25519 = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
const body = Buffer.from("the body of a transaction");

const hex = (key: typeof ed25519.privateKey, type: "pkcs8" | "sec1"): string =>
  key.export({ format: "der", type }).toString("hex");
const secretOf = (key: typeof ed25519.privateKey): string =>
  Buffer.from(String(key.export({ format: "jwk" }).d), "base64url").toString("hex");

test("ED25519 keys are read from DER and from raw hex, and sign", () => {
  const spki = ed25519.publicKey.export({ format: "der", type: "spki" });
  for (const text of [hex(ed25519.privateKey, "pkcs8"), secretOf(ed25519.privateKey)]) {
    const key = readOperatorKey(text);
    assert.equal(key.kind, "ed25519");
    assert.deepEqual(Buffer.from(key.publicKey), spki.subarray(-32));
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    assert.ok(verify(null, body, publicKey, key.sign(body)));
  }
});

test("ECDSA keys are read from every DER and from raw hex with 0x, and sign keccak-256", () => {
  const secret = secretOf(ec.privateKey);
  const texts = [
    hex(ec.privateKey, "pkcs8"),
    hex(ec.privateKey, "sec1"),
    `3030020100300706052b8104000a04220420${secret}`,
    `0x${secret}`,
    `0x${secret.toUpperCase()}`,
  ];
  for (const text of texts) {
    const key = readOperatorKey(text);
    assert.equal(key.kind, "ecdsa");
    assert.equal(key.publicKey.length, 33);
    const signature = key.sign(body);
    assert.equal(signature.length, 64);
    assert.ok(secp256k1.verify(signature, keccak_256(body), key.publicKey, { prehash: false }));
  }
});

test("the same 64 digits are two keys: without 0x ED25519, with it ECDSA", () => {
  const digits = "5e".repeat(32);
  assert.equal(readOperatorKey(digits).kind, "ed25519");
  assert.equal(readOperatorKey(`0x${digits}`).kind, "ecdsa");
});

test("an invalid private key is refused by the setting's name, and never repeated", () => {
  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const texts = [
    hex(p256, "pkcs8"),
    ed25519.publicKey.export({ format: "der", type: "spki" }).toString("hex"),
    "ab".repeat(40),
    `0x${"00".repeat(32)}`,
    `0x${"ff".repeat(32)}`,
    `3030020100300706052b8104000a04220420${"ab".repeat(16)}`,
    "",
  ];
  for (const text of texts) {
    assert.throws(
      () => readOperatorKey(text),
      (error: Error) =>
        error instanceof RangeError &&
        error.message.startsWith("HEDERA_OPERATOR_KEY is no ") &&
        (text === "" || !error.message.includes(text)),
      text,
    );
  }
});

test.run();
