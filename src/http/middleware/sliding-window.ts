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

/** Counts clients within this process. */
export interface LocalWindow {
  /** Accepts and counts, or refuses. */
  take(client: string, now: number): Verdict;
  /** Says how it stands, counting nothing. */
  peek(client: string, now: number): Verdict;
  /** Uncounts what `take` accepted last, because someone else refused it. */
  giveBack(client: string): void;
}

/** ~1 KB each at 100 requests: 10 MB at most. The client idle longest is forgotten first. */
const CLIENTS_MAX = 10_000;

/** Makes a window in memory: bounded, and gone with the process. */
export function localWindow(size: WindowSize): LocalWindow {
  const accepted = new Map<string, number[]>();
  const current = (client: string, now: number): number[] => {
    const instants = accepted.get(client) ?? [];
    const live = instants.findIndex((at) => now - at < size.windowMs);
    instants.splice(0, live === -1 ? instants.length : live);
    return instants;
  };
  return {
    take(client, now) {
      const instants = current(client, now);
      const isAccepted = instants.length < size.limit;
      if (isAccepted) instants.push(Math.max(now, instants.at(-1) ?? now));
      accepted.delete(client);
      accepted.set(client, instants);
      forgetIdlest(accepted);
      return verdict(isAccepted, instants, now, size);
    },
    peek: (client, now) => verdict(false, current(client, now), now, size),
    giveBack: (client) => void accepted.get(client)?.pop(),
  };
}

function verdict(
  accepted: boolean,
  instants: readonly number[],
  now: number,
  { limit, windowMs }: WindowSize,
): Verdict {
  const oldest = instants[0];
  const waitMs = oldest === undefined ? 0 : oldest + windowMs - now;
  return { accepted, remaining: Math.max(0, limit - instants.length), waitMs };
}

function forgetIdlest(accepted: Map<string, unknown>): void {
  if (accepted.size <= CLIENTS_MAX) return;
  const [idlest] = accepted.keys();
  if (idlest !== undefined) accepted.delete(idlest);
}
