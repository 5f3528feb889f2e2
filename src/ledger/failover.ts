/**
 * How long a node that failed is asked last. Longer would keep work on a worse node; shorter would
 * make more stars wait for a dead one.
 */
const REST_MS = 10_000;

/**
 * The order in which nodes of one kind are asked; every outcome is reported back. It keeps them in the
 * order given, except that one that failed stands behind the others for a while. When its rest is over
 * one call tries it, and the others follow after an answer.
 *
 * @param now a monotonic clock in milliseconds
 */
export function createFailover<Node>(now: () => number) {
  const restsUntil = new Map<Node, number>();
  const isResting = (node: Node): boolean => (restsUntil.get(node) ?? 0) > now();
  const rest = (node: Node): void => void restsUntil.set(node, now() + REST_MS);

  return {
    /** Those to prefer first; none is ever left out, so an earlier failure refuses nothing. */
    inOrder(nodes: readonly Node[]): readonly Node[] {
      const resting = nodes.filter(isResting);
      const order = [...nodes.filter((node) => !resting.includes(node)), ...resting];
      const [first] = order;
      if (first !== undefined && restsUntil.has(first)) rest(first);
      return order;
    },
    /** @returns whether this ends a time of failures */
    answered: (node: Node): boolean => restsUntil.delete(node),
    /** @returns whether this starts a time of failures */
    failed(node: Node): boolean {
      const starts = !restsUntil.has(node);
      rest(node);
      return starts;
    },
    /** Whether its last call failed, so that its connection may be a dead one. */
    isFailing: (node: Node): boolean => restsUntil.has(node),
  };
}

/**
 * Spreads calls evenly: each list starts one node further than the list before it.
 *
 * @returns gives the nodes in this call's order
 */
export function roundRobin(): <Node>(nodes: readonly Node[]) => readonly Node[] {
  let turn = 0;
  return (nodes) => {
    const start = nodes.length === 0 ? 0 : turn++ % nodes.length;
    return [...nodes.slice(start), ...nodes.slice(0, start)];
  };
}
