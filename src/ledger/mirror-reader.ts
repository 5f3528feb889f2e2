import type { z } from "zod";
import { isEntityId } from "./entity-id.ts";
import type { Budget } from "./mirror-deadline.ts";
import { MirrorError } from "./mirror-error.ts";
import type { MirrorTransport } from "./mirror-transport.ts";

/** Reads whole answers by their path below `/api/v1`. */
export interface Reader {
  /** One thing, or null when the node says it is not there. */
  one<T>(path: string, schema: z.ZodType<T>, budget: Budget): Promise<T | null>;
  /** A list, which is there even when it is empty. */
  list<T>(path: string, schema: z.ZodType<T>, budget: Budget): Promise<T>;
  /** A list of which the node may know only a part. */
  partialList<T>(
    path: string,
    schema: z.ZodType<T>,
    budget: Budget,
  ): Promise<{ readonly body: T; readonly partial: boolean }>;
  /** What a node may put before a reader's path in its links. */
  readonly prefixes: readonly string[];
}

const API = "/api/v1";

export function createReader(transport: MirrorTransport): Reader {
  const answer: Reader["partialList"] = async (path, schema, budget) => {
    const found = await transport.ask(API + path, schema, budget);
    if (found === null) throw new MirrorError("status", `${path}: a list is not found`);
    return found;
  };
  const whole = <T>({ body, partial }: { body: T; partial: boolean }, path: string): T => {
    if (partial) throw new MirrorError("status", `${path}: only a part of the answer`);
    return body;
  };
  return {
    one: async (path, schema, budget) => {
      const found = await transport.ask(API + path, schema, budget);
      return found === null ? null : whole(found, path);
    },
    list: async (path, schema, budget) => whole(await answer(path, schema, budget), path),
    partialList: answer,
    prefixes: transport.prefixes.map((prefix) => prefix + API),
  };
}

/** The id, when it is safe to put into a path. @throws RangeError when it is not canonical */
export function known(id: string): string {
  if (!isEntityId(id)) throw new RangeError(`not a canonical ledger id: ${id.slice(0, 40)}`);
  return id;
}

/** A serial or sequence number for a path. @throws RangeError unless it is a whole number ≥ 1 */
export function whole(number: number): number {
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new RangeError(`not a serial or sequence number: ${number}`);
  }
  return number;
}

/** Path of one NFT. @throws RangeError */
export function nftPath(token: string, serial: number): string {
  return `/tokens/${known(token)}/nfts/${whole(serial)}`;
}
