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
 * What is read of an export, by `kind`: its lines; `export`, what is wrong with it; `rejoined` where the
 * day follows another chain than that of the day before, because stars came back; at last `chain`, what
 * the next day must be joined to.
 */
export type ExportPart =
  | ExportHeader
  | ExportStar
  | ExportRelease
  | (Mismatch & { readonly kind: "export" })
  | { readonly kind: "rejoined" }
  | ({ readonly kind: "chain" } & ExportChain);

/**
 * Reads one day's export: every line of its format, in its order, with the counts and the hash its
 * footer says, and joined to the day before.
 *
 * @param before the day before; undefined where it was not read
 */
export async function* readExport(
  source: ExportSource,
  day: string,
  before: ExportChain | undefined,
): AsyncGenerator<ExportPart, void, undefined> {
  const broken = (expected: string | number, found: string | number) =>
    elsewhere("export", day, { expected, found });
  const counts = new FooterCounts();
  let [lines, seq] = [0, 0];
  const hash = createHash("sha256");
  const unread = { kind: "chain", day, hash: null, isRecovered: false, excluded: [] } as const;
  let header: ExportHeader | undefined;
  let footer: ExportFooter | undefined;
  try {
    for await (const text of source.lines(day)) {
      lines += 1;
      const parsed = exportLine.safeParse(JSON.parse(text));
      if (!parsed.success) {
        const where = parsed.error.issues[0]?.path.join(".") ?? "";
        yield broken("a line of the format", `line ${lines}: ${where}`);
        hash.update(`${text}\n`);
        continue;
      }
      const line = parsed.data;
      if (footer !== undefined) yield broken("nothing after the footer", line.kind);
      if (line.kind === "footer") {
        footer = line;
        continue;
      }
      hash.update(`${text}\n`);
      counts.add([line]);
      if (line.kind === "header") {
        if (header !== undefined) yield broken("one header", "another one");
        if (line.final !== (line.previous !== null))
          yield broken("final exactly where it follows a day", `final ${line.final}`);
        header = line;
      } else if (line.kind === "star") {
        if (line.seq <= seq) yield broken(`seq above ${seq}`, line.seq);
        seq = line.seq;
      }
      if (line.kind !== "conflict" && line.kind !== "lost") yield line;
      if (header === undefined) yield broken("a header first", line.kind);
    }
  } catch (error) {
    yield broken("a readable export", coerceError(error).message);
    yield unread;
    return;
  }
  if (header === undefined || footer === undefined) {
    yield broken("a header and a footer", "an export cut short");
    yield unread;
    return;
  }
  const sha256 = hash.digest("hex");
  const counted = counts.footer({ ...header, day }, sha256);
  for (const [expected, found] of endsOf(day, { header, footer, counted })) {
    yield broken(expected, found);
  }
  const { excludedWallets: excluded, previous, recovered } = header;
  const isRecovered = recovered === true;
  const expected = before?.hash ?? null;
  if (expected !== null && previous !== null && previous !== expected) {
    if (before?.isRecovered || isRecovered) yield { kind: "rejoined" };
    else yield broken(`header.previous ${expected}`, previous);
  }
  yield { kind: "chain", day, hash: footer.chain, isRecovered, excluded };
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
