import { z } from "zod";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { FIRST_RUNNING_HASH, framingOf, linkOf } from "../ledger/running-hash.ts";

/** What a message shows by itself, without the database. */
export interface Inspected {
  readonly malformed: boolean;
  /** Its running hash does not follow from the one before. */
  readonly unchained: boolean;
  /** The star's instant that it names, epoch ms; null where it names none. */
  readonly saidAt: number | null;
}

/** What every star's message has; our own messages are compared with the outbox byte for byte. */
const anyStar = z.looseObject({
  type: z.enum(["event_vote", "asset_vote"]),
  version: z.int(),
  wallet: z.string(),
  timestamp: z.int().nonnegative(),
});

/**
 * Looks at messages that follow each other on one topic.
 *
 * @param previous the running hash before the first of them, base64; null when it is unknown,
 *   and then the first link is not checked. Ignored before a topic's first message.
 */
export function inspectMessages(
  messages: readonly MirrorTopicMessage[],
  previous: string | null,
): readonly Inspected[] {
  let before = previous === null ? null : Buffer.from(previous, "base64");
  return messages.map((message) => {
    const from = message.sequenceNumber === 1 ? FIRST_RUNNING_HASH : before;
    const unchained =
      from !== null && framingOf(linkOf(message, from), message.runningHash) === undefined;
    before = Buffer.from(message.runningHash, "base64");
    const star = readStar(message.bytes);
    return { malformed: star === undefined, unchained, saidAt: star?.timestamp ?? null };
  });
}

function readStar(bytes: Buffer): z.output<typeof anyStar> | undefined {
  try {
    return anyStar.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined;
  }
}
