/** A stream's right to be open, or why it has none. */
export type Seat =
  | { readonly kind: "taken"; leave(): void }
  | {
      readonly kind: "refused";
      readonly code: "RATE_LIMITED" | "UNAVAILABLE";
      readonly message: string;
    };

/** Bounds how many streams are open, in all and per client. */
export interface Seats {
  take(client: string): Seat;
  isClosed(): boolean;
  /** Gives no more seats. */
  close(): void;
}

/** Per process, beside 8,192 connections in all; waking them all takes some 10 ms. */
const SEATS_MAX = 1_000;
/** A page in a few tabs, or a few people behind one address. */
const SEATS_PER_CLIENT_MAX = 20;

export function createSeats(
  max: number = SEATS_MAX,
  perClientMax: number = SEATS_PER_CLIENT_MAX,
): Seats {
  const perClient = new Map<string, number>();
  let taken = 0;
  let closed = false;
  return {
    isClosed: () => closed,
    close() {
      closed = true;
    },
    take(client) {
      const own = perClient.get(client) ?? 0;
      if (closed) {
        return { kind: "refused", code: "UNAVAILABLE", message: "This process is stopping." };
      }
      if (own >= perClientMax) {
        const message = `At most ${perClientMax} streams may be open per client.`;
        return { kind: "refused", code: "RATE_LIMITED", message };
      }
      if (taken >= max) {
        return { kind: "refused", code: "UNAVAILABLE", message: "Too many streams are open." };
      }
      taken += 1;
      perClient.set(client, own + 1);
      let isTaken = true;
      return {
        kind: "taken",
        leave() {
          if (!isTaken) return;
          isTaken = false;
          taken -= 1;
          const left = (perClient.get(client) ?? 1) - 1;
          if (left > 0) perClient.set(client, left);
          else perClient.delete(client);
        },
      };
    },
  };
}
