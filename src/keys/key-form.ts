import { createHash, randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The form of an API key: `starboard_live_`, 30 random base62 characters (178 bits), and 6
 * of checksum, so that a mistyped or invented key is refused without asking anyone
 * (contract, section 2). Operators' tokens differ in the prefix alone.
 */
const PREFIX = "starboard_live_";
export const OPERATOR_PREFIX = "starboard_operator_";
const RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY = new RegExp(`^[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
/** Random characters that lists show: they distinguish keys, and 154 bits remain unknown. */
const SHOWN_CHARACTERS = 4;

/** Makes a new key. It is shown once and never stored. */
export function makeKey(prefix: string = PREFIX): string {
  const random = Array.from(
    { length: RANDOM_CHARACTERS },
    () => ALPHABET[randomInt(ALPHABET.length)],
  );
  const body = prefix + random.join("");
  return body + checksum(body);
}

/** Whether a text has the form of a key and its checksum is right. */
export function isKey(text: string, prefix: string = PREFIX): boolean {
  if (!text.startsWith(prefix) || !BODY.test(text.slice(prefix.length))) return false;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return text === body + checksum(body);
}

/** Makes a secret that no person types: of a session, or of a link. 256 random bits in base64url. */
export function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a secret: anything else was never made, and costs no query. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** What is stored of a key: 178 random bits need no slow hash. */
export function hashOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** The part of a key that lists may show. */
export function shownPrefix(key: string): string {
  return key.slice(0, PREFIX.length + SHOWN_CHARACTERS);
}

/** CRC-32 in base62; 62^6 is above 2^32. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let index = 0; index < CHECKSUM_CHARACTERS; index++) {
    text = (ALPHABET[rest % ALPHABET.length] ?? "") + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
