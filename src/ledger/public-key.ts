import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesOf, MalformedMessage, readFields } from "./protobuf-wire.ts";

/** An account's key as the mirror node gives it; null for accounts without one. */
export type MirrorKey = {
  readonly _type: "ED25519" | "ECDSA_SECP256K1" | "ProtobufEncoded";
  /** Hex: 32 bytes, 33 bytes compressed, or a protobuf `Key`. */
  readonly key: string;
} | null;

/** A key that can sign by itself. */
export interface PrimitiveKey {
  readonly kind: "ed25519" | "ecdsa";
  readonly bytes: Uint8Array;
  /** Equal for equal keys. */
  readonly identity: string;
}

/** A key is a tree: lists are thresholds of all, and some leaves can never sign. */
export type PublicKey =
  | PrimitiveKey
  | { readonly kind: "threshold"; readonly needed: number; readonly keys: readonly PublicKey[] }
  /** Contract ids, RSA and P-384 keys, and points without a private key. */
  | { readonly kind: "unusable" };

/** The ledger's own limit on nested keys, the outermost being the first. */
const DEPTH_MAX = 15;
/** A ledger transaction (6 KiB) cannot carry more 35-byte keys than this. */
const KEYS_MAX = 180;

const ED25519_BYTES = 32;
const ECDSA_BYTES = 33;

/**
 * ED25519 keys of small order: for these, anyone can make signatures that
 * verify. The all-zero key is in real use on the ledger, for what no key may change (HIP-540).
 * All encodings, canonical or not, with the sign bit cleared.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

const UNUSABLE: PublicKey = { kind: "unusable" };

/**
 * Reads an account's key.
 *
 * @returns undefined when there is no key, or none that can be understood
 */
export function readPublicKey(key: MirrorKey): PublicKey | undefined {
  if (key === null || key.key.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(key.key)) return undefined;
  const bytes = Buffer.from(key.key, "hex");
  if (key._type === "ED25519") return ed25519(bytes);
  if (key._type === "ECDSA_SECP256K1") return ecdsa(bytes);
  try {
    return decodeKey(bytes, 1, { keysLeft: KEYS_MAX });
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

/**
 * The ledger's own rule: a list needs all its keys, a threshold at least so
 * many. A key that stands in a list twice counts twice, there as here.
 */
export function isSatisfied(key: PublicKey, signed: (leaf: PrimitiveKey) => boolean): boolean {
  if (key.kind === "unusable") return false;
  if (key.kind !== "threshold") return signed(key);
  return key.keys.filter((child) => isSatisfied(child, signed)).length >= key.needed;
}

/** Every distinct key of the tree that can sign by itself. */
export function primitiveKeys(key: PublicKey): readonly PrimitiveKey[] {
  const found = new Map<string, PrimitiveKey>();
  const visit = (node: PublicKey): void => {
    if (node.kind === "threshold") node.keys.forEach(visit);
    else if (node.kind !== "unusable") found.set(node.identity, node);
  };
  visit(key);
  return [...found.values()];
}

function ed25519(bytes: Uint8Array): PublicKey {
  if (bytes.length !== ED25519_BYTES) return UNUSABLE;
  const unsigned = Buffer.from(bytes);
  unsigned.writeUInt8(unsigned.readUInt8(31) & 0x7f, 31);
  if (SMALL_ORDER.has(unsigned.toString("hex"))) return UNUSABLE;
  return primitive("ed25519", bytes);
}

function ecdsa(bytes: Uint8Array): PublicKey {
  const onCurve = bytes.length === ECDSA_BYTES && secp256k1.utils.isValidPublicKey(bytes, true);
  return onCurve ? primitive("ecdsa", bytes) : UNUSABLE;
}

function primitive(kind: PrimitiveKey["kind"], bytes: Uint8Array): PrimitiveKey {
  return { kind, bytes, identity: `${kind}:${Buffer.from(bytes).toString("hex")}` };
}

/** proto.Key: exactly one of its variants. */
function decodeKey(message: Uint8Array, depth: number, room: { keysLeft: number }): PublicKey {
  if (depth > DEPTH_MAX) throw new MalformedMessage("nested too deeply");
  if (--room.keysLeft < 0) throw new MalformedMessage("too many keys");
  const [field, ...others] = readFields(message);
  if (field === undefined || others.length > 0) throw new MalformedMessage("not one key");
  const bytes = bytesOf(field);
  const list = (inner: Uint8Array) => decodeList(inner, depth, room);
  switch (field.number) {
    case 2:
      return ed25519(bytes);
    case 5:
      return decodeThreshold(bytes, list);
    case 6:
      return allOf(list(bytes));
    case 7:
      return ecdsa(bytes);
    default:
      return UNUSABLE;
  }
}

/** proto.ThresholdKey: 1 threshold, 2 keys. A threshold of 0 asks for nothing: unusable. */
function decodeThreshold(
  message: Uint8Array,
  list: (message: Uint8Array) => readonly PublicKey[],
): PublicKey {
  let needed = 0;
  let keys: readonly PublicKey[] = [];
  const seen = new Set<number>();
  for (const field of readFields(message)) {
    if (seen.has(field.number)) throw new MalformedMessage("a field given twice");
    seen.add(field.number);
    if (field.number === 1 && "integer" in field) needed = field.integer;
    else if (field.number === 2) keys = list(bytesOf(field));
    else throw new MalformedMessage(`threshold key field ${field.number}`);
  }
  return needed === 0 ? UNUSABLE : { kind: "threshold", needed, keys };
}

/** proto.KeyList: 1 keys, repeated. */
function decodeList(
  message: Uint8Array,
  depth: number,
  room: { keysLeft: number },
): readonly PublicKey[] {
  return readFields(message).map((field) => {
    if (field.number !== 1) throw new MalformedMessage(`key list field ${field.number}`);
    return decodeKey(bytesOf(field), depth + 1, room);
  });
}

/** An empty list asks for nothing, so no signature satisfies it. */
function allOf(keys: readonly PublicKey[]): PublicKey {
  return keys.length === 0 ? UNUSABLE : { kind: "threshold", needed: keys.length, keys };
}
