import { invalidParameter } from "./errors.ts";

const ENTITY_ID = /^(?:0+\.){0,2}(\d{1,12})$/;
const EVM_ADDRESS = /^(?:0x)?([0-9a-f]{40})$/i;
const LONG_ZERO = /^0{24}/;
const ALIAS = /^(?:0+\.){0,2}([A-Z2-7]+)$/;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The number that an entity's id or its long-zero EVM address spells; undefined for other text. */
export function entityNum(text: string): number | undefined {
  const evm = EVM_ADDRESS.exec(text)?.[1];
  if (evm !== undefined && LONG_ZERO.test(evm)) return Number(`0x${evm}`);
  const num = ENTITY_ID.exec(text)?.[1];
  return num === undefined ? undefined : Number(num);
}

/** @throws MirrorError 400 that names the parameter */
export function readEntityNum(text: string, parameter: string): number {
  return entityNum(text) ?? invalidParameter(parameter);
}

/**
 * Reads the spellings of an account that the real mirror node takes: `0.0.n`, `0.n`, `n`, leading
 * zeros, an EVM address with or without `0x` in any case, a base32 alias.
 *
 * @returns its number, or its EVM address in hex, lower case
 * @throws MirrorError 400 for anything else, a checksum among it
 */
export function readAccountReference(text: string): number | string {
  const num = entityNum(text);
  const evm = EVM_ADDRESS.exec(text)?.[1]?.toLowerCase();
  const alias = ALIAS.exec(text)?.[1];
  return num ?? evm ?? (alias ? fromBase32(alias) : invalidParameter("idOrAliasOrEvmAddress"));
}

/** RFC 4648 base32 of 20 bytes in hex, as aliases are shown. */
export function toBase32(address: string): string {
  const digits = BigInt(`0x${address}`).toString(32).padStart(32, "0");
  return digits.replace(/./g, (digit) => BASE32.charAt(Number.parseInt(digit, 32)));
}

function fromBase32(alias: string): string {
  let bits = 0n;
  for (const letter of alias) bits = (bits << 5n) | BigInt(BASE32.indexOf(letter));
  return bits.toString(16).padStart((alias.length * 5) / 4, "0");
}
