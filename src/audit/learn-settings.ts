import { type ExportHeader, exportHeader } from "../journal/export-format.ts";
import type { CollectionKeys } from "../publishing/message.ts";
import { parseStarMessage } from "../publishing/parse-message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import type { ExportSource } from "./export-source.ts";

/** The header of a day's export. @throws Error in one line when the export does not begin with one */
export async function readHeader(source: ExportSource, day: string): Promise<ExportHeader> {
  for await (const line of source.lines(day)) {
    try {
      return exportHeader.parse(JSON.parse(line));
    } catch {
      break;
    }
  }
  throw new Error(`the export of ${day} does not begin with a header`);
}

/** Off the text: an object would put names made of digits first. */
const NAMES = /"holdings":\{"(?<a>[^"\\]+)":\d+,"(?<b>[^"\\]+)":\d+\}/;

/**
 * The names of the two collections inside messages, as the topic's first star has them: the
 * specification's order is collection A, then B. Anything else that stands before it is passed over.
 *
 * @returns undefined when the topic has no star yet
 */
export async function keysOnTopic(
  mirror: Pick<AuditMirror, "topicMessages">,
  assetTopic: string,
): Promise<CollectionKeys | undefined> {
  for (let afterSequence = 0; ; ) {
    const { messages } = await mirror.topicMessages(assetTopic, { afterSequence });
    for (const { bytes, sequenceNumber } of messages) {
      const { a = "", b = "" } = NAMES.exec(Buffer.from(bytes).toString("latin1"))?.groups ?? {};
      if (parseStarMessage(bytes, { a, b })?.type === "asset_vote") return { a, b };
      afterSequence = sequenceNumber;
    }
    if (messages.length === 0) return undefined;
  }
}
