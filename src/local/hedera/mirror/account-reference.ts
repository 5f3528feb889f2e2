import { invalidParameter } from "./errors.ts";

const PARAMETER = "idOrAliasOrEvmAddress";
/** No entity has it. */
const NOWHERE = -1;
/** 38 bits: no entity has a greater number. */
const NUM_MAX = 274_877_906_943n;
const ENTITY_ID = /^(?:(?:\d{1,4}\.)?\d{1,5}\.)?(\d{1,19})$/;
const EVM_ADDRESS = /^(?:0x|(?:\d{1,4}\.)?(?:\d{1,5}\.)?)([0-9a-f]{40})$/i;
const LONG_ZERO = /^0{24}([0-9a-f]{16})$/i;
const ALIAS = /^(?:(?:\d{1,4}\.)?\d{1,5}\.)?([A-Z2-7]+)$/;
const OTHER_PLACE = /^(?:[1-9]\d*\.|0+\.[1-9]\d*\.)/;

/**
 * Reads every spelling of an account that the real mirror node takes: `0.0.n`, `0.n`, `n`,
 * leading zeros, a long-zero EVM address, an EVM alias with or without `0x` in any case, a
 * base32 alias.
 *
 * @returns its number, or its EVM address in hex, lower case
 * @throws MirrorError 400 for anything else, a checksum among it
 */
export function readAccountReference(text: string): number | string {
  const evm = EVM_ADDRESS.exec(text)?.[1];
  if (evm !== undefined && !LONG_ZERO.test(evm)) return evm.toLowerCase();
  const alias = evm === undefined && !ENTITY_ID.test(text) ? ALIAS.exec(text)?.[1] : undefined;
  return alias === undefined ? readEntityNum(text, PARAMETER) : fromBase32(alias);
}

/**
 * The number of an entity in a path or filter; -1 for one of another shard or realm.
 *
 * @param parameter its name in the error
 * @throws MirrorError 400
 */
export function readEntityNum(text: string, parameter: string): number {
  const longZero = LONG_ZERO.exec(EVM_ADDRESS.exec(text)?.[1] ?? "")?.[1];
  if (longZero !== undefined) return Number(`0x${longZero}`);
  const num = ENTITY_ID.exec(text)?.[1];
  if (num === undefined || BigInt(num) > NUM_MAX) throw invalidParameter(parameter);
  // Another shard or realm is well spelled, but nothing lives there.
  return OTHER_PLACE.test(text) ? NOWHERE : Number(num);
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 base32 without padding, as aliases are shown; of hex. */
export function toBase32(hex: string): string {
  const size = hex.length * 4;
  const length = Math.ceil(size / 5);
  const padded = BigInt(`0x${hex}`) << BigInt(length * 5 - size);
  return Array.from({ length }, (_, index) =>
    BASE32.charAt(Number((padded >> BigInt((length - 1 - index) * 5)) & 31n)),
  ).join("");
}

function fromBase32(text: string): string {
  let bits = 0n;
  for (const letter of text) bits = (bits << 5n) | BigInt(BASE32.indexOf(letter));
  const length = Math.floor((text.length * 5) / 8);
  const whole = bits >> BigInt(text.length * 5 - length * 8);
  return length === 0 ? "" : whole.toString(16).padStart(length * 2, "0");
}
