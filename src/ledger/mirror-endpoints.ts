/** One mirror node, reached at `origin`, its interface under `prefix + /api/v1`. */
export interface MirrorEndpoint {
  readonly origin: string;
  readonly prefix: string;
}

/** Which node to ask next; the outcome of every attempt is told back. */
export interface MirrorEndpoints {
  readonly all: readonly MirrorEndpoint[];
  /** The nodes in the order in which one request should try them; never empty. */
  inOrder(): readonly MirrorEndpoint[];
  /** @returns whether this ends a time of failures */
  answered(endpoint: MirrorEndpoint): boolean;
  /** @returns whether this begins a time of failures */
  failed(endpoint: MirrorEndpoint): boolean;
}

/**
 * How long a node that failed is asked last. Longer would leave work on a
 * fallback that may be poorer; shorter would have more stars wait for a dead node.
 */
const REST_MS = 10_000;

/**
 * Keeps the nodes in the order they were given, except that one that failed
 * stands behind the others for a while. It is only put last, never left out, so
 * no request is refused because of an earlier one. When its rest is over, one
 * request tries it, and the rest of the crowd follows only after an answer.
 *
 * @param urls base URLs, with or without a path and a trailing `/api/v1`
 * @param now a monotonic clock in milliseconds
 */
export function mirrorEndpoints(urls: readonly string[], now: () => number): MirrorEndpoints {
  const restsUntil = new Map<MirrorEndpoint, number>();
  const all = urls.map(readEndpoint);
  if (all.length === 0) throw new RangeError("at least one mirror node URL is needed");

  const isResting = (endpoint: MirrorEndpoint): boolean => (restsUntil.get(endpoint) ?? 0) > now();
  const rest = (endpoint: MirrorEndpoint): void => void restsUntil.set(endpoint, now() + REST_MS);

  return {
    all,
    inOrder() {
      const resting = all.filter(isResting);
      const order = [...all.filter((endpoint) => !resting.includes(endpoint)), ...resting];
      const [first] = order;
      if (first !== undefined && restsUntil.has(first)) rest(first);
      return order;
    },
    answered: (endpoint) => restsUntil.delete(endpoint),
    failed(endpoint) {
      const begins = !restsUntil.has(endpoint);
      rest(endpoint);
      return begins;
    },
  };
}

function readEndpoint(text: string): MirrorEndpoint {
  const { origin, pathname } = new URL(text);
  return { origin, prefix: pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "") };
}
