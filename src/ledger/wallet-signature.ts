import { createPublicKey, verify } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { type GivenSignature, readPersonalSignature, readSignatureMap } from "./given-signature.ts";
import {
  isSatisfied,
  type MirrorKey,
  type PrimitiveKey,
  primitiveKeys,
  readPublicKey,
} from "./public-key.ts";

/** What a wallet sent, and what it must stand for. */
export interface WalletSignature {
  /** `hip820`: `hedera_signMessage`; `eip191`: `personal_sign`, ECDSA keys only. */
  readonly scheme: "hip820" | "eip191";
  /** The text the wallet was shown, ASCII: with it, all counts of its length agree. */
  readonly message: string;
  /** Base64 protobuf `SignatureMap`, or 65-byte hex. */
  readonly signature: string;
  /** The account's key as the mirror node gives it now. */
  readonly key: MirrorKey;
}

/**
 * What one sign-in may cost: one ECDSA verification takes about 1 ms. A body of
 * 4 KiB holds at most 29 signatures that name their key, each of which needs
 * one verification, so only unnamed signatures on large key lists run out.
 */
const VERIFICATIONS_MAX = 32;

/**
 * Whether the signatures satisfy the account's key by the ledger's own rule
 * (contract, section 3). Never throws: what cannot be read is false.
 *
 * A high-S ECDSA signature counts: hardware wallets make them, and its being a
 * second valid form of the same signature is of no use to an attacker, because a
 * challenge is consumed by its first use.
 */
export function verifyWalletSignature({
  scheme,
  message,
  signature,
  key,
}: WalletSignature): boolean {
  try {
    const tree = readPublicKey(key);
    if (tree === undefined || !isAscii(message)) return false;
    const given =
      scheme === "hip820" ? readSignatureMap(signature) : readPersonalSignature(signature);
    const signed = signedKeys(primitiveKeys(tree), given, signedBytes(scheme, message));
    return isSatisfied(tree, (leaf) => signed.has(leaf.identity));
  } catch {
    return false;
  }
}

/**
 * Whether any wallet could ever sign in with this key: false for no key,
 * contract ids, empty lists, thresholds of 0 or above their number of usable
 * keys, and points without a private key.
 */
export function isSupportedKey(key: MirrorKey): boolean {
  const tree = readPublicKey(key);
  return tree !== undefined && isSatisfied(tree, () => true);
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

const PREFIXES = {
  hip820: "\x19Hedera Signed Message:\n",
  eip191: "\x19Ethereum Signed Message:\n",
} as const;

/** What a wallet signs for a message of ASCII. */
export function signedBytes(scheme: WalletSignature["scheme"], message: string): Buffer {
  return Buffer.from(`${PREFIXES[scheme]}${message.length}${message}`);
}

/** The identities of the keys under which one of the signatures verifies. */
function signedKeys(
  keys: readonly PrimitiveKey[],
  given: readonly GivenSignature[],
  bytes: Buffer,
): ReadonlySet<string> {
  const signed = new Set<string>();
  const digest = keccak_256(bytes);
  let left = VERIFICATIONS_MAX;
  for (const signature of given) {
    const candidates = keys.filter(
      (key) =>
        key.kind === signature.kind && !signed.has(key.identity) && isFiledUnder(key, signature),
    );
    for (const key of candidates) {
      if (--left < 0) return signed;
      if (verifies(key, signature, key.kind === "ed25519" ? bytes : digest)) {
        signed.add(key.identity);
        break;
      }
    }
  }
  return signed;
}

/** By the ledger's rule a signature counts for keys that begin with its prefix, and no other. */
function isFiledUnder(key: PrimitiveKey, { claimedPrefix }: GivenSignature): boolean {
  return Buffer.compare(key.bytes.subarray(0, claimedPrefix.length), claimedPrefix) === 0;
}

/** DER of an ED25519 SubjectPublicKeyInfo, up to the 32 bytes of the key. */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

function verifies(key: PrimitiveKey, signature: GivenSignature, signed: Uint8Array): boolean {
  if (key.kind === "ecdsa") {
    return secp256k1.verify(signature.bytes, signed, key.bytes, { prehash: false, lowS: false });
  }
  return verifiesEd25519(key.bytes, signed, signature.bytes);
}

/** @param key its 32 bytes */
export function verifiesEd25519(
  key: Uint8Array,
  signed: Uint8Array,
  signature: Uint8Array,
): boolean {
  const der = Buffer.concat([ED25519_SPKI, key]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, signed, publicKey, signature);
}
