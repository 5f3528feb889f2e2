import type { Visitor } from "./browser-session.ts";

/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads a stream until `isEnough`, then hangs up. */
export async function readStream(
  url: string,
  operator: Pick<Visitor, "cookie">,
  isEnough: (events: readonly StreamEvent[]) => boolean,
  headers: Record<string, string> = {},
): Promise<readonly StreamEvent[]> {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: { cookie: operator.cookie, ...headers },
    signal: controller.signal,
  });
  if (response.status !== 200) throw new Error(`${response.status}`);
  const events: StreamEvent[] = [];
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      events.push(...parts.map(parse));
      if (isEnough(events)) break;
    }
  } finally {
    controller.abort();
  }
  return events;
}

function parse(part: string): StreamEvent {
  const field = (name: string): string | undefined =>
    part
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return { event: field("event") ?? "", id: field("id"), data: field("data") ?? "" };
}
