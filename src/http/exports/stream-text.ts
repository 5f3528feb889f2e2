import type { ServerResponse } from "node:http";
import { coerceError } from "../../errors.ts";

export interface StreamOptions {
  readonly isGzip: boolean;
  /** Called once, when the last of it was taken, the reader left, or the source failed. */
  readonly onEnd: (error?: Error) => void;
}

/** A slow client's pace is seen piece by piece: a large piece would look like a standstill. */
const SENT_BYTES_MAX = 16 * 1024;

/**
 * Streams pieces of text (UTF-8) or bytes as the reader takes them: the next is asked for when the
 * last is gone, so a slow reader costs one piece of memory. The first is made before anything is
 * sent, so a source that fails at once throws here; one that fails later breaks the connection
 * off, so that no reader takes a part for the whole.
 */
export async function streamText(
  pieces: AsyncGenerator<string | Uint8Array, unknown>,
  { isGzip, onEnd }: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string | Uint8Array, unknown> | undefined;
  try {
    first = await pieces.next();
  } catch (error) {
    onEnd();
    throw error;
  }
  let isLeft = false;
  let rest: Uint8Array = new Uint8Array();
  const sendNext = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(rest.subarray(0, SENT_BYTES_MAX));
    rest = rest.subarray(SENT_BYTES_MAX);
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (rest.length > 0) return sendNext(controller);
          const { done, value } = first ?? (await pieces.next());
          first = undefined;
          // The reader left while this piece was made: `onEnd` was called, the piece is dropped.
          if (isLeft) return;
          if (!done) {
            rest = typeof value === "string" ? encoder.encode(value) : value;
            return sendNext(controller);
          }
          onEnd();
          controller.close();
        } catch (thrown) {
          if (isLeft) return;
          const error = coerceError(thrown);
          onEnd(error);
          controller.error(error);
        }
      },
      async cancel() {
        isLeft = true;
        onEnd();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return isGzip ? stream.pipeThrough(new CompressionStream("gzip")) : stream;
}

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
