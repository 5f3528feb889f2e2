import { promisify } from "node:util";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { entityId } from "../../ledger/entity-id.ts";
import { closedInTurn, type Service } from "../../service.ts";
import { isFree } from "../free-port.ts";
import { HAPI, type InterceptCall, type NodeSettings, nodeHandlers } from "./consensus/node.ts";
import type { Ledger } from "./ledger.ts";

/** A consensus node of the local network, listening. */
export interface ConsensusNode {
  /** `host:port`, plain-text gRPC. */
  readonly address: string;
  /** The node's account, which transactions must name: `0.0.3`, `0.0.4` … */
  readonly account: string;
}

export interface ConsensusOptions {
  readonly ledger: Ledger;
  /** How many nodes, one port each; one failure puts a client's only node out for 16 s. */
  readonly count?: number | undefined;
  /** Their ports, in order; free ones when absent. */
  readonly ports?: readonly number[] | undefined;
  /** From a node's check to consensus. */
  readonly consensusDelayMs?: number | undefined;
  /** For tests, by the node's place in the list. */
  readonly interceptCall?: ((index: number) => InterceptCall) | undefined;
  /** How long a receipt query waits for a transaction under way; 0 answers at once, as the network does. */
  readonly receiptPatienceMs?: number | undefined;
}

/**
 * At 127.0.0.1 the SDK believes in a developer's node and retries without end; where no other can
 * be bound (macOS) it is that one all the same.
 */
const LOOPBACKS = ["127.0.0.2", "127.0.0.1"] as const;
const FIRST_NODE = 3;
/** 50211 at loopback is the SDK's developer node; on 50212 it insists on TLS. */
const PORTS_TO_AVOID = [50_211, 50_212];
const CONSENSUS_DELAY_MS = 10;
/** Saves the client its next poll, a quarter of a second later. */
const RECEIPT_PATIENCE_MS = 200;

/**
 * Starts the consensus nodes of a ledger: HAPI over gRPC, for the unmodified SDK. Closing stops
 * listening and drops the calls under way; the ledger stays open.
 *
 * @throws Error when a port is taken, or is one the SDK treats specially
 */
export async function startConsensusNodes(
  options: ConsensusOptions,
): Promise<Service & { readonly nodes: readonly ConsensusNode[] }> {
  const { ledger, count = 3, ports = [] } = options;
  const { consensusDelayMs = CONSENSUS_DELAY_MS } = options;
  const { receiptPatienceMs = RECEIPT_PATIENCE_MS } = options;
  const host = (await isFree(0, LOOPBACKS[0])) ? LOOPBACKS[0] : LOOPBACKS[1];
  const nodes: ConsensusNode[] = [];
  const { add, close } = closedInTurn();
  try {
    for (let index = 0; index < count; index += 1) {
      const num = FIRST_NODE + index;
      const intercept = options.interceptCall?.(index);
      const settings = { ledger, num, intercept, consensusDelayMs, receiptPatienceMs };
      const { server, port } = await listen(settings, host, ports[index] ?? 0);
      add({ close: async () => server.forceShutdown() });
      nodes.push({ address: `${host}:${port}`, account: entityId(num) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { nodes, close };
}

async function listen(
  settings: NodeSettings,
  host: string,
  given: number,
): Promise<{ server: Server; port: number }> {
  const server = new Server();
  server.addService(HAPI, nodeHandlers(settings));
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind(`${host}:${given}`, ServerCredentials.createInsecure());
  if (!PORTS_TO_AVOID.includes(port)) return { server, port };
  server.forceShutdown();
  if (given !== 0) throw new RangeError(`the SDK cannot use port ${given} at loopback`);
  return listen(settings, host, given);
}
