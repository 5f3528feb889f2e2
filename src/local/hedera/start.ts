import type { Sql } from "../../store/postgres.ts";
import { type ConsensusNode, startConsensusNodes } from "./consensus-node.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { type MirrorNode, startMirrorNode } from "./mirror-node.ts";

/** A whole network on this machine. */
export interface LocalHedera {
  readonly ledger: Ledger;
  readonly nodes: readonly ConsensusNode[];
  readonly mirror: MirrorNode;
  readonly mirrorUrl: string;
  /** Stops the servers, then the ledger; the pool stays open. */
  close(): Promise<void>;
}

export interface LocalHederaOptions {
  /** Pool of the database that keeps the ledger. */
  readonly sql: Sql;
  /** The ledger's clock, epoch milliseconds. */
  readonly now: () => number;
  /** Where the consensus nodes listen; 127.0.0.2, or 127.0.0.1 where that cannot be bound. */
  readonly host?: string;
  readonly nodePorts?: readonly number[];
  readonly mirrorHost?: string;
  readonly mirrorPort?: number;
  readonly schema?: string;
  readonly consensusDelayMs?: number;
}

/**
 * Opens the local ledger and starts its consensus nodes and its mirror node.
 *
 * @throws Error when a port is taken; nothing is left open then
 */
export async function startLocalHedera(options: LocalHederaOptions): Promise<LocalHedera> {
  const { sql, now, schema, host, nodePorts, mirrorHost, mirrorPort, consensusDelayMs } = options;
  const ledger = await openLedger({ sql, now, ...(schema === undefined ? {} : { schema }) });
  const closers = [() => ledger.close()];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const consensus = await startConsensusNodes({
      ledger,
      ...(host === undefined ? {} : { host }),
      ...(nodePorts === undefined ? {} : { ports: nodePorts }),
      ...(consensusDelayMs === undefined ? {} : { consensusDelayMs }),
    });
    closers.push(() => consensus.close());
    const mirror = await startMirrorNode({
      ledger,
      ...(mirrorHost === undefined ? {} : { host: mirrorHost }),
      ...(mirrorPort === undefined ? {} : { port: mirrorPort }),
    });
    closers.push(() => mirror.close());
    return { ledger, nodes: consensus.nodes, mirror, mirrorUrl: mirror.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
