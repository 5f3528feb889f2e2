import hapi from "@hashgraph/proto";

const { Key } = hapi.proto;

/** A protobuf `Key`, as accounts and topics hold it. */
export type KeyBytes = Uint8Array;

/** @param publicKey 32 bytes */
export function ed25519Key(publicKey: Uint8Array): KeyBytes {
  return Key.encode({ ed25519: publicKey }).finish();
}

/** @param publicKey 33 bytes, compressed */
export function ecdsaKey(publicKey: Uint8Array): KeyBytes {
  return Key.encode({ ECDSASecp256k1: publicKey }).finish();
}

/** A key as the ledger's file holds it. */
export function keyHex(key: KeyBytes | null | undefined): string | null {
  return key == null ? null : Buffer.from(key).toString("hex");
}
