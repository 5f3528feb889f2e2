import { setCounter } from "./counters.ts";
import { hasSlept } from "./page-clock.ts";
import { service } from "./service.ts";

/** After a refusal that the client does not wait out. */
const AGAIN_AFTER_MS = 5_000;

/** What the live stream brings besides counters. */
export interface LiveNews {
  /** What the page shows may be old: read it again. */
  reread(): void;
}

/**
 * Follows the counters as they change, while the page is seen. A page that comes back, and one
 * whose stream begins, is read again: between its drawing and the stream something may have
 * happened.
 */
export function followLive(news: LiveNews): void {
  let leaving: AbortController | undefined;
  const close = (): void => {
    leaving?.abort();
    leaving = undefined;
  };
  const look = (): void => {
    if (document.visibilityState === "hidden") close();
    else if (leaving === undefined) {
      leaving = new AbortController();
      void follow(news, leaving.signal);
    }
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", look);
  look();
}

async function follow({ reread }: LiveNews, signal: AbortSignal): Promise<void> {
  // A resumed stream sends what was missed, but not the time.
  const onOpen = (isResumed: boolean): void => {
    if (hasSlept() || !isResumed) reread();
  };
  while (!signal.aborted) {
    try {
      for await (const { event, data } of service.live({ signal, onOpen })) {
        if (event === "counter") setCounter(`${data.type}/${data.id}`, data.totalVotes);
        else reread();
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    }
  }
}
