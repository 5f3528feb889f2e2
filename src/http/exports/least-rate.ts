import type { ServerResponse } from "node:http";

/** How much a client must take of a reply. */
export interface LeastRate {
  readonly bytes: number;
  readonly withinMs: number;
}

/** 64 KiB in 10 s: the slowest line that is worth a place (contract, section 7). */
const LEAST: LeastRate = { bytes: 64 * 1024, withinMs: 10_000 };
const LOOKS_PER_WINDOW = 10;

/**
 * Hangs up on a client that takes a reply slower than this. Only time counts in which something
 * waits for the client; while our side has nothing to send, the client is not slow.
 */
export function cutWhenSlow(outgoing: ServerResponse, { bytes, withinMs } = LEAST): void {
  const { socket } = outgoing;
  // A client may have left before there was a stream.
  if (outgoing.destroyed || socket === null) return;
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  const lookEveryMs = withinMs / LOOKS_PER_WINDOW;
  let before = taken();
  let waitedMs = 0;
  const timer = setInterval(() => {
    if (outgoing.writableLength === 0) return;
    waitedMs += lookEveryMs;
    if (waitedMs < withinMs) return;
    if (taken() - before < bytes) outgoing.destroy();
    before = taken();
    waitedMs = 0;
  }, lookEveryMs).unref();
  outgoing.once("close", () => clearInterval(timer));
}
