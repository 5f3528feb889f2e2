import { Hono } from "hono";
import type { Metrics } from "../../metrics.ts";
import type { Following, LiveCounters } from "../../voting/live-counters.ts";
import type { LiveEvent } from "../../voting/live-ring.ts";
import type { ClientAddress } from "../middleware/client-address.ts";
import { problem } from "../problem.ts";
import { outgoingOf } from "../reply-header.ts";
import { createStreamLimit } from "../stream-limit.ts";
import { readVotingQuery } from "./bodies.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { operations } from "./operations.ts";

/** Proxies close what is silent for 30 to 60 s. */
const HEARTBEAT_EVERY_MS = 15_000;
/** Events sent at once: some 15 KB. */
const EVENTS_AT_ONCE = 100;
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
 *     id: 2026-11-20.4711-12.9f2c61d0
 *     data: {"type":"token","id":"0.0.700001","totalVotes":9,"day":"2026-11-20"}
 *
 * A client that comes back with the last id gets every counter that changed since. Where that
 * cannot be known (an id that is malformed, too old, or of another journal or an earlier day) an event
 * `reset` comes first: read again what you show. `day` says that a new UTC day is here, and the
 * counters of tokens, collections and projects are at zero.
 */
export function liveRoutes(deps: {
  readonly counters: LiveCounters;
  readonly client: ClientAddress;
  readonly metrics?: Pick<Metrics, "liveStreams">;
  readonly heartbeatEveryMs?: number;
}) {
  const { counters, client, metrics, heartbeatEveryMs = HEARTBEAT_EVERY_MS } = deps;
  const streamLimit = createStreamLimit();
  const streams = new Set<EventStream>();
  metrics?.liveStreams.set(0);
  let isClosed = false;
  const app = new Hono();
  app.get("/live", async (c) => {
    readVotingQuery(c, operations.followLive.query);
    const refuse = (code: "RATE_LIMITED" | "UNAVAILABLE", message: string): Response =>
      problem(c, code, { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
    const release = streamLimit.take(client(c));
    if (typeof release !== "function") return refuse(release.code, release.message);
    let stream: EventStream | undefined;
    const end = (): void => stream?.end();
    const listener = { wake: () => stream?.wake(), end };
    const lastEventId = c.req.header("last-event-id") ?? "";
    const following = await counters.follow(listener, lastEventId).catch((error: unknown) => {
      release();
      throw error;
    });
    const leave = (): void => {
      following.stop();
      release();
      if (stream !== undefined) streams.delete(stream);
      metrics?.liveStreams.set(streams.size);
    };
    if (isClosed) {
      leave();
      return refuse("UNAVAILABLE", "This process is stopping.");
    }
    const next = speaker(following, end);
    stream = openEventStream({ next, outgoing: outgoingOf(c), onEnd: leave, heartbeatEveryMs });
    streams.add(stream);
    metrics?.liveStreams.set(streams.size);
    return c.body(stream.body, 200, HEADERS);
  });
  return {
    app,
    /** Ends every stream at once and opens no other: their clients go to another process. */
    close(): void {
      isClosed = true;
      for (const stream of [...streams]) stream.end();
    },
  };
}

const encoder = new TextEncoder();

/** What a stream says next: first how to come back, then what happens. */
function speaker(following: Following, end: () => void): () => Uint8Array | undefined {
  const { id, newDay, isResumed } = following;
  const retryMs = RETRY_MS.min + Math.floor(Math.random() * (RETRY_MS.max - RETRY_MS.min));
  let opening: string | undefined = `retry: ${retryMs}\nid: ${id}\n\n`;
  if (newDay !== null)
    opening += eventText({ event: "day", id, data: JSON.stringify({ day: newDay }) });
  if (!isResumed) opening += `event: reset\nid: ${id}\ndata: {}\n\n`;
  return () => {
    if (opening !== undefined) {
      const piece = encoder.encode(opening);
      opening = undefined;
      return piece;
    }
    const events = following.take(EVENTS_AT_ONCE);
    if (events === undefined) end();
    return events?.length ? encoder.encode(events.map(eventText).join("")) : undefined;
  };
}

function eventText({ event, id, data }: LiveEvent): string {
  return `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;
}
