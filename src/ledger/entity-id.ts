/**
 * Ledger ids of accounts, tokens and topics. The mirror node takes many
 * spellings of one account; we take one, so one account is one voter
 * (contract, section 4).
 */

/** Networks we know a checksum for. */
export type LedgerNetwork = "local" | "mainnet" | "previewnet" | "testnet";

/**
 * The ledger id HIP-15 mixes into a checksum. The public networks' are
 * published; 3 is what ledger software uses for a network on one machine.
 */
const LEDGER_IDS: Readonly<Record<LedgerNetwork, number>> = {
  mainnet: 0,
  testnet: 1,
  previewnet: 2,
  local: 3,
};

/** Twelve digits are the most the mirror node takes, and far below 2^53. */
const CANONICAL = /^0\.0\.[1-9]\d{0,11}$/;
const GIVEN = /^(?<id>0\.0\.[1-9]\d{0,11})(?:-(?<checksum>[a-z]{5}))?$/;
const GIVEN_LENGTH_MAX = "0.0.123456789012-abcde".length;

/** An account that each Hedera network has: its treasury. */
export const TREASURY = "0.0.2";

/** Ids hold 38 bits of number; asked for more, a mirror node answers 400 and not 404. */
export const ENTITY_NUMBER_MAX = 2 ** 38 - 1;

/** Whether the text is a ledger id in its one canonical spelling, `0.0.n`. */
export function isEntityId(text: string): boolean {
  return text.length <= GIVEN_LENGTH_MAX && CANONICAL.test(text);
}

/**
 * Reads an id as a client may send it: canonical, with or without its HIP-15
 * checksum.
 *
 * @returns the canonical id; undefined for any other spelling and for a
 *   checksum of another id or another network
 */
export function parseEntityId(text: string, network: LedgerNetwork): string | undefined {
  if (text.length > GIVEN_LENGTH_MAX) return undefined;
  const { id, checksum } = GIVEN.exec(text)?.groups ?? {};
  if (id === undefined) return undefined;
  return checksum === undefined || checksum === entityChecksum(id, network) ? id : undefined;
}

/** Whether the text is a 20-byte EVM address in lower case. */
export function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/.test(text);
}

/** The EVM address that spells an account's number. @throws RangeError when it is not canonical */
export function longZeroAddress(id: string): string {
  return `0x${entityNumber(id).toString(16).padStart(40, "0")}`;
}

/** `1001` → `0.0.1001` */
export function entityId(number: number | string): string {
  return `0.0.${number}`;
}

/** The id's number, `n` of `0.0.n`. @throws RangeError when it is not canonical */
export function entityNumber(id: string): number {
  if (!isEntityId(id)) throw new RangeError(`not a canonical ledger id: ${id.slice(0, 40)}`);
  return Number(id.slice("0.0.".length));
}

/** Orders canonical ids by their number, as rankings do (contract, section 2). */
export function compareEntityIds(left: string, right: string): number {
  return entityNumber(left) - entityNumber(right);
}

const LETTERS = 26;
const P3 = LETTERS ** 3;
const P5 = LETTERS ** 5;

/**
 * The five-letter checksum of a canonical id on a network (HIP-15): a weighted
 * sum of all digits, two of alternate digits, and one of the ledger id followed
 * by six zero bytes, mixed and written in base 26.
 */
export function entityChecksum(id: string, network: LedgerNetwork): string {
  const digits = [...id].map((char) => (char === "." ? 10 : Number(char)));
  const even = digits.reduce((sum, digit, i) => (i % 2 === 0 ? (sum + digit) % 11 : sum), 0);
  const odd = digits.reduce((sum, digit, i) => (i % 2 === 1 ? (sum + digit) % 11 : sum), 0);
  const weighted = digits.reduce((sum, digit) => (sum * 31 + digit) % P3, 0);
  const ledger = [LEDGER_IDS[network], 0, 0, 0, 0, 0, 0].reduce(
    (sum, byte) => (sum * 31 + byte) % P5,
    0,
  );
  const mixed = ((((digits.length % 5) * 11 + even) * 11 + odd) * P3 + weighted + ledger) % P5;
  // 26^5 × 1,000,003 stays below 2^53: plain numbers are exact.
  let rest = (mixed * 1_000_003) % P5;
  let letters = "";
  for (let i = 0; i < 5; i++) {
    letters = String.fromCharCode(97 + (rest % LETTERS)) + letters;
    rest = Math.floor(rest / LETTERS);
  }
  return letters;
}
