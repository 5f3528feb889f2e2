import { isEntityId } from "../entity-id.ts";

/** What every path begins with below a node's base URL. */
export const API = "/api/v1";

/** The most rows a mirror node gives at once; asked for more, it silently gives this many. */
export const PAGE = 100;

/** The id, when it is safe to put into a path. @throws RangeError when it is not canonical */
export function checkId(id: string): string {
  if (!isEntityId(id)) throw new RangeError(`not a canonical ledger id: ${id.slice(0, 40)}`);
  return id;
}

/** A serial or sequence number for a path. @throws RangeError unless it is a whole number ≥ 1 */
export function checkNumber(number: number): number {
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new RangeError(`not a serial or sequence number: ${number}`);
  }
  return number;
}

/** Path of one NFT. @throws RangeError */
export function nftPath(token: string, serial: number): string {
  return `/tokens/${checkId(token)}/nfts/${checkNumber(serial)}`;
}
