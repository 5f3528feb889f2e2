import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { createStreamLimit } from "../stream-limit.ts";
import { banner, failingBadge } from "./frame.ts";
import { figuresOf, healthOf } from "./health.ts";
import type { Page, PageRequest, PagesDeps } from "./page.ts";
import { TABLES } from "./pages/overview.ts";
import { secured } from "./reply.ts";

/** The numbers change with the processes' reports, every five seconds each. */
const NUMBERS_EVERY_MS = 5_000;
/** A stream looks this often whether it should end: the process drains, the operator is gone. */
const TICK_MS = 1_000;
/** Signing out ends streams within this. */
const SESSION_EVERY_MS = 15_000;
/** A stream ends by itself; the browser asks again, and is checked again. */
const STREAM_MAX_MS = 15 * 60_000;
/** Connections are few on some proxies, and operators are few too: none takes all of them. */
const STREAMS_MAX = 50;
const STREAMS_PER_OPERATOR_MAX = 10;
/** Browsers wait this long before they ask again. */
const RETRY_MS = 3_000;

const streamLimit = createStreamLimit(STREAMS_MAX, STREAMS_PER_OPERATOR_MAX);

/**
 * Sends what `beat` has to send, each second, until the process drains, the browser is gone, the
 * session is over, or the stream is old.
 */
export function stream(
  { context: c, session, isSignedIn }: PageRequest,
  isDraining: () => boolean,
  beat: (out: SSEStreamingApi, elapsedMs: number) => Promise<void>,
): Response {
  // Nothing reads what would be written, so the stream would never end.
  if (c.req.method === "HEAD") return secured(c).body(null, 200);
  const leave = streamLimit.take(session.operator);
  if (typeof leave !== "function") return c.text("Too many live pages are open.", 503);
  return streamSSE(secured(c), async (out) => {
    // Not at the next tick: an operator who changes pages quickly would hold every stream.
    out.onAbort(leave);
    const startedAt = performance.now();
    let lookedAt = startedAt;
    try {
      await out.writeSSE({ event: "hello", data: "", retry: RETRY_MS });
      for (;;) {
        const now = performance.now();
        if (out.aborted || isDraining() || now - startedAt > STREAM_MAX_MS) return;
        if (now - lookedAt > SESSION_EVERY_MS) {
          lookedAt = now;
          if (!(await isSignedIn())) return;
        }
        await beat(out, now - startedAt);
        await out.sleep(TICK_MS);
      }
    } catch {
      // The browser asks again after any error: an open page is no place for its text.
    } finally {
      leave();
    }
  });
}

/** The overview's numbers as they change: figures and health as text, what is wrong as every page has it, the tables, and the charts' points. */
export function liveNumbersPage({ readNumbers, network, clock, isDraining }: PagesDeps): Page {
  return {
    path: "/live/numbers",
    isQuiet: true,
    async show(request) {
      let sentAt = Number.NEGATIVE_INFINITY;
      return stream(request, isDraining, async (out, elapsedMs) => {
        if (elapsedMs - sentAt < NUMBERS_EVERY_MS) return;
        sentAt = elapsedMs;
        const numbers = await readNumbers(clock.now());
        const data = {
          at: numbers.at,
          figures: figuresOf(numbers),
          health: healthOf(numbers, network),
          banner: String(await banner(numbers.verdict)),
          badge: String(await failingBadge(numbers.verdict)),
          tables: await Promise.all(TABLES.map(async (draw) => String(await draw(numbers)))),
          points: numbers.points,
        };
        await out.writeSSE({ event: "numbers", data: JSON.stringify(data) });
      });
    },
  };
}
