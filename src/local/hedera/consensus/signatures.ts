import { createPublicKey, type KeyObject, verify } from "node:crypto";
import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { KeyBytes } from "../keys.ts";

/** The signatures that came with a transaction, checked against keys when asked. */
export interface Signatures {
  readonly count: number;
  /**
   * Whether a key is satisfied: a list by all of its keys, a threshold by enough of them,
   * a primitive key by one good signature. Anything else (contracts, RSA) never is.
   */
  satisfy(key: KeyBytes): boolean;
}

/** @param body the signed bytes */
export function signaturesOver(
  body: Uint8Array,
  pairs: readonly Hapi.ISignaturePair[],
): Signatures {
  // One transaction asks about the same key more than once: payer first, then submit key.
  const known = new Map<string, boolean>();
  const signedBy = (publicKey: Uint8Array, check: Check): boolean => {
    const name = Buffer.from(publicKey).toString("hex");
    const before = known.get(name);
    if (before !== undefined) return before;
    const good = pairs.some(
      (pair) => isPrefix(pair.pubKeyPrefix, publicKey) && check(pair, body, publicKey),
    );
    known.set(name, good);
    return good;
  };
  const satisfied = (key: Hapi.IKey): boolean => {
    if (key.ed25519?.length) return signedBy(key.ed25519, checkEd25519);
    if (key.ECDSASecp256k1?.length) return signedBy(key.ECDSASecp256k1, checkEcdsa);
    const all = key.keyList?.keys ?? [];
    if (all.length > 0) return all.every(satisfied);
    const some = key.thresholdKey?.keys?.keys ?? [];
    const threshold = key.thresholdKey?.threshold ?? 0;
    return threshold > 0 && some.filter(satisfied).length >= threshold;
  };
  return { count: pairs.length, satisfy: (key) => satisfied(hapi.proto.Key.decode(key)) };
}

type Check = (pair: Hapi.ISignaturePair, body: Uint8Array, publicKey: Uint8Array) => boolean;

const checkEd25519: Check = (pair, body, publicKey) =>
  pair.ed25519?.length === 64 &&
  publicKey.length === 32 &&
  verify(null, body, ed25519KeyObject(publicKey), pair.ed25519);

const checkEcdsa: Check = (pair, body, publicKey) => {
  const signature = pair.ECDSASecp256k1;
  if (signature?.length !== 64 || publicKey.length !== 33) return false;
  try {
    return secp256k1.verify(signature, keccak_256(body), publicKey, { prehash: false });
  } catch {
    // Not a point of the curve.
    return false;
  }
};

/** Clients may shorten the key they name, down to nothing when only one key must sign. */
function isPrefix(prefix: Uint8Array | null | undefined, publicKey: Uint8Array): boolean {
  const claimed = prefix ?? new Uint8Array(0);
  return Buffer.from(publicKey.subarray(0, claimed.length)).equals(claimed);
}

/** DER header of an Ed25519 public key (RFC 8410). */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");
/** Making a key object costs as much as a verification; one client uses one key. */
const KEY_OBJECTS_MAX = 256;
const keyObjects = new Map<string, KeyObject>();

function ed25519KeyObject(publicKey: Uint8Array): KeyObject {
  const name = Buffer.from(publicKey).toString("hex");
  const known = keyObjects.get(name);
  if (known !== undefined) return known;
  if (keyObjects.size >= KEY_OBJECTS_MAX) keyObjects.clear();
  const der = Buffer.concat([ED25519_SPKI, publicKey]);
  const made = createPublicKey({ key: der, format: "der", type: "spki" });
  keyObjects.set(name, made);
  return made;
}
