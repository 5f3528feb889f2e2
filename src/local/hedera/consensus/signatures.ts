import type { proto as Hapi } from "@hashgraph/proto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { isSatisfied, type PrimitiveKey, readPublicKey } from "../../../ledger/public-key.ts";
import { verifiesEd25519 } from "../../../ledger/wallet-signature.ts";

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
  if (key.kind === "ed25519") return verifiesEd25519(key.bytes, body, signature);
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
