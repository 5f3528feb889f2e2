import { setTimeout as delay } from "node:timers/promises";
import { inTime } from "../in-time.ts";
import type { Logger } from "../log.ts";
import type { QueueBackend } from "../store/queue-connection.ts";
import { openReceiver, openSender, type QueueEnd } from "./queue-backend.ts";

/**
 * Tells publishers that stars were accepted. It is a hint, never the truth: the outbox is
 * the queue, and a sweep finds what a lost wake-up left behind. So nothing here waits,
 * fails or is retried on behalf of a star.
 */
export interface WakeQueue {
  /** Wakes a publisher soon. Costs the caller nothing; never throws. */
  wake(): void;
  /** Calls back at each wake-up, from now on. */
  onWake(handler: () => void): void;
  close(): Promise<void>;
}

const RETRY_EVERY_MS = 1_000;
/** A lost wake-up is found by the sweep anyway. */
const ADD_WITHIN_MS = 2_000;

/** Opens nothing yet: the sending end with the first `wake`, the receiving one with `onWake`. */
export function createWakeQueue(backend: QueueBackend, log: Logger): WakeQueue {
  const closing = new AbortController();
  const ends: Promise<QueueEnd | undefined>[] = [];
  let away = false;
  /** One line per outage, not one per attempt. */
  const onError = (error: unknown): void => {
    if (!away && !closing.signal.aborted) log.warn({ err: error }, "the wake-up queue is away");
    away = true;
  };

  const onAnswer = (): void => {
    away = false;
  };

  const keepTrying = (open: () => Promise<QueueEnd>): Promise<QueueEnd | undefined> => {
    const end = (async () => {
      while (!closing.signal.aborted) {
        try {
          return await open();
        } catch (error) {
          onError(error);
          await pause(RETRY_EVERY_MS, closing.signal);
        }
      }
      return undefined;
    })();
    ends.push(end);
    return end;
  };

  let sender: Promise<QueueEnd | undefined> | undefined;
  let isWanted = false;
  let isSending = false;
  /** At most one on its way; whatever comes meanwhile is one more. */
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    sender ??= keepTrying(() => openSender({ backend, onError }));
    while (isWanted && !closing.signal.aborted) {
      const end = await sender;
      isWanted = false;
      if (end === undefined) break;
      await inTime(end.add(), ADD_WITHIN_MS).then(onAnswer, onError);
    }
    isSending = false;
  };

  return {
    wake() {
      isWanted = true;
      send().catch(onError);
    },
    onWake(handler) {
      const wakeUp = (): void => {
        onAnswer();
        handler();
      };
      keepTrying(() => openReceiver({ backend, onError }, wakeUp)).catch(onError);
    },
    async close() {
      closing.abort();
      const opened = await Promise.all(ends);
      await Promise.all(opened.map((end) => end?.close()));
    },
  };
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}
