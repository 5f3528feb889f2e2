import type { Day } from "../../actors/day.ts";
import { type ExportConflict, type ExportLost, exportLine } from "../journal/export-format.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { digestOf, isDigestOf } from "./day-book.ts";
import type { ExportSource } from "./export-source.ts";
import type { KnownMatter } from "./report.ts";

/** Messages that the exports set apart from the journal's stars, by topic and sequence number. */
export type KnownMessages = ReadonlyMap<string, ReadonlyMap<number, Apart>>;

interface Apart {
  readonly matter: KnownMatter;
  /** Says what the message must be; null of a lost one. */
  readonly conflict: ExportConflict | null;
}

/**
 * Reads what the exports say of messages that are no star of the journal. They stand behind the
 * header, so no day is read further. A day that cannot be read is reported when its turn comes.
 */
export async function readKnown(
  source: ExportSource,
  days: readonly Day[],
): Promise<KnownMessages> {
  const known = new Map<string, Map<number, Apart>>();
  for (const day of days) {
    for (const line of await exceptionLines(source, day)) {
      const apart = line.kind === "lost" ? ofLost(line, day) : ofConflict(line, day);
      const { topic, sequenceNumber } = apart.matter;
      if (topic === null || sequenceNumber === null) continue;
      const places = known.get(topic) ?? new Map<number, Apart>();
      known.set(topic, places.set(sequenceNumber, apart));
    }
  }
  return known;
}

/** The lines of a day that stand apart from its stars; none where it cannot be read. */
export async function exceptionLines(
  source: ExportSource,
  day: Day,
): Promise<readonly (ExportConflict | ExportLost)[]> {
  const lines: (ExportConflict | ExportLost)[] = [];
  try {
    for await (const text of source.lines(day)) {
      const { data } = exportLine.safeParse(JSON.parse(text));
      if (data?.kind === "conflict" || data?.kind === "lost") lines.push(data);
      else if (data?.kind !== "header") break;
    }
  } catch {
    return lines;
  }
  return lines;
}

function ofLost({ topicId: topic, sequenceNumber }: ExportLost, day: Day): Apart {
  return { matter: { kind: "lost", topic, sequenceNumber, day }, conflict: null };
}

function ofConflict(conflict: ExportConflict, day: Day): Apart {
  const { id: starId, conflictsWith, publication } = conflict;
  const { topicId: topic, sequenceNumber } = publication;
  const matter = { kind: "conflict", topic, sequenceNumber, day, starId, conflictsWith } as const;
  return { matter, conflict };
}

/** Why a message is no star of the journal; undefined where no export says so of these very bytes. */
export function knownMatter(
  known: KnownMessages,
  message: MirrorTopicMessage,
): KnownMatter | undefined {
  const apart = known.get(message.topicId)?.get(message.sequenceNumber);
  if (apart === undefined) return undefined;
  const isSaid = apart.conflict === null || isDigestOf(digestOf(message), apart.conflict);
  return isSaid ? apart.matter : undefined;
}
