import { bytesOf, MalformedMessage, readFields } from "./protobuf-wire.ts";

/** One signature out of what a wallet sent. */
export interface GivenSignature {
  readonly kind: "ed25519" | "ecdsa";
  /** 64 bytes. */
  readonly bytes: Uint8Array;
  /** The first bytes of the key it is filed under; empty: any key. It proves nothing by itself. */
  readonly claimedPrefix: Uint8Array;
}

const SIGNATURE_BYTES = 64;
/** A request body has 4 KiB; nothing longer is worth decoding. */
const TEXT_LENGTH_MAX = 4_096;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** r, s and the recovery value, which wallets give as 0, 1, 27 or 28. */
const PERSONAL_SIGN = /^(?:0x)?(?<rs>[0-9a-fA-F]{128})(?:00|01|1[bB]|1[cC])$/;
const NOTHING = new Uint8Array();

/**
 * Reads the base64 protobuf `SignatureMap` of `hedera_signMessage` (HIP-820).
 * Signatures of kinds no supported key makes are left out.
 *
 * @throws MalformedMessage when it is not one
 */
export function readSignatureMap(text: string): readonly GivenSignature[] {
  if (text.length > TEXT_LENGTH_MAX || !BASE64.test(text)) {
    throw new MalformedMessage("not base64");
  }
  return readFields(Buffer.from(text, "base64")).flatMap((field) => {
    if (field.number !== 1) throw new MalformedMessage(`signature map field ${field.number}`);
    return readSignaturePair(bytesOf(field));
  });
}

/**
 * Reads the 65-byte hex of `personal_sign` (EIP-191), with or without `0x`.
 *
 * @throws MalformedMessage when it is anything else
 */
export function readPersonalSignature(text: string): readonly GivenSignature[] {
  const rs = text.length > TEXT_LENGTH_MAX ? undefined : PERSONAL_SIGN.exec(text)?.groups?.rs;
  if (rs === undefined) throw new MalformedMessage("not 65 bytes of hex");
  return [{ kind: "ecdsa", bytes: Buffer.from(rs, "hex"), claimedPrefix: NOTHING }];
}

/** proto.SignaturePair: 1 pubKeyPrefix, 3 ed25519, 6 ECDSA_secp256k1; 2, 4, 5 cannot help. */
function readSignaturePair(message: Uint8Array): GivenSignature[] {
  let claimedPrefix = NOTHING;
  let signature: Omit<GivenSignature, "claimedPrefix"> | undefined;
  const seen = new Set<string>();
  for (const field of readFields(message)) {
    const bytes = bytesOf(field);
    const role = field.number === 1 ? "prefix" : "signature";
    if (field.number > 6 || seen.has(role)) throw new MalformedMessage("not one signature");
    seen.add(role);
    if (field.number === 1) claimedPrefix = Uint8Array.from(bytes);
    else if (field.number === 3) signature = { kind: "ed25519", bytes };
    else if (field.number === 6) signature = { kind: "ecdsa", bytes };
  }
  if (signature === undefined) return [];
  if (signature.bytes.length !== SIGNATURE_BYTES) throw new MalformedMessage("signature length");
  return [{ ...signature, claimedPrefix }];
}
