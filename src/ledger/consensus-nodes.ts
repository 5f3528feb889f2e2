import type * as Sdk from "@hashgraph/sdk";
import { holdNodeConnections } from "../vendor-patches/sdk-node-connections.ts";
import { keepNoTimestamps } from "../vendor-patches/sdk-timestamps.ts";
import { withDeadline } from "../with-deadline.ts";
import { createFailover, roundRobin } from "./failover.ts";

export interface NodesOptions {
  readonly network: "local" | "testnet" | "mainnet" | "previewnet";
  /** Default: the named network's own nodes. */
  readonly nodes?: readonly { readonly address: string; readonly account: string }[] | undefined;
  /** How long a node may take to answer; default 3 s. */
  readonly callDeadlineMs?: number;
}

/** A node answers in well under a second. */
const CALL_DEADLINE_MS = 3_000;

/** The consensus nodes of a network, as they are asked; `connections` are to be closed. */
export type Nodes = Awaited<ReturnType<typeof openNodes>>;

/**
 * Opens the nodes of a network through the SDK, which is loaded here and not before: it takes most
 * of a second and 60 MB.
 *
 * @throws RangeError when the local network has no nodes
 */
export async function openNodes(options: NodesOptions) {
  const sdk = await loadSdk();
  const client = createClient(sdk, options);
  const connections = holdNodeConnections(client);
  const failover = createFailover<string>(() => performance.now());
  const spread = roundRobin();
  return {
    sdk,
    client,
    deadlineMs: options.callDeadlineMs ?? CALL_DEADLINE_MS,
    failover,
    connections,
    /** Nodes in the order to ask them: each gets its share of the calls, and one that fails is asked last. */
    inTurn: (nodes = connections.nodes()) => failover.inOrder(spread(nodes)),
  };
}

/** A client without an operator: with one the SDK would sign stored bytes once more. */
function createClient(sdk: typeof Sdk, { network, nodes }: NodesOptions): Sdk.Client {
  if (nodes === undefined && network === "local") {
    throw new RangeError("the local network needs HEDERA_NODES");
  }
  if (nodes === undefined) return sdk.Client.forName(network);
  const byAddress = nodes.map(({ address, account }) => [address, account]);
  return sdk.Client.forNetwork(Object.fromEntries(byAddress));
}

export interface NodeAnswer {
  /** `0.0.n` */
  readonly node: string;
  /** Null where it answered, else what came instead. */
  readonly fault: string | null;
  /** It says that its account is another one. */
  readonly isOther: boolean;
}

/**
 * Sends every consensus node once, all at the same time, a transaction that has long expired: a node
 * refuses one for another's account first, then what is late, so it costs nothing and needs no key.
 * Never rejects for a node's sake.
 *
 * @throws RangeError when the local network has no nodes
 */
export async function askNodes(options: NodesOptions): Promise<readonly NodeAnswer[]> {
  const asking = await openNodes(options);
  const { sdk, connections } = asking;
  try {
    return await Promise.all(
      connections.nodes().map(async (node) => {
        const account = sdk.AccountId.fromString(node);
        const expired = new sdk.TopicMessageSubmitTransaction()
          .setTopicId("0.0.1")
          .setMessage("expired")
          .setTransactionId(sdk.TransactionId.withValidStart(account, new sdk.Timestamp(1, 0)))
          .setNodeAccountIds([account])
          .setRegenerateTransactionId(false)
          .freeze();
        const signed = await expired.sign(sdk.PrivateKey.generateED25519());
        const { answer, status, why } = await askNode(asking, node, signed);
        const fault = answer === undefined && status === undefined ? why : null;
        return { node, fault, isOther: status === "INVALID_NODE_ACCOUNT" };
      }),
    );
  } finally {
    connections.close();
  }
}

/** What a node said: an answer, or a status it refused with, or nothing that could be understood. */
export interface Reply<Answer> {
  readonly answer?: Answer;
  readonly status?: string | undefined;
  readonly why: string;
}

interface Request<Answer> {
  setMaxAttempts(attempts: number): this;
  setMinBackoff(milliseconds: number): this;
  execute(client: Sdk.Client): Promise<Answer>;
}

/** Asks one node once; a connection that may be dead is replaced before. Never rejects. */
export async function askNode<Answer>(
  { sdk, client, deadlineMs, failover, connections }: Nodes,
  node: string,
  request: Request<Answer>,
): Promise<Reply<Answer>> {
  if (failover.isFailing(node)) connections.renew(node);
  try {
    const work = request.setMaxAttempts(1).setMinBackoff(1).execute(client);
    const answer = await withDeadline(work, deadlineMs);
    failover.answered(node);
    return { answer, why: "" };
  } catch (error) {
    const status = error instanceof sdk.PrecheckStatusError ? String(error.status) : wrapped(error);
    if (status === undefined) failover.failed(node);
    else failover.answered(node);
    const why = error instanceof Error ? error.message.slice(0, 200) : String(error);
    // UNKNOWN is the status of a node that does not know.
    return { status: status === "UNKNOWN" ? undefined : status, why };
  }
}

/** A status that the SDK would have liked to retry comes wrapped into a sentence. */
function wrapped(error: unknown): string | undefined {
  const sentence = /last error being: (?<status>[A-Z][A-Z0-9_]*)$/;
  return error instanceof Error ? sentence.exec(error.message)?.groups?.status : undefined;
}

async function loadSdk(): Promise<typeof Sdk> {
  const sdk = await import("@hashgraph/sdk");
  keepNoTimestamps(sdk);
  // As the SDK, it loads gRPC, which a web process never needs.
  const { limitGrpcCalls } = await import("../vendor-patches/grpc-call-deadlines.ts");
  limitGrpcCalls();
  return sdk;
}
