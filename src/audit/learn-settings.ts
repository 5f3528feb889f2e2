import { z } from "zod";
import { type ExportHeader, exportHeader } from "../journal/export-format.ts";
import type { CollectionKeys } from "../publishing/message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import type { ExportSource } from "./export-source.ts";

/** The header of a day's export. @throws Error in one line when the export does not begin with one */
export async function readHeader(source: ExportSource, day: string): Promise<ExportHeader> {
  for await (const line of source.lines(day)) {
    const header = exportHeader.safeParse(parseJson(line));
    if (header.success) return header.data;
    break;
  }
  throw new Error(`the export of ${day} does not begin with a header`);
}

const firstMessage = z.object({ holdings: z.record(z.string(), z.int()) });

/**
 * The names of the two collections inside messages, as the topic's first message has them: the
 * specification's order is collection A, then B.
 *
 * @returns undefined when the topic has no such message yet
 */
export async function keysOnTopic(
  mirror: Pick<AuditMirror, "topicMessages">,
  assetTopic: string,
): Promise<CollectionKeys | undefined> {
  const { messages } = await mirror.topicMessages(assetTopic, {});
  for (const { bytes } of messages) {
    const [a, b, ...others] = namesIn(Buffer.from(bytes).toString("latin1"));
    if (a !== undefined && b !== undefined && others.length === 0) return { a, b };
  }
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Read from the text: an object would put names made of digits first. */
function namesIn(text: string): readonly string[] {
  try {
    firstMessage.parse(JSON.parse(text));
  } catch {
    return [];
  }
  const inside = /"holdings":\{(?<members>[^}]*)\}/.exec(text)?.groups?.members ?? "";
  return [...inside.matchAll(/"(?<name>[^"\\]+)":/g)].map(({ groups }) => groups?.name ?? "");
}
