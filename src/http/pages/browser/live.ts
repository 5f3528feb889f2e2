import { setCounter } from "./counters.ts";
import { reread } from "./reread.ts";
import { service } from "./service.ts";

/** After a refusal that the client does not wait out. */
const AGAIN_AFTER_MS = 5_000;

/**
 * Follows the counters as they change, while the page is seen. A page that comes back, and one
 * whose stream begins, is read again: between its drawing and the stream something may have
 * happened.
 */
export function followLive(): void {
  let leaving: AbortController | undefined;
  const close = (): void => {
    leaving?.abort();
    leaving = undefined;
  };
  const look = (): void => {
    if (document.visibilityState === "hidden") close();
    else if (leaving === undefined) {
      leaving = new AbortController();
      void follow(leaving.signal);
    }
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", look);
  look();
}

async function follow(signal: AbortSignal): Promise<void> {
  // A resumed stream sends what was missed.
  const onOpen = (isResumed: boolean): void => {
    if (!isResumed) void reread();
  };
  while (!signal.aborted) {
    try {
      for await (const { event, data } of service.live({ signal, onOpen })) {
        if (event === "counter") setCounter(`${data.type}/${data.id}`, data.totalVotes, data.day);
        else void reread();
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    }
  }
}
