import type { ConsensusNode } from "../../src/local/hedera/consensus-node.ts";
import type { Ledger } from "../../src/local/hedera/ledger.ts";
import {
  type LocalHedera as Hedera,
  type LocalHederaOptions,
  startLocalHedera as start,
} from "../../src/local/hedera/start.ts";
import { type LedgerOperations, ledgerOperations } from "./ledger-operations.ts";
import { type MirrorFaults, noMirrorFaults, spoilRequests } from "./mirror-faults.ts";
import { type Faults, noFaults, spoilCalls } from "./node-faults.ts";

/** A local network on which a test can do anything, and switch faults on and off. */
export interface LocalHedera extends Hedera {
  readonly ledger: Ledger & LedgerOperations;
  readonly nodes: readonly (ConsensusNode & { readonly faults: Faults })[];
  readonly mirror: { readonly url: string; readonly faults: MirrorFaults };
}

export async function startLocalHedera(options: LocalHederaOptions): Promise<LocalHedera> {
  const mirrorFaults = noMirrorFaults();
  const nodeFaults: Faults[] = [];
  const hedera = await start({
    ...options,
    interceptRequest: spoilRequests(mirrorFaults, options.now),
    interceptCall(index) {
      nodeFaults[index] = noFaults();
      return spoilCalls(nodeFaults[index]);
    },
  });
  return {
    ...hedera,
    ledger: { ...hedera.ledger, ...ledgerOperations(hedera.ledger.order) },
    nodes: hedera.nodes.map((node, index) => ({
      ...node,
      faults: nodeFaults[index] ?? noFaults(),
    })),
    mirror: { url: hedera.mirrorUrl, faults: mirrorFaults },
  };
}
