import type { Logger } from "../../log.ts";
import { every, type Service } from "../../service.ts";
import { parseTimestamp } from "../transaction-id.ts";
import type { ReadLimits } from "./limits.ts";
import type { MirrorTransport } from "./transport.ts";

const EVERY_MS = 10_000;
const READ = { deadlineMs: 5_000 } as const;
/** Nodes that keep up are seconds apart. */
const BEHIND_NS = 60_000_000_000n;

interface ComparedNode extends Service {
  readonly url: string;
  newestBlock(limits: ReadLimits): Promise<{ readonly to: string } | null>;
}

/**
 * Compares how far nodes have come, and has those that are a minute behind another one asked last.
 * They are compared with each other: on a quiet network the newest block is old everywhere, and a
 * machine's clock may be wrong. A node that does not answer stays what it was.
 */
export function compareNodes(
  nodes: readonly ComparedNode[],
  { transport, log }: { readonly transport: MirrorTransport; readonly log: Logger },
): Service {
  let behind: readonly number[] = [];
  const comparing = every(
    EVERY_MS,
    async () => {
      const found = await findBehind(nodes, behind);
      if (found.join() === behind.join()) return;
      behind = found;
      transport.askLast(behind);
      const origins = behind.map((place) => new URL(nodes[place]?.url ?? "").origin);
      if (behind.length === 0) log.info("no mirror node is a minute behind another one any more");
      else
        log.warn(
          { nodes: origins },
          "a mirror node is a minute behind another one, and is asked last",
        );
    },
    { firstAfterMs: 0 },
  );
  return {
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await comparing.close();
    },
  };
}

const UNKNOWN = -1n;

/**
 * The places of the nodes that are a minute behind another one.
 *
 * @param before those that were: one that does not answer stays what it was
 */
export async function findBehind(
  nodes: readonly ComparedNode[],
  before: readonly number[],
): Promise<readonly number[]> {
  const reached = await Promise.all(nodes.map(readReached));
  const newest = reached.reduce((most, each) => (each > most ? each : most));
  return [...nodes.keys()].filter((place) => {
    const at = reached[place] ?? UNKNOWN;
    return at === UNKNOWN ? before.includes(place) : at < newest - BEHIND_NS;
  });
}

/** Until when a node knows the ledger, in nanoseconds since the epoch. */
async function readReached(node: ComparedNode): Promise<bigint> {
  const block = await node.newestBlock(READ).catch(() => null);
  return block === null ? UNKNOWN : parseTimestamp(block.to);
}
