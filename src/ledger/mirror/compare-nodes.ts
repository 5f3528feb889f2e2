import { type Logger, silentLogger } from "../../log.ts";
import { every, type Service } from "../../service.ts";
import { parseTimestamp } from "../transaction-id.ts";
import { within } from "./limits.ts";
import { readNewestBlock } from "./lists.ts";
import { MirrorReader } from "./reader.ts";
import { MirrorTransport } from "./transport.ts";

const EVERY_MS = 10_000;
const WITHIN_MS = 5_000;
/** Nodes that keep up are seconds apart. */
const BEHIND_NS = 60_000_000_000n;

/**
 * Compares how far nodes have come, and has those that are a minute behind another one asked last.
 * They are compared with each other: on a quiet network the newest block is old everywhere, and a
 * machine's clock may be wrong. A node that does not answer stays what it was.
 */
export function compareNodes(
  urls: readonly string[],
  { transport, log }: { readonly transport: MirrorTransport; readonly log: Logger },
): Service {
  const own = urls.map((url) => new MirrorTransport({ urls: [url], log: silentLogger }));
  const readers = own.map((each) => new MirrorReader(each));
  let behind: readonly number[] = [];
  const comparing = every(
    EVERY_MS,
    async () => {
      const reached = await Promise.all(readers.map(readReached));
      const newest = reached.reduce((most, each) => (each > most ? each : most));
      const found = [...urls.keys()].filter((place) => {
        const at = reached[place] ?? UNKNOWN;
        return at === UNKNOWN ? behind.includes(place) : at < newest - BEHIND_NS;
      });
      if (found.join() === behind.join()) return;
      behind = found;
      transport.askLast(behind);
      const nodes = behind.map((place) => new URL(urls[place] ?? "").origin);
      if (nodes.length === 0) log.info("no mirror node is a minute behind another one any more");
      else log.warn({ nodes }, "a mirror node is a minute behind another one, and is asked last");
    },
    { firstAfterMs: 0 },
  );
  return {
    async close() {
      await Promise.all(own.map((each) => each.close()));
      await comparing.close();
    },
  };
}

const UNKNOWN = -1n;

/** Until when a node knows the ledger, in nanoseconds since the epoch. */
async function readReached(reader: MirrorReader): Promise<bigint> {
  try {
    const block = await within({ deadlineMs: WITHIN_MS }, (budget) =>
      readNewestBlock(reader, budget),
    );
    return block === null ? UNKNOWN : parseTimestamp(block.to);
  } catch {
    return UNKNOWN;
  }
}
