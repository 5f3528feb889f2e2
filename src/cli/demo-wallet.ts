import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { readOperatorKey } from "../ledger/operator-key.ts";
import { signedBytes, type WalletSignature } from "../ledger/wallet-signature.ts";

/** A wallet of the demo's own: it signs as real wallets do. */
export interface SigningWallet {
  readonly id: string;
  readonly type: "ed25519" | "ecdsa";
  /** Hex: PKCS #8 DER for ED25519, the raw scalar for ECDSA. */
  readonly key: string;
}

export type SignedText = Pick<WalletSignature, "scheme" | "signature">;

/**
 * Signs a challenge: `hedera_signMessage` (HIP-820) with an ED25519 key, `personal_sign`
 * (EIP-191) with an ECDSA one, as the wallets that hold such keys do.
 */
export function signChallenge(wallet: SigningWallet, message: string): SignedText {
  const scheme = schemeOf(wallet);
  const bytes = signedBytes(scheme, message);
  const signature = (scheme === "hip820" ? signHip820 : signEip191)(wallet.key, bytes);
  return { scheme, signature };
}

/** How a wallet with such a key signs. */
export function schemeOf({ type }: SigningWallet): SignedText["scheme"] {
  return type === "ed25519" ? "hip820" : "eip191";
}

/** The wallet as a voting client asks it for signatures. */
export function signerOf(wallet: SigningWallet) {
  return { wallet: wallet.id, sign: async (message: string) => signChallenge(wallet, message) };
}

function signHip820(key: string, bytes: Buffer): string {
  const { publicKey, sign } = readOperatorKey(key);
  const signature = sign(bytes);
  // SignatureMap { 1: SignaturePair { 1: public key prefix, 3: ed25519 } }
  const pair = Buffer.concat([lengthDelimited(1, publicKey), lengthDelimited(3, signature)]);
  return lengthDelimited(1, pair).toString("base64");
}

function signEip191(key: string, bytes: Buffer): string {
  const signature = secp256k1.sign(keccak_256(bytes), Buffer.from(key, "hex"), {
    prehash: false,
    format: "recovered",
  });
  // Noble puts the recovery bit first, Ethereum's v (27 or 28) comes last.
  const [recovery = 0] = signature;
  return `0x${Buffer.concat([signature.subarray(1), Buffer.from([27 + recovery])]).toString("hex")}`;
}

/** A protobuf field of bytes, shorter than 16 KiB. */
function lengthDelimited(field: number, bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...size]), bytes]);
}
