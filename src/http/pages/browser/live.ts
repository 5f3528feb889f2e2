import { setCounter } from "./counters.ts";

/** A stream that was refused, not lost, does not come back by itself. */
const AGAIN_AFTER_MS = 5_000;

/** What the live stream brings besides counters. */
export interface LiveNews {
  /** What the page shows may be old: read it anew. */
  reread(): void;
}

/**
 * Follows the counters as they change, while the page is seen. A page that comes back, and one
 * whose stream begins, is read anew: between its drawing and the stream something may have
 * happened.
 */
export function followLive({ reread }: LiveNews): void {
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(again);
  };
  const open = (): void => {
    close();
    const stream = new EventSource("/voting/live");
    source = stream;
    let isFirst = true;
    stream.addEventListener("open", () => {
      // A stream that was resumed tells what was missed itself.
      if (isFirst) reread();
      isFirst = false;
    });
    stream.addEventListener("counter", ({ data }) => {
      const { type, id, totalVotes } = JSON.parse(data);
      setCounter(`${type}/${id}`, totalVotes);
    });
    stream.addEventListener("day", reread);
    stream.addEventListener("reset", reread);
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_AFTER_MS);
    });
  };
  const look = (): void => {
    if (document.visibilityState === "hidden") close();
    else if (source === undefined) open();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", look);
  look();
}
