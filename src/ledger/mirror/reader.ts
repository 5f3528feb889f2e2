import { isEntityId } from "../entity-id.ts";
import type { Answer, Asked, Take } from "./answer.ts";
import { MirrorError } from "./error.ts";
import type { Budget } from "./limits.ts";
import type { MirrorTransport } from "./transport.ts";

/** What every path begins with below a node's base URL. */
export const API = "/api/v1";

/** The most rows a mirror node gives at once; asked for more, it silently gives this many. */
export const PAGE = 100;

/** Reads whole answers; a target is a path below `/api/v1`. All throw MirrorError. */
export class MirrorReader {
  readonly #transport: Pick<MirrorTransport, "ask">;

  constructor(transport: Pick<MirrorTransport, "ask">) {
    this.#transport = transport;
  }

  /** One thing, or null when the node says it is not there. */
  one<T>(asked: Asked<T>, budget: Budget): Promise<T | null> {
    return this.#ask(asked, budget, (found) => found && whole(found, asked));
  }

  /**
   * A list, which is there even when it is empty.
   *
   * @param check throws where the next node is to be asked
   */
  list<T>(asked: Asked<T>, budget: Budget, check?: (body: T) => void): Promise<T> {
    return this.#ask(asked, budget, (found) => {
      const body = whole(present(found, asked), asked);
      check?.(body);
      return body;
    });
  }

  /** A list of which the node may know only a part. */
  partialList<T>(asked: Asked<T>, budget: Budget): Promise<Answer<T>> {
    return this.#ask(asked, budget, (found) => present(found, asked));
  }

  #ask<T, R>(asked: Asked<T>, budget: Budget, take: Take<T, R>): Promise<R> {
    return this.#transport.ask({ budget, ...asked, target: API + asked.target }, take);
  }
}

function present<T>(found: Answer<T> | null, { target }: Asked<T>): Answer<T> {
  if (found === null) throw new MirrorError("status", `${target}: a list is not found`);
  return found;
}

function whole<T>({ body, partial }: Answer<T>, { target }: Asked<T>): T {
  if (partial) throw new MirrorError("status", `${target}: only a part of the answer`);
  return body;
}

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
