export interface StreamRefusal {
  readonly code: "RATE_LIMITED" | "UNAVAILABLE";
  readonly message: string;
}

/** Per process, beside 8,192 connections in all; waking them all takes some 10 ms. */
const STREAMS_MAX = 1_000;
/** A page in a few tabs, or a few people behind one address. */
const STREAMS_PER_CLIENT_MAX = 20;

/** Bounds how many streams are open, in all and per client. */
export function createStreamLimit(
  max: number = STREAMS_MAX,
  perClientMax: number = STREAMS_PER_CLIENT_MAX,
) {
  const perClient = new Map<string, Set<symbol>>();
  let taken = 0;
  return {
    /** @returns what releases the stream; calling it again changes nothing */
    take(client: string): (() => void) | StreamRefusal {
      const own = perClient.get(client) ?? new Set();
      if (own.size >= perClientMax) {
        const message = `At most ${perClientMax} streams may be open per client.`;
        return { code: "RATE_LIMITED", message };
      }
      if (taken >= max) return { code: "UNAVAILABLE", message: "Too many streams are open." };
      const stream = Symbol();
      taken += 1;
      perClient.set(client, own.add(stream));
      return () => {
        if (!own.delete(stream)) return;
        taken -= 1;
        if (own.size === 0) perClient.delete(client);
      };
    },
  };
}
