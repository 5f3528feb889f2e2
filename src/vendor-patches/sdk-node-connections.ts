/** What of the SDK's client holds the connections. */
interface NetworkClient<Account> {
  /** Internal to the SDK. */
  readonly _network: { getNode(): { isHealthy(): boolean } };
  /** Account by address. */
  readonly network: Record<string, Account>;
  setNetwork(network: Record<string, Account>): unknown;
  setGrpcDeadline(milliseconds: number | undefined): unknown;
  close(): void;
}

/** A new connection each second is more than a node that is back needs. */
const RENEW_EVERY_MS = 1_000;

/**
 * Changes three behaviours of the client of `@hashgraph/sdk` 2.81.0. Two would keep publishing
 * down long after an outage: for 16 s to an hour the client leaves out a node that failed (and every
 * node, when the machine's clock is set back, until it shows again the time at which the node was
 * made), and gRPC waits up to two minutes between attempts to connect, and without end on a
 * connection that was cut silently. The third costs memory (fixed in 2.87): a call's deadline timer runs on after
 * the answer and holds request and answer, some thousand of them at full speed. Every caller here
 * has a deadline of its own, which ends with the call.
 */
export function holdNodeConnections<Account extends { toString(): string }>(
  client: NetworkClient<Account>,
) {
  const renewedAt = new Map<string, number>();
  // Of its class. The SDK cannot close what it leaves out, so that renewing would throw.
  Object.getPrototypeOf(client._network.getNode()).isHealthy = () => true;
  client.setGrpcDeadline(undefined);
  return {
    /** The account ids of the network's consensus nodes, each once. */
    nodes: (): readonly string[] => [...new Set(Object.values(client.network).map(String))],
    /** Closes the connections to a node; the next call makes new ones. */
    renew(node: string): void {
      const now = performance.now();
      if (now - (renewedAt.get(node) ?? Number.NEGATIVE_INFINITY) < RENEW_EVERY_MS) return;
      renewedAt.set(node, now);
      const all = { ...client.network };
      const others = Object.entries(all).filter(([, account]) => String(account) !== node);
      client.setNetwork(Object.fromEntries(others));
      client.setNetwork(all);
    },
    close: (): void => client.close(),
  };
}
