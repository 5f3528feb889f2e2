import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { MirrorKey } from "./public-key.ts";

export interface OperatorKey {
  readonly kind: "ed25519" | "ecdsa";
  /** 32 bytes, or 33 compressed. */
  readonly publicKey: Uint8Array;
  /** 64 bytes over the body of a transaction, as the ledger wants them. */
  sign(body: Uint8Array): Uint8Array;
}

/** The public key as a mirror node would show it. */
export function mirrorKeyOf({ kind, publicKey }: OperatorKey): NonNullable<MirrorKey> {
  const type = kind === "ed25519" ? "ED25519" : "ECDSA_SECP256K1";
  return { _type: type, key: Buffer.from(publicKey).toString("hex") };
}

const RAW = /^(?<prefix>0x)?(?<bytes>[0-9a-f]{64})$/i;
const ED25519_PKCS8 = "302e020100300506032b657004220420";
/** What ledger tools write for secp256k1: a PKCS #8 whose algorithm is the curve itself. */
const ECDSA_LEDGER_DER = "3030020100300706052b8104000a04220420";

/**
 * Reads HEDERA_OPERATOR_KEY: a private key in DER or raw, hex. DER says of which kind it
 * is. 64 digits of raw hex do not, so the usual spellings decide: with `0x`, as EVM wallets
 * write theirs, it is an ECDSA secp256k1 key, without it ED25519.
 *
 * @throws RangeError when it is no such key; the text is never repeated
 */
export function readOperatorKey(text: string): OperatorKey {
  const { prefix, bytes } = RAW.exec(text)?.groups ?? {};
  if (bytes !== undefined) return prefix === undefined ? ed25519(bytes) : ecdsa(bytes);
  const der = text.replace(/^0x/i, "").toLowerCase();
  if (der.startsWith(ECDSA_LEDGER_DER)) return ecdsa(der.slice(ECDSA_LEDGER_DER.length));
  const key = readDer(Buffer.from(der, "hex"));
  const { crv, d } = key?.export({ format: "jwk" }) ?? {};
  if (d === undefined)
    throw new RangeError("HEDERA_OPERATOR_KEY is no private key in DER or raw hex");
  const secret = Buffer.from(d, "base64url").toString("hex");
  if (crv === "Ed25519") return ed25519(secret);
  if (crv === "secp256k1") return ecdsa(secret);
  throw new RangeError("HEDERA_OPERATOR_KEY is no ED25519 or ECDSA secp256k1 private key");
}

function readDer(der: Buffer): KeyObject | undefined {
  for (const type of ["pkcs8", "sec1"] as const) {
    try {
      return createPrivateKey({ key: der, format: "der", type });
    } catch {
      // The next form, or none.
    }
  }
  return undefined;
}

/** By node:crypto: 0.07 ms a signature, where the SDK's own signer takes 6 ms. */
function ed25519(secret: string): OperatorKey {
  const der = Buffer.from(ED25519_PKCS8 + secret, "hex");
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return {
    kind: "ed25519",
    publicKey: Buffer.from(x, "base64url"),
    sign: (body) => sign(null, body, key),
  };
}

function ecdsa(secret: string): OperatorKey {
  const bytes = Buffer.from(secret, "hex");
  if (!secp256k1.utils.isValidSecretKey(bytes)) {
    throw new RangeError("HEDERA_OPERATOR_KEY is no ECDSA secp256k1 private key");
  }
  return {
    kind: "ecdsa",
    publicKey: secp256k1.getPublicKey(bytes, true),
    sign: (body) => secp256k1.sign(keccak_256(body), bytes, { prehash: false }),
  };
}
