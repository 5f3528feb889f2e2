/**
 * How many requests of one client were accepted in the last while, exactly: the instants of
 * accepted requests, of which at most `limit` are kept. A fixed window would let twice the
 * limit through across its edge. Refused requests leave no trace, so waiting always helps.
 */
export interface Verdict {
  readonly accepted: boolean;
  /** Requests that would be accepted now. */
  readonly remaining: number;
  /** Until one more would be accepted than now; 0 when all are free. */
  readonly waitMs: number;
}

export interface WindowSize {
  readonly limit: number;
  readonly windowMs: number;
}

/** Clocks of processes differ by less: an instant further ahead is of before a clock was set back. */
export const AHEAD_MAX_MS = 1_000;

/** ~1 KB each at 100 requests: 10 MB at most. The client idle longest is forgotten first. */
const CLIENTS_MAX = 10_000;

/** Instants of accepted requests, oldest first; those before `first` have left the window. */
interface Accepted {
  instants: number[];
  first: number;
}

/**
 * Makes a window in memory: bounded, and gone with the process. `limit` is the window's own unless
 * given.
 */
export function localWindow(size: WindowSize) {
  const clients = new Map<string, Accepted>();
  const acceptedOf = (client: string, now: number): Accepted =>
    slide(clients.get(client) ?? { instants: [], first: 0 }, now, size);
  return {
    /** Accepts and counts, or refuses. */
    take(client: string, now: number, limit = size.limit): Verdict {
      const accepted = acceptedOf(client, now);
      const isAccepted = accepted.instants.length - accepted.first < limit;
      if (isAccepted) accepted.instants.push(now);
      clients.delete(client);
      clients.set(client, accepted);
      forgetIdlest(clients);
      return verdict(isAccepted, accepted, now, { ...size, limit });
    },
    look(client: string, now: number, limit = size.limit): Verdict {
      const accepted = acceptedOf(client, now);
      const isAccepted = accepted.instants.length - accepted.first < limit;
      return verdict(isAccepted, accepted, now, { ...size, limit });
    },
    /** How many were accepted after one instant and before another. */
    count(client: string, after: number, before: number): number {
      const { instants = [] } = clients.get(client) ?? {};
      return Math.max(0, countBefore(instants, before) - countBefore(instants, after + 1));
    },
    /** Uncounts what `take` accepted last, because someone else refused it. */
    giveBack(client: string): void {
      const accepted = clients.get(client);
      if (accepted && accepted.instants.length > accepted.first) accepted.instants.pop();
    },
  };
}

/** How many come before an instant, by halves: a limit may be a million. Instants are whole. */
function countBefore(instants: readonly number[], at: number): number {
  let [from, to] = [0, instants.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((instants[middle] ?? at) < at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Below this many, what has left the window is not worth moving the rest. */
const MOVE_FROM = 64;

/** Constant work per request on average, however large the limit. */
function slide(accepted: Accepted, now: number, { windowMs }: WindowSize): Accepted {
  while ((accepted.instants.at(-1) ?? now) > now + AHEAD_MAX_MS) accepted.instants.pop();
  let { instants, first } = accepted;
  while (now - (instants[first] ?? now) >= windowMs) first++;
  if (first > MOVE_FROM && first > instants.length / 2) {
    instants = instants.slice(first);
    first = 0;
  }
  return { instants, first: Math.min(first, instants.length) };
}

function verdict(
  accepted: boolean,
  { instants, first }: Accepted,
  now: number,
  { limit, windowMs }: WindowSize,
): Verdict {
  // Where fewer are allowed now than were accepted, as many must leave before one more comes in.
  const oldest = instants[Math.max(first, instants.length - limit)];
  const waitMs = oldest === undefined ? 0 : oldest + windowMs - now;
  return { accepted, remaining: Math.max(0, limit - (instants.length - first)), waitMs };
}

function forgetIdlest(accepted: Map<string, unknown>): void {
  if (accepted.size <= CLIENTS_MAX) return;
  const [idlest] = accepted.keys();
  if (idlest !== undefined) accepted.delete(idlest);
}
