import * as assert from "node:assert/strict";
import type { PrivateKey } from "@hashgraph/sdk";
import { test } from "uvu";
import type { MirrorKey } from "../../src/ledger/public-key.ts";
import { verifyWalletSignature } from "../../src/ledger/wallet-signature.ts";
import {
  ecdsa,
  ed25519,
  hip820Bytes,
  listOf,
  MESSAGE,
  mapOf,
  mirrorKey,
  personalSign,
  signatureMap,
} from "./wallet-keys.ts";

const signs = (key: MirrorKey, signature: string, message = MESSAGE): boolean =>
  verifyWalletSignature({ scheme: "hip820", message, signature, key });
const signsPersonally = (key: MirrorKey, signature: string, message = MESSAGE): boolean =>
  verifyWalletSignature({ scheme: "eip191", message, signature, key });

/** The order of secp256k1. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function withHighS(rs: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(rs.subarray(32)).toString("hex")}`);
  const other = (N - s).toString(16).padStart(64, "0");
  return Buffer.concat([rs.subarray(0, 32), Buffer.from(other, "hex")]);
}

for (const [name, make] of [
  ["ED25519", ed25519],
  ["ECDSA", ecdsa],
] as [string, () => PrivateKey][]) {
  const key = make();
  const account = mirrorKey(key);

  test(`${name}: the account's own key over our text signs in`, () => {
    assert.equal(signs(account, signatureMap([key])), true);
  });

  test(`${name}: a signature counts for the keys that begin with its prefix, and no other`, () => {
    const other = make();
    const own = key.publicKey.toBytesRaw();
    for (const prefix of [new Uint8Array(), own.subarray(0, 3), own]) {
      assert.equal(signs(account, signatureMap([key], { prefix })), true);
      assert.equal(signs(account, signatureMap([other], { prefix })), false);
    }
    const longer = Buffer.concat([own, Buffer.from([0])]);
    for (const prefix of [other.publicKey.toBytesRaw(), Buffer.alloc(200, 7), longer]) {
      assert.equal(signs(account, signatureMap([key], { prefix })), false);
    }
    const claimed = signatureMap([other], { prefix: key.publicKey.toBytesRaw() });
    assert.equal(signs(account, claimed), false);
  });

  test(`${name}: another text, another key, an unprefixed or a tampered signature do not`, () => {
    const signature = signatureMap([key]);
    assert.equal(signs(account, signature, MESSAGE.replace("1001", "1002")), false);
    assert.equal(signs(account, signature, `${MESSAGE} `), false);
    assert.equal(signs(account, signatureMap([make()])), false);
    assert.equal(signs(account, signatureMap([key], { bytes: Buffer.from(MESSAGE) })), false);
    const bytes = key.sign(hip820Bytes(MESSAGE));
    for (const at of [0, 31, 32, 63]) {
      const bad = Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));
      const pair = name === "ED25519" ? { ed25519: bad } : { ECDSASecp256k1: bad };
      assert.equal(signs(account, mapOf([pair])), false);
    }
  });

  test(`${name}: a signature presented as the other kind does not`, () => {
    const bytes = key.sign(hip820Bytes(MESSAGE));
    const pair = name === "ED25519" ? { ECDSASecp256k1: bytes } : { ed25519: bytes };
    assert.equal(signs(account, mapOf([pair])), false);
  });

  test(`${name}: one good signature among others is enough`, () => {
    assert.equal(signs(account, signatureMap([ed25519(), ecdsa(), key])), true);
  });

  test(`${name}: a text that is not ASCII is refused, because its length is ambiguous`, () => {
    const message = "Stern ★";
    const signature = signatureMap([key], { bytes: hip820Bytes(message) });
    assert.equal(signs(account, signature, message), false);
  });

  test(`${name}: an account without a key lets no one in`, () => {
    assert.equal(signs(null, signatureMap([key])), false);
    assert.equal(signs({ _type: "ProtobufEncoded", key: "" }, signatureMap([key])), false);
    assert.equal(signs({ _type: "ProtobufEncoded", key: "3200" }, signatureMap([key])), false);
  });
}

test("2 of 3: two signers sign in, one does not, nor one who signs twice", () => {
  const [a, b, c, stranger] = [ed25519(), ecdsa(), ed25519(), ed25519()];
  const account = mirrorKey(listOf([a, b, c], 2));
  assert.equal(signs(account, signatureMap([a, b])), true);
  assert.equal(signs(account, signatureMap([b, c])), true);
  assert.equal(signs(account, signatureMap([c, b, a])), true);
  assert.equal(signs(account, signatureMap([a])), false);
  assert.equal(signs(account, signatureMap([b, b])), false);
  assert.equal(signs(account, signatureMap([a, stranger])), false);
  assert.equal(signs(account, signatureMap([])), false);
});

test("a list needs all its keys, in any order", () => {
  const keys = [ed25519(), ecdsa(), ed25519()];
  const account = mirrorKey(listOf(keys));
  assert.equal(signs(account, signatureMap(keys)), true);
  assert.equal(signs(account, signatureMap(keys.toReversed())), true);
  for (const missing of keys) {
    assert.equal(signs(account, signatureMap(keys.filter((key) => key !== missing))), false);
  }
});

test("lists inside thresholds inside lists are followed", () => {
  const [a, b, c, d, e] = [ed25519(), ecdsa(), ed25519(), ecdsa(), ed25519()];
  // a and (either both b and c, or one of d and e)
  const account = mirrorKey(listOf([a, listOf([listOf([b, c]), listOf([d, e], 1)], 1)]));
  assert.equal(signs(account, signatureMap([a, b, c])), true);
  assert.equal(signs(account, signatureMap([a, e])), true);
  assert.equal(signs(account, signatureMap([a, d])), true);
  assert.equal(signs(account, signatureMap([a, b])), false);
  assert.equal(signs(account, signatureMap([b, c, d, e])), false);
  assert.equal(signs(account, signatureMap([a])), false);
});

test("a threshold that contains a key twice is satisfied by one signature, as on the ledger", () => {
  const [a, b] = [ed25519(), ecdsa()];
  assert.equal(signs(mirrorKey(listOf([a, a, b], 2)), signatureMap([a])), true);
  assert.equal(signs(mirrorKey(listOf([a, a, b], 2)), signatureMap([b])), false);
  assert.equal(signs(mirrorKey(listOf([b, b])), signatureMap([b])), true);
});

test("29 signers of 29, as many as a body holds, sign in", () => {
  const keys = Array.from({ length: 29 }, (_, i) => (i % 2 ? ecdsa() : ed25519()));
  const account = mirrorKey(listOf(keys));
  const signature = signatureMap(keys.toReversed());
  assert.ok(signature.length < 4_096, `${signature.length} characters`);
  assert.equal(signs(account, signature), true);
});

test("no account key, however large, makes a sign-in expensive", () => {
  const keys = Array.from({ length: 150 }, ecdsa);
  const account = mirrorKey(listOf(keys, 1));
  const strangers = Array.from({ length: 40 }, ecdsa);
  const signature = signatureMap(strangers, { prefix: new Uint8Array() });
  const cpu = process.cpuUsage();
  assert.equal(signs(account, signature), false);
  const { user, system } = process.cpuUsage(cpu);
  // Unbounded it would be 6,000 verifications: six seconds.
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
});

test("personal_sign of an ECDSA key signs in, with 0x and without, with every v wallets give", () => {
  const key = ecdsa();
  const account = mirrorKey(key);
  for (const v of [0, 1, 27, 28]) {
    assert.equal(signsPersonally(account, personalSign(key, MESSAGE, v)), true);
    assert.equal(signsPersonally(account, personalSign(key, MESSAGE, v).slice(2)), true);
    assert.equal(
      signsPersonally(account, personalSign(key, MESSAGE, v).toUpperCase().replace("0X", "0x")),
      true,
    );
  }
  assert.equal(signsPersonally(account, personalSign(key), `${MESSAGE}!`), false);
  assert.equal(signsPersonally(account, personalSign(ecdsa())), false);
  for (const v of [2, 26, 29, 255]) {
    assert.equal(signsPersonally(account, personalSign(key, MESSAGE, v)), false);
  }
});

test("personal_sign with an ED25519 key does not", () => {
  const key = ed25519();
  const account = mirrorKey(key);
  assert.equal(signsPersonally(account, personalSign(key)), false);
  assert.equal(signsPersonally(account, signatureMap([key])), false);
});

test("a signature of one scheme is invalid in the other", () => {
  const key = ecdsa();
  const account = mirrorKey(key);
  assert.equal(signs(account, personalSign(key)), false);
  assert.equal(signsPersonally(account, signatureMap([key])), false);
  const hip820AsHex = `0x${Buffer.from(key.sign(hip820Bytes(MESSAGE))).toString("hex")}1b`;
  assert.equal(signsPersonally(account, hip820AsHex), false);
});

test("a hardware wallet's high-S signature counts in both schemes", () => {
  const key = ecdsa();
  const account = mirrorKey(key);
  const high = withHighS(key.sign(hip820Bytes(MESSAGE)));
  assert.equal(signs(account, mapOf([{ ECDSASecp256k1: high }])), true);
  const personal = Buffer.from(personalSign(key).slice(2, -2), "hex");
  const highHex = `${Buffer.from(withHighS(personal)).toString("hex")}1c`;
  assert.equal(signsPersonally(account, highHex), true);
});

test("no wallet can sign for the all-zero key, though its signatures verify for anyone", () => {
  const zero: MirrorKey = { _type: "ED25519", key: "00".repeat(32) };
  const inList: MirrorKey = { _type: "ProtobufEncoded", key: `32240a221220${"00".repeat(32)}` };
  // R is a point of small order and S is 0: valid for one message in four or so.
  const forged = [Buffer.alloc(64), Buffer.from([1, ...Buffer.alloc(63)])];
  for (let i = 0; i < 64; i++) {
    for (const ed of forged) {
      assert.equal(signs(zero, mapOf([{ ed25519: ed }]), `text ${i}`), false);
      assert.equal(signs(inList, mapOf([{ ed25519: ed }]), `text ${i}`), false);
    }
  }
});

test.run();
