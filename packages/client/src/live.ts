import { refusalOf, StarboardError } from "./error.ts";
import type { CallOptions, Send } from "./request.ts";
import type { components } from "./voting-openapi.ts";
import { wait } from "./wait.ts";

/** The stored counter of one item. */
export interface Counter {
  readonly type: components["schemas"]["Star"]["target"]["type"];
  readonly id: string;
  readonly totalVotes: number;
  /** The UTC day it is of. */
  readonly day: string;
}

/** What the stream says; `lastEventId` is what to come back with. */
export type LiveEvent = { readonly lastEventId: string } & (
  | { readonly event: "counter"; readonly data: Counter }
  /** 00:00 UTC: counters of tokens, collections and projects are zero. */
  | { readonly event: "day"; readonly data: { readonly day: string } }
  /** What happened meanwhile is not known: read again what you show. */
  | { readonly event: "reset"; readonly data: object }
);

export interface LiveOptions extends CallOptions {
  /** Goes on behind this event. */
  readonly lastEventId?: string;
  /** Runs when a stream opens. Unless it resumes, read again what you show. */
  readonly onOpen?: (isResumed: boolean) => void;
}

/** Until the stream says otherwise. */
const RETRY_MS = 3_000;
/** The service says something every 15 s: else the connection is dead. */
const SILENCE_MS = 40_000;

/**
 * Follows the counters until the signal aborts or the caller stops; a stream that ends is opened
 * again behind the last event.
 *
 * @throws StarboardError for a refusal that waiting does not cure
 * @throws SyntaxError for what is no stream, before one has opened
 */
export async function* followLive(
  { send, url, isOwn }: { readonly send: Send; readonly url: string; readonly isOwn: boolean },
  { signal, lastEventId = "", onOpen }: LiveOptions = {},
): AsyncGenerator<LiveEvent, void> {
  const position = { id: lastEventId, retryMs: RETRY_MS, isOpening: false, wasOpen: false };
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  try {
    while (!leaving.signal.aborted) {
      let waitMs = 0;
      // Outside: a bad URL or id stays bad.
      const headers = isOwn ? new Request(url).headers : new Headers();
      headers.set("accept", "text/event-stream");
      if (position.id !== "") headers.set("last-event-id", position.id);
      try {
        yield* readStream({ send, url, headers, leaving: leaving.signal, onOpen }, position);
      } catch (error) {
        // Too slow (408) and too many (429) may pass later; a wrong address does not.
        const isOver =
          error instanceof StarboardError
            ? error.status < 500 && ![408, 429].includes(error.status)
            : error instanceof SyntaxError && !position.wasOpen;
        if (position.isOpening || isOver) throw error;
        waitMs = error instanceof StarboardError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      }
      await wait(Math.max(waitMs, position.retryMs), leaving.signal);
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

interface Position {
  id: string;
  retryMs: number;
  /** While `onOpen` runs: what it throws is the caller's, and no connection failed. */
  isOpening: boolean;
  /** Whether a stream has opened. */
  wasOpen: boolean;
}

interface Opening {
  readonly send: Send;
  readonly url: string;
  readonly headers: Headers;
  readonly leaving: AbortSignal;
  readonly onOpen: LiveOptions["onOpen"];
}

/** One connection, from its opening to its end. */
async function* readStream(
  { send, url, headers, leaving, onOpen }: Opening,
  position: Position,
): AsyncGenerator<LiveEvent, void> {
  const cut = new AbortController();
  const end = (): void => cut.abort();
  leaving.addEventListener("abort", end);
  let silence = setTimeout(end, SILENCE_MS);
  try {
    const response = await send(url, { headers, signal: cut.signal });
    if (!response.ok) throw await refusalOf(response);
    const type = response.headers.get("content-type") ?? "no content type";
    if (!/^text\/event-stream\b/i.test(type)) {
      throw new SyntaxError(`${url} answers with ${type}, not with an event stream`);
    }
    position.isOpening = true;
    onOpen?.(position.id !== "");
    position.isOpening = false;
    position.wasOpen = true;
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
      text += decoder.decode(piece.value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        if (leaving.aborted) return;
        const heard = readBlock(block, position);
        if (heard !== undefined) yield heard;
      }
    }
  } finally {
    clearTimeout(silence);
    leaving.removeEventListener("abort", end);
    end();
  }
}

/** A block of `field: value` lines; one without data only moves the position. */
function readBlock(block: string, position: Position): LiveEvent | undefined {
  let [event, data] = ["", ""];
  for (const line of block.split("\n")) {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === "event") event = value;
    if (field === "data") data += value;
    if (field === "id") position.id = value;
    if (field === "retry") position.retryMs = Number(value);
  }
  if (data === "") return undefined;
  return { event, data: JSON.parse(data), lastEventId: position.id } as LiveEvent;
}
