import { createHash } from "node:crypto";
import { coerceError } from "../errors.ts";
import {
  type ExportFooter,
  type ExportHeader,
  type ExportRelease,
  type ExportStar,
  exportLine,
} from "../journal/export-format.ts";
import { FooterCounts } from "../journal/write-export.ts";
import type { ExportSource } from "./export-source.ts";
import { elsewhere, type Mismatch } from "./report.ts";

/** Takes what an export holds, line by line. */
export interface ExportReader {
  header(header: ExportHeader): void;
  star(star: ExportStar): void | Promise<void>;
  release(release: ExportRelease): void;
  broken(mismatch: Mismatch): void;
  /** The day follows another chain than that of the day before, because stars came back. */
  rejoined(): void;
}

/** The chain of day to day, as far as it has been followed. */
export interface ExportChain {
  readonly day: string;
  /** Null after a day that was not final. */
  readonly hash: string | null;
  /** Stars of the day came back after a loss: the next day may follow the chain of before. */
  readonly isRecovered: boolean;
  readonly excluded: readonly string[];
}

/**
 * Reads one day's export: every line of its format, in its order, with the counts and the hash its
 * footer says, and joined to the day before.
 *
 * @param before the day before, when that was read; undefined: not known here
 * @returns what the next day must be joined to
 */
export async function readExport(
  source: ExportSource,
  { day, before }: { readonly day: string; readonly before: ExportChain | undefined },
  reader: ExportReader,
): Promise<ExportChain> {
  const broken = (expected: string | number, found: string | number): void =>
    reader.broken(elsewhere("export", day, { expected, found }));
  const counts = new FooterCounts();
  let [lines, seq] = [0, 0];
  const hash = createHash("sha256");
  const unread = { day, hash: null, isRecovered: false, excluded: [] };
  let header: ExportHeader | undefined;
  let footer: ExportFooter | undefined;
  try {
    for await (const text of source.lines(day)) {
      lines += 1;
      const parsed = exportLine.safeParse(JSON.parse(text));
      if (!parsed.success) {
        const where = parsed.error.issues[0]?.path.join(".") ?? "";
        broken("a line of the format", `line ${lines}: ${where}`);
        hash.update(`${text}\n`);
        continue;
      }
      const line = parsed.data;
      if (line.kind === "footer") {
        if (footer !== undefined) broken("nothing after the footer", line.kind);
        footer = line;
        continue;
      }
      hash.update(`${text}\n`);
      counts.add([line]);
      if (footer !== undefined) broken("nothing after the footer", line.kind);
      if (line.kind === "header") {
        if (header !== undefined) broken("one header", "another one");
        if (line.final !== (line.previous !== null))
          broken("final exactly where it follows a day", `final ${line.final}`);
        header = line;
        reader.header(line);
      } else if (line.kind === "star") {
        if (line.seq <= seq) broken(`seq above ${seq}`, line.seq);
        seq = line.seq;
        await reader.star(line);
      } else if (line.kind === "release") reader.release(line);
      if (header === undefined) broken("a header first", line.kind);
    }
  } catch (error) {
    broken("a readable export", coerceError(error).message);
    return unread;
  }
  if (header === undefined || footer === undefined) {
    broken("a header and a footer", "an export cut short");
    return unread;
  }
  const sha256 = hash.digest("hex");
  for (const [expected, found] of [
    ...endsOf(day, { header, footer, counted: counts.footer({ ...header, day }, sha256) }),
    ...joint(header, before, reader),
  ]) {
    broken(expected, found);
  }
  const { excludedWallets: excluded, recovered } = header;
  return { day, hash: footer.chain, isRecovered: recovered === true, excluded };
}

type Difference = readonly [expected: string | number, found: string | number];

/** What the header and the footer say, against what stands between them. */
function endsOf(
  day: string,
  given: { header: ExportHeader; footer: ExportFooter; counted: ExportFooter },
): readonly Difference[] {
  const { header, footer, counted } = given;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["header.day", day, header.day],
    ...FOOTER_FIELDS.map((field) => [`footer.${field}`, counted[field], footer[field]] as const),
    ["footer.sequences", JSON.stringify(counted.sequences), JSON.stringify(footer.sequences)],
    ["unpublished stars of a final day", 0, footer.final ? footer.unpublished : 0],
  ];
  return pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([name, expected, found]) => [`${name} ${expected}`, String(found)] as const);
}

const FOOTER_FIELDS = [
  ...(["day", "final", "stars", "weight", "releases", "unpublished"] as const),
  ...(["sha256", "chain"] as const),
];

function joint(
  header: ExportHeader,
  before: ExportChain | undefined,
  reader: Pick<ExportReader, "rejoined">,
): readonly Difference[] {
  const expected = before?.hash ?? null;
  if (expected === null || header.previous === null || header.previous === expected) return [];
  if (before?.isRecovered === true || header.recovered === true) {
    reader.rejoined();
    return [];
  }
  return [[`header.previous ${expected}`, header.previous]];
}
