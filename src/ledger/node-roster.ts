/** Which consensus node to ask next; every call's outcome is told back. */
export interface NodeRoster {
  /** The given nodes, those to prefer first; none is ever left out. */
  inOrder(nodes: readonly string[]): readonly string[];
  answered(node: string): void;
  failed(node: string): void;
  /** Whether the node's last call failed, so that its connection may be a dead one. */
  isSuspect(node: string): boolean;
}

/** How long a node that failed stands behind the others. */
const REST_MS = 10_000;

/**
 * Spreads calls evenly over the nodes, except that one that failed is asked last for a
 * while. When its rest is over one call tries it, and the others follow after an answer.
 *
 * @param now a monotonic clock in milliseconds
 */
export function createNodeRoster(now: () => number): NodeRoster {
  const restsUntil = new Map<string, number>();
  let turn = 0;
  const isResting = (node: string): boolean => (restsUntil.get(node) ?? 0) > now();

  return {
    inOrder(nodes) {
      const start = nodes.length === 0 ? 0 : turn++ % nodes.length;
      const round = [...nodes.slice(start), ...nodes.slice(0, start)];
      const order = [
        ...round.filter((node) => !isResting(node)),
        ...round.filter((node) => isResting(node)),
      ];
      const [first] = order;
      if (first !== undefined && restsUntil.has(first)) restsUntil.set(first, now() + REST_MS);
      return order;
    },
    answered: (node) => void restsUntil.delete(node),
    failed: (node) => void restsUntil.set(node, now() + REST_MS),
    isSuspect: (node) => restsUntil.has(node),
  };
}
