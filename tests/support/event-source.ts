/** An event of a stream, as a browser's EventSource would hand it on. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any;
}

/** A stream of server-sent events, read by a small parser of our own. */
export interface EventSource {
  readonly status: number;
  readonly headers: Headers;
  /** Everything heard so far. */
  readonly events: readonly StreamEvent[];
  /** The id to come back with: of the last block, also of one without data. */
  lastId(): string;
  /** Comment lines heard so far. */
  comments(): number;
  /** Resolves when the stream has ended; rejects when it was cut. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream, as `EventSource` does; of a refusal only status and headers are of use. */
export async function openEvents(url: string, lastEventId?: string): Promise<EventSource> {
  const abort = new AbortController();
  const headers = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
  const response = await fetch(url, { headers, signal: abort.signal });
  const heard: StreamEvent[] = [];
  let id = "";
  let comments = 0;
  const block = (lines: readonly string[]): void => {
    let [event, data] = ["message", ""];
    for (const line of lines) {
      const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (field === "") comments += 1;
      if (field === "event") event = value;
      if (field === "data") data += value;
      if (field === "id") id = value;
    }
    if (data !== "") heard.push({ event, id, data: JSON.parse(data) });
  };
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const each of blocks) block(each.split("\n"));
    }
  };
  const ended = response.ok ? read() : Promise.resolve(void (await response.text()));
  ended.catch(() => undefined);
  return {
    status: response.status,
    headers: response.headers,
    events: heard,
    lastId: () => id,
    comments: () => comments,
    ended,
    close: () => abort.abort(),
  };
}
