import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { proto as Hapi } from "@hashgraph/proto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { isSatisfied, type PrimitiveKey, readPublicKey } from "../../../ledger/public-key.ts";

/**
 * The signatures that came with a transaction, checked against keys when asked.
 *
 * @param body the signed bytes
 */
export function signaturesOver(body: Uint8Array, pairs: readonly Hapi.ISignaturePair[]) {
  // One transaction asks about the same key more than once: payer first, then submit key.
  const known = new Map<string, boolean>();
  const signedBy = (key: PrimitiveKey): boolean => {
    const good =
      known.get(key.identity) ??
      pairs.some((pair) => isPrefix(pair.pubKeyPrefix, key.bytes) && isGood(pair, body, key));
    known.set(key.identity, good);
    return good;
  };
  return {
    count: pairs.length,
    /** @param key hex of a protobuf `Key`; one that cannot be read is never satisfied */
    satisfy(key: string): boolean {
      const tree = readPublicKey({ _type: "ProtobufEncoded", key });
      return tree !== undefined && isSatisfied(tree, signedBy);
    },
  };
}

function isGood(pair: Hapi.ISignaturePair, body: Uint8Array, key: PrimitiveKey): boolean {
  const signature = key.kind === "ed25519" ? pair.ed25519 : pair.ECDSASecp256k1;
  if (signature?.length !== 64) return false;
  if (key.kind === "ed25519") return verify(null, body, ed25519KeyObject(key.bytes), signature);
  try {
    return secp256k1.verify(signature, keccak_256(body), key.bytes, { prehash: false });
  } catch {
    // Not two numbers of the curve.
    return false;
  }
}

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
