import { type Context, Hono } from "hono";
import type { Metrics } from "../../metrics.ts";
import type { JournalPlace } from "../../store/journal-horizon.ts";
import type { Following, LiveCounters, Taken } from "../../voting/live-counters.ts";
import type { LiveCounter } from "../../voting/live-history.ts";
import type { ClientAddress } from "../middleware/client-address.ts";
import { problem } from "../problem.ts";
import { outgoingOf } from "../reply-header.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { createSeats } from "./stream-seats.ts";

export interface LiveDeps {
  readonly counters: LiveCounters;
  readonly client: ClientAddress;
  readonly metrics?: Pick<Metrics, "liveStreams">;
  readonly heartbeatEveryMs?: number;
}

export interface LiveRoutes {
  readonly app: Hono;
  /** Ends every stream at once and opens no other: their clients go to another process. */
  close(): void;
}

/** Counters sent at once: some 15 KB. */
const COUNTERS_AT_ONCE = 100;
/** Clients come back spread over these, so that a restart is no stampede. */
const RETRY_MS = { min: 1_000, max: 5_000 };
const RETRY_AFTER_SECONDS = 5;

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
} as const;

/**
 * `GET /live`: counters as they change, as server-sent events (contract, section 3).
 *
 *     event: counter
 *     id: 4711-12
 *     data: {"type":"token","id":"0.0.700001","totalVotes":9,"day":"2026-11-20"}
 *
 * Whoever comes back with the last id gets every counter that changed since. Where that cannot
 * be told (an unknown id, or more than 100,000 stars ago) an event `reset` comes first: read
 * anew whatever you show.
 */
export function liveRoutes(deps: LiveDeps): LiveRoutes {
  const seats = createSeats();
  const streams = new Set<EventStream>();
  const write = createPieceWriter();
  const app = new Hono();
  app.get("/live", async (c) => {
    // Hono answers HEAD by this too, and would leave a stream open that nobody reads.
    if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
    const seat = seats.take(deps.client(c));
    if (seat.kind === "refused") {
      const { code, message } = seat;
      return problem(c, code, { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const onEnd = (stream: EventStream): void => {
      seat.leave();
      streams.delete(stream);
      deps.metrics?.liveStreams.set(streams.size);
    };
    try {
      const stream = await openStream(c, { ...deps, write }, onEnd);
      streams.add(stream);
      deps.metrics?.liveStreams.set(streams.size);
      if (seats.isClosed()) stream.end();
      return c.body(stream.body, 200, HEADERS);
    } catch (error) {
      seat.leave();
      throw error;
    }
  });
  return {
    app,
    close() {
      seats.close();
      for (const stream of [...streams]) stream.end();
    },
  };
}

async function openStream(
  c: Context,
  { counters, heartbeatEveryMs, write }: LiveDeps & { readonly write: PieceWriter },
  onEnd: (stream: EventStream) => void,
): Promise<EventStream> {
  const given = c.req.header("last-event-id") ?? "";
  const since = parsePlace(given);
  let stream: EventStream | undefined;
  const listener = { wake: () => stream?.wake(), cut: () => stream?.end() };
  const following = await counters.follow(listener, since);
  const isReset = !following.isResumed || (given !== "" && since === null);
  const opened = openEventStream({
    next: speaker(following, isReset, write),
    cut: () => outgoingOf(c)?.destroy(),
    onEnd() {
      following.end();
      onEnd(opened);
    },
    ...(heartbeatEveryMs === undefined ? {} : { heartbeatEveryMs }),
  });
  stream = opened;
  return opened;
}

/** What a stream says next: first how to come back, then counters as they change. */
function speaker(
  following: Following,
  isReset: boolean,
  write: PieceWriter,
): () => Uint8Array | undefined {
  let reached = following.place;
  const retryMs = RETRY_MS.min + Math.floor(Math.random() * (RETRY_MS.max - RETRY_MS.min));
  const reset = isReset ? "event: reset\ndata: {}\n" : "";
  let opening: string | undefined = `retry: ${retryMs}\n${reset}${idLine(reached)}\n`;
  return () => {
    if (opening !== undefined) {
      const piece = encoder.encode(opening);
      opening = undefined;
      return piece;
    }
    const taken = following.take(COUNTERS_AT_ONCE);
    if (taken.counters.length === 0) return undefined;
    const piece = write(taken, reached);
    reached = taken.place ?? reached;
    return piece;
  };
}

type PieceWriter = (taken: Taken, reached: JournalPlace) => Uint8Array;

const encoder = new TextEncoder();

/** Writes pieces. Most streams take the same one at the same time: it is written once. */
function createPieceWriter(): PieceWriter {
  let last: { readonly key: readonly unknown[]; readonly piece: Uint8Array } | undefined;
  return ({ counters, place, isWhole }, reached) => {
    const before = idLine(reached);
    // Only with the last of them does the client know everything up to here.
    const after = place === null ? before : idLine(place);
    const key = [counters[0], counters.at(-1), counters.length, before, after];
    if (isWhole && last?.key.every((part, index) => part === key[index])) return last.piece;
    const events = counters.map((counter, index) =>
      eventOf(counter, index === counters.length - 1 ? after : before),
    );
    const piece = encoder.encode(events.join(""));
    if (isWhole) last = { key, piece };
    return piece;
  };
}

function eventOf({ type, id, totalVotes, day }: LiveCounter, itsId: string): string {
  return `event: counter\n${itsId}data: ${JSON.stringify({ type, id, totalVotes, day })}\n\n`;
}

function idLine({ star, release }: JournalPlace): string {
  return `id: ${star}-${release}\n`;
}

/** The place an id of ours names; null when it is none. */
function parsePlace(id: string): JournalPlace | null {
  const [, star, release] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return star === undefined || release === undefined
    ? null
    : { star: Number(star), release: Number(release) };
}
