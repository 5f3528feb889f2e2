import { coerceError } from "../../errors.ts";

export interface StreamOptions {
  readonly isGzip: boolean;
  /** Called once, when the last of it was taken, the reader left, or the source failed. */
  readonly onEnd: (error?: Error) => void;
}

/**
 * Streams pieces of text as the reader takes them: the next is asked for when the last is gone,
 * so a slow reader costs one piece of memory. The first is made before anything is sent, so a
 * source that fails at once throws here; one that fails later breaks the connection off, and
 * nobody takes a part for the whole.
 */
export async function streamText(
  pieces: AsyncGenerator<string, unknown>,
  { isGzip, onEnd }: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string, unknown> | undefined;
  try {
    first = await pieces.next();
  } catch (error) {
    onEnd();
    throw error;
  }
  let isLeft = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = first ?? (await pieces.next());
          first = undefined;
          // Left while this piece was made: its end has been told, and nobody takes the piece.
          if (isLeft) return;
          if (!done) return controller.enqueue(encoder.encode(value));
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
