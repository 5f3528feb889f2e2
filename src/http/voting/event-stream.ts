import type { ServerResponse } from "node:http";

/**
 * One stream of server-sent events to one client, which reads as fast as it likes. It keeps
 * nothing for the client: what is sent next is asked for when the client has taken the last
 * piece, so a slow reader costs one piece and what its socket buffers, however much happens.
 */
export type EventStream = ReturnType<typeof openEventStream>;

/** A client that has taken nothing over so many heartbeats is gone, or will never keep up. */
const HEARTBEATS_MISSED_MAX = 2;
const HEARTBEAT = new TextEncoder().encode(":\n\n");

/** Opens a stream; it begins when its body is first read. */
export function openEventStream(given: {
  /** The next piece; undefined when there is none. */
  readonly next: () => Uint8Array | undefined;
  /** Node's reply; undefined in tests without a socket. */
  readonly outgoing: ServerResponse | undefined;
  /** Runs once, when the stream is over. */
  readonly onEnd: () => void;
  readonly heartbeatEveryMs: number;
}) {
  const { next, outgoing, onEnd, heartbeatEveryMs } = given;
  /** Set while the client waits for a piece. */
  let rouse: ((hasNews: boolean) => void) | undefined;
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  /** @returns false when it is time for a heartbeat */
  const rest = async (): Promise<boolean> => {
    let timer: NodeJS.Timeout | undefined;
    const hasNews = await new Promise<boolean>((resolve) => {
      rouse = resolve;
      timer = setTimeout(resolve, heartbeatEveryMs, false).unref();
    });
    clearTimeout(timer);
    rouse = undefined;
    return hasNews;
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      while (!isOver) {
        const piece = next();
        if (piece !== undefined) yield piece;
        else if (!(await rest())) yield HEARTBEAT;
      }
    } finally {
      finish();
    }
  }
  /** Ends it in good order; a client that does not read is cut. */
  const end = (): void => {
    if (isOver) return;
    finish();
    if (rouse === undefined) outgoing?.destroy();
    else rouse(true);
  };
  // A client may have left before there was a stream.
  if (outgoing?.destroyed) setImmediate(end);
  else outgoing?.once("close", end);
  outgoing?.setTimeout(heartbeatEveryMs * HEARTBEATS_MISSED_MAX, () => outgoing.destroy());
  return {
    body: ReadableStream.from(pieces()),
    wake: (): void => rouse?.(true),
    end,
  };
}
