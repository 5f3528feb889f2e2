import protobuf from "@hashgraph/proto";
import { type Key, KeyList, PrivateKey } from "@hashgraph/sdk";
import type { MirrorKey } from "../../src/ledger/public-key.ts";

/** Wallets made with the ledger's own software, and what they would send us. */

const { proto } = protobuf;

export const MESSAGE =
  "starboard.example wants you to sign in with your Hedera account:\n0.0.1001\n";

export const ed25519 = (): PrivateKey => PrivateKey.generateED25519();
export const ecdsa = (): PrivateKey => PrivateKey.generateECDSA();

/** All of the keys, or at least so many of them. */
export function listOf(keys: readonly (PrivateKey | Key)[], threshold?: number): KeyList {
  const publicKeys = keys.map((key) => (key instanceof PrivateKey ? key.publicKey : key));
  return new KeyList(publicKeys, threshold ?? null);
}

/** A key as the mirror node shows it. */
export function mirrorKey(key: PrivateKey | KeyList): MirrorKey {
  if (key instanceof PrivateKey) {
    const _type = key.type === "ED25519" ? "ED25519" : "ECDSA_SECP256K1";
    return { _type, key: key.publicKey.toStringRaw() };
  }
  return encoded(key._toProtobufKey());
}

export function encoded(key: ProtobufKey): MirrorKey {
  return { _type: "ProtobufEncoded", key: hex(proto.Key.encode(key).finish()) };
}

/** The key of a contract without an admin key: the id of contract 0.0.7. */
export const contractId = proto.Key.decode(Buffer.from("0a021807", "hex"));

type ProtobufKey = Parameters<typeof proto.Key.encode>[0];

/** The bytes a wallet signs for `hedera_signMessage` (HIP-820). */
export function hip820Bytes(message: string): Uint8Array {
  return Buffer.from(`\x19Hedera Signed Message:\n${message.length}${message}`);
}

export interface PairOptions {
  /** Bytes actually signed; those of HIP-820 by default. */
  readonly bytes?: Uint8Array;
  /** What the wallet claims to have signed with; its whole key by default. */
  readonly prefix?: Uint8Array;
}

/** The SignatureMap a wallet returns after these keys have signed. */
export function signatureMap(
  keys: readonly PrivateKey[],
  { bytes = hip820Bytes(MESSAGE), prefix }: PairOptions = {},
): string {
  const sigPair = keys.map((key) => {
    const pubKeyPrefix = prefix ?? key.publicKey.toBytesRaw();
    const signature = key.sign(bytes);
    return key.type === "ED25519"
      ? { pubKeyPrefix, ed25519: signature }
      : { pubKeyPrefix, ECDSASecp256k1: signature };
  });
  return mapOf(sigPair);
}

export function mapOf(
  sigPair: NonNullable<Parameters<typeof proto.SignatureMap.encode>[0]["sigPair"]>,
) {
  return Buffer.from(proto.SignatureMap.encode({ sigPair }).finish()).toString("base64");
}

/** The hex `personal_sign` returns (EIP-191). */
export function personalSign(key: PrivateKey, message = MESSAGE, v = 27): string {
  const bytes = Buffer.from(`\x19Ethereum Signed Message:\n${message.length}${message}`);
  return `0x${hex(key.sign(bytes))}${v.toString(16).padStart(2, "0")}`;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
