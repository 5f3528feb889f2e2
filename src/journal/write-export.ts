import { createHash } from "node:crypto";
import { compareEntityIds } from "../ledger/entity-id.ts";
import type { Sql } from "../store/postgres.ts";
import {
  chainHash,
  type ExportFooter,
  type ExportHeader,
  type ExportLine,
  type ExportSequences,
  type ExportStar,
  lineText,
} from "./export-format.ts";
import { conflictsOfDay, lossesOfDay, releasesOfDay, starsOfDay } from "./read-export.ts";

/** An export as it was written to its end. */
export interface WrittenExport {
  readonly footer: ExportFooter;
  /** Of the whole, footer included. */
  readonly bytes: number;
}

/** The journal no longer says what it said when the day became final. */
export class ExportDiffers extends Error {
  override readonly name = "ExportDiffers";
}

/**
 * Writes a day's export, some hundred lines at a time: memory holds no more, however long the
 * day was. The same journal and header give the same bytes. The header comes with the first
 * stars, so that an outage shows before anything is said.
 *
 * @param expected the hash that a final day must have; the footer is written only if it does, so
 *   no reader takes an export of something else for whole
 * @throws ExportDiffers instead of writing another footer than expected
 */
export async function* writeExport(
  sql: Sql,
  header: ExportHeader,
  expected?: string,
): AsyncGenerator<string, WrittenExport> {
  const hash = createHash("sha256");
  const counts = new FooterCounts();
  let bytes = 0;
  const written = (text: string): string => {
    hash.update(text);
    bytes += Buffer.byteLength(text);
    return text;
  };
  let ahead = lineText(header);
  for (const read of [conflictsOfDay, lossesOfDay, starsOfDay, releasesOfDay]) {
    const pages: AsyncIterable<readonly ExportLine[]> = read(sql, header.day);
    for await (const lines of pages) {
      counts.add(lines);
      yield written(ahead + lines.map(lineText).join(""));
      ahead = "";
    }
  }
  const rest = written(ahead);
  const sha256 = hash.digest("hex");
  if (expected !== undefined && sha256 !== expected) {
    throw new ExportDiffers(`the export of ${header.day} is ${sha256}, once it was ${expected}`);
  }
  const footer = counts.footer(header, sha256);
  const text = lineText(footer);
  bytes += Buffer.byteLength(text);
  yield rest + text;
  return { footer, bytes };
}

/**
 * Writes an export nowhere: for its hash and counts.
 *
 * @param given.expected as with `writeExport`
 * @returns null when it is to stop, and where the journal says something else than expected
 */
export async function hashExport(
  sql: Sql,
  header: ExportHeader,
  given: { readonly expected?: string; readonly stop?: AbortSignal | undefined } = {},
): Promise<WrittenExport | null> {
  const text = writeExport(sql, header, given.expected);
  try {
    while (!given.stop?.aborted) {
      const { done, value } = await text.next();
      if (done) return value;
    }
  } catch (error) {
    if (!(error instanceof ExportDiffers)) throw error;
  }
  return null;
}

/** Counts what an export tells, line by line, for its footer. */
export class FooterCounts {
  readonly #counts = { stars: 0, weight: 0, releases: 0, unpublished: 0 };
  readonly #sequences = new Map<string, ExportSequences>();

  add(lines: readonly ExportLine[]): void {
    for (const line of lines) {
      if (line.kind === "release") this.#counts.releases += 1;
      else if (line.kind === "star") this.#addStar(line);
    }
  }

  #addStar({ weight, publication }: ExportStar): void {
    this.#counts.stars += 1;
    this.#counts.weight += weight;
    const { state, topicId, sequenceNumber } = publication;
    if (state !== "published" || topicId === null || sequenceNumber === null) {
      this.#counts.unpublished += 1;
      return;
    }
    const known = this.#sequences.get(topicId);
    this.#sequences.set(topicId, {
      topicId,
      messages: (known?.messages ?? 0) + 1,
      first: Math.min(known?.first ?? sequenceNumber, sequenceNumber),
      last: Math.max(known?.last ?? sequenceNumber, sequenceNumber),
    });
  }

  /** Keys in the order of the format. */
  footer({ day, final, previous }: ExportHeader, sha256: string): ExportFooter {
    const sequences = [...this.#sequences.values()].sort((one, other) =>
      compareEntityIds(one.topicId, other.topicId),
    );
    const chain = final && previous !== null ? chainHash(previous, sha256) : null;
    return { kind: "footer", day, final, ...this.#counts, sequences, sha256, chain };
  }
}
