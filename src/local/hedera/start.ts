import { closedInTurn } from "../../service.ts";
import { type ConsensusOptions, startConsensusNodes } from "./consensus-node.ts";
import { type LedgerOptions, openLedger } from "./ledger.ts";
import { type InterceptRequest, startMirrorNode } from "./mirror-node.ts";

/** A whole network on this machine; closing stops the servers, then the ledger. */
export type LocalHedera = Awaited<ReturnType<typeof startLocalHedera>>;

export interface LocalHederaOptions extends LedgerOptions {
  readonly nodePorts?: readonly number[] | undefined;
  readonly mirrorPort?: number | undefined;
  readonly consensusDelayMs?: number | undefined;
  /** For tests. */
  readonly interceptCall?: ConsensusOptions["interceptCall"];
  readonly interceptRequest?: InterceptRequest | undefined;
}

/**
 * Opens the local ledger and starts its consensus nodes and its mirror node.
 *
 * @throws Error when a port is taken or the ledger's folder in use; nothing is left open then
 */
export async function startLocalHedera(options: LocalHederaOptions) {
  const { nodePorts: ports, mirrorPort, interceptRequest } = options;
  const { add, close } = closedInTurn();
  const ledger = add(await openLedger(options));
  try {
    const { nodes } = add(await startConsensusNodes({ ...options, ledger, ports }));
    const mirror = add(await startMirrorNode(ledger, mirrorPort, interceptRequest));
    return { ledger, nodes, mirrorUrl: mirror.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
