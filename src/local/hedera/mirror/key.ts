import type { MirrorKey } from "../../../ledger/public-key.ts";

/**
 * Protobuf spellings of one key alone, in a list of one, and as a threshold of one of one:
 * the mirror node shows all three as the plain key.
 */
const ED25519 = /^(?:1220|32240a221220|2a28080112240a221220)([0-9a-f]{64})$/;
const ECDSA = /^(?:3a21|32250a233a21|2a29080112250a233a21)([0-9a-f]{66})$/;
/** Marks an account that no signature satisfies. */
const EMPTY_LIST = "3200";

/** @param key hex of a protobuf `Key` */
export function showKey(key: string | null): MirrorKey {
  const hex = key ?? EMPTY_LIST;
  if (hex === EMPTY_LIST) return null;
  const ed25519 = ED25519.exec(hex)?.[1];
  if (ed25519 !== undefined) return { _type: "ED25519", key: ed25519 };
  const ecdsa = ECDSA.exec(hex)?.[1];
  if (ecdsa !== undefined) return { _type: "ECDSA_SECP256K1", key: ecdsa };
  return { _type: "ProtobufEncoded", key: hex };
}
