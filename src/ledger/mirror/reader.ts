import type { z } from "zod";
import { isEntityId } from "../entity-id.ts";
import type { Answer } from "./answer.ts";
import { MirrorError } from "./error.ts";
import type { Budget } from "./limits.ts";
import type { MirrorTransport } from "./transport.ts";

/** What every path begins with below a node's base URL. */
export const API = "/api/v1";

/** Reads whole answers by their path below `/api/v1`. All throw MirrorError. */
export class MirrorReader {
  readonly #transport: Pick<MirrorTransport, "ask">;

  constructor(transport: Pick<MirrorTransport, "ask">) {
    this.#transport = transport;
  }

  /** One thing, or null when the node says it is not there. */
  async one<T>(path: string, schema: z.ZodType<T>, budget: Budget): Promise<T | null> {
    const found = await this.#transport.ask({ target: API + path, schema, budget });
    return found === null ? null : whole(found, path);
  }

  /** A list, which is there even when it is empty. */
  async list<T>(path: string, schema: z.ZodType<T>, budget: Budget): Promise<T> {
    return whole(await this.partialList(path, schema, budget), path);
  }

  /** A list of which the node may know only a part. */
  async partialList<T>(path: string, schema: z.ZodType<T>, budget: Budget): Promise<Answer<T>> {
    const found = await this.#transport.ask({ target: API + path, schema, budget });
    if (found === null) throw new MirrorError("status", `${path}: a list is not found`);
    return found;
  }
}

function whole<T>({ body, partial }: Answer<T>, path: string): T {
  if (partial) throw new MirrorError("status", `${path}: only a part of the answer`);
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
