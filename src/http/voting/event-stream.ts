/**
 * One stream of server-sent events to one client, which reads as fast as it likes. It keeps
 * nothing for the client: what is sent next is asked for when the client has taken the last
 * piece, so a slow reader costs one piece and whatever its socket buffers, however much happens.
 */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** There may be something to send. */
  wake(): void;
  /** Ends it in good order; a client that does not read is cut. */
  end(): void;
}

export interface EventStreamOptions {
  /** The next piece; undefined when there is none. */
  readonly next: () => Uint8Array | undefined;
  /** Ends the connection whatever it is doing. */
  readonly cut: () => void;
  /** Runs once, when nobody reads any more. */
  readonly onEnd: () => void;
  readonly heartbeatEveryMs?: number;
}

/** Proxies close what is silent for 30 to 60 s. */
const HEARTBEAT_EVERY_MS = 15_000;
/** A client that has taken nothing over so many heartbeats is gone, or will never keep up. */
const HEARTBEATS_MISSED_MAX = 2;
const HEARTBEAT = new TextEncoder().encode(":\n\n");

export function openEventStream(options: EventStreamOptions): EventStream {
  const { next, cut, onEnd, heartbeatEveryMs = HEARTBEAT_EVERY_MS } = options;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Set while the client's side waits for a piece. */
  let isHungry = false;
  let missed = 0;
  let isOver = false;

  const send = (piece: Uint8Array | undefined): void => {
    if (!isHungry || isOver || piece === undefined) return;
    isHungry = false;
    missed = 0;
    controller?.enqueue(piece);
  };
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    onEnd();
  };
  const end = (): void => {
    if (isOver) return;
    finish();
    if (isHungry) controller?.close();
    else cut();
  };
  const heartbeat = setInterval(() => {
    if (isHungry) return send(HEARTBEAT);
    missed += 1;
    if (missed >= HEARTBEATS_MISSED_MAX) end();
  }, heartbeatEveryMs).unref();
  const body = new ReadableStream<Uint8Array>(
    {
      start(its) {
        controller = its;
      },
      pull() {
        isHungry = true;
        send(next());
      },
      cancel: finish,
    },
    // Nothing is made ahead of the client's wish.
    { highWaterMark: 0 },
  );
  return {
    body,
    end,
    wake() {
      if (isHungry && !isOver) send(next());
    },
  };
}
