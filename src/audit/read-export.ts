import { createHash } from "node:crypto";
import { type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { coerceError } from "../errors.ts";
import {
  type ExportFooter,
  type ExportHeader,
  type ExportLine,
  type ExportRelease,
  type ExportStar,
  exportLine,
  GENESIS,
  lineText,
} from "../journal/export-format.ts";
import { FooterCounts } from "../journal/write-export.ts";
import { type ExportSource, ProvisionalChanged, readHeader } from "./export-source.ts";
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
 * What is read of an export, by `kind`: its lines; `export`, what is wrong with it; `changing` where a day
 * that is not final changed between two downloads; `rejoined` where the day follows another chain than
 * that of the day before, because stars came back; at last `chain`, what the next day must be joined to.
 */
export type ExportPart =
  | ExportHeader
  | ExportStar
  | ExportRelease
  | (Mismatch & { readonly kind: "export" })
  | { readonly kind: "changing"; readonly why: string }
  | { readonly kind: "rejoined" }
  | ({ readonly kind: "chain" } & ExportChain);

/**
 * Reads one day's export: every line of its format, in its order, with the counts and the hash its
 * footer says, joined to the day before, and as the list of days says.
 *
 * @param before the day before; undefined where it was not read
 */
export async function* readExport(
  source: ExportSource,
  day: string,
  before: ExportChain | undefined,
): AsyncGenerator<ExportPart, void, undefined> {
  const broken = brokenOn(day);
  const unread = { kind: "chain", day, hash: null, isRecovered: false, excluded: [] } as const;
  const lines = new ExportLines(day);
  try {
    for await (const text of source.lines(day)) yield* lines.take(text);
  } catch (error) {
    const why = coerceError(error).message;
    if (error instanceof ProvisionalChanged) yield { kind: "changing", why };
    else yield broken("a readable export", why);
    yield unread;
    return;
  }
  const { header, footer } = lines;
  if (header === undefined || footer === undefined) {
    yield broken("a header and a footer", "an export cut short");
    yield unread;
    return;
  }
  const counted = lines.counted(header);
  const given = { header, footer, counted, bytes: lines.bytes };
  for (const [expected, found] of endsOf(day, given)) yield broken(expected, found);
  const otherwise = listOf(source, day, given);
  const { excludedWallets: excluded, previous, recovered } = header;
  const expected = before?.hash ?? null;
  const left = (before?.isRecovered === true && before.hash) || undefined;
  const isAnother = otherwise.length > 0 && (await source.isRecovered?.(day, left)) === true;
  if (isAnother) yield { kind: "rejoined" };
  else for (const [named, found] of otherwise) yield broken(named, found);
  const isRecovered = recovered === true || isAnother;
  if (before !== undefined && expected !== null && previous !== null && previous !== expected) {
    if (before.isRecovered || isRecovered || (await cameBack(source, before.day, previous)))
      yield { kind: "rejoined" };
    else yield broken(`header.previous ${expected}`, previous);
  }
  yield { kind: "chain", day, hash: footer.chain, isRecovered, excluded };
}

/** Whether stars came back to a day since an earlier audit judged it, and gave it this chain. */
async function cameBack(source: ExportSource, day: Day, given: string): Promise<boolean> {
  const { chain } = source.listed(day) ?? { chain: given };
  if (chain !== given) return false;
  return (await readHeader(source, day).catch(() => undefined))?.recovered === true;
}

function brokenOn(day: string) {
  return (expected: string | number, found: string | number) =>
    elsewhere("export", day, { expected, found });
}

class ExportLines {
  header: ExportHeader | undefined;
  footer: ExportFooter | undefined;
  bytes = 0;
  readonly #day: string;
  readonly #counts = new FooterCounts();
  readonly #hash = createHash("sha256");
  #lines = 0;
  #last: ExportLine | undefined;

  constructor(day: string) {
    this.#day = day;
  }

  /** @throws Error where it is no JSON */
  *take(text: string): Generator<ExportPart, void, undefined> {
    const broken = brokenOn(this.#day);
    this.#lines += 1;
    this.bytes += Buffer.byteLength(text) + 1;
    const parsed = exportLine.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const where = parsed.error.issues[0]?.path.join(".") ?? "";
      yield broken("a line of the format", `line ${this.#lines}: ${where}`);
      this.#hash.update(`${text}\n`);
      return;
    }
    const line = parsed.data;
    // Of a name that stands twice, other readers may take the other value.
    if (lineText(line) !== `${text}\n`)
      yield broken("a line as the format writes it", `line ${this.#lines}`);
    if (this.footer !== undefined) yield broken("nothing after the footer", line.kind);
    if (line.kind === "footer") {
      this.footer = line;
      return;
    }
    this.#hash.update(`${text}\n`);
    this.#counts.add([line]);
    if (line.kind === "header") {
      if (this.header !== undefined) yield broken("one header", "another one");
      if (line.final !== (line.previous !== null))
        yield broken("final exactly where it follows a day", `final ${line.final}`);
      this.header = line;
    } else if (this.#last !== undefined && !isAfter(line, this.#last)) {
      yield broken(`lines after ${orderOf(this.#last).join(" ")}`, orderOf(line).join(" "));
    }
    this.#last = line;
    if (line.kind === "conflict" || line.kind === "lost") {
      const at = line.kind === "lost" ? line.acceptedAt : line.at;
      if (!at.startsWith(this.#day)) yield broken(`${line.kind} on ${this.#day}`, at);
    } else yield line;
    if (this.header === undefined) yield broken("a header first", line.kind);
  }

  /** The footer that these lines have. */
  counted(header: ExportHeader): ExportFooter {
    return this.#counts.footer({ ...header, day: this.#day }, this.#hash.digest("hex"));
  }
}

const KINDS = ["header", "conflict", "lost", "star", "release", "footer"];

/** The order of lines: all rise, and none stands there twice. */
function isAfter(line: ExportLine, other: ExportLine): boolean {
  if (line.kind !== other.kind) return KINDS.indexOf(line.kind) > KINDS.indexOf(other.kind);
  const places = orderOf(other);
  const differing = orderOf(line).findIndex((place, index) => place !== places[index]);
  return differing !== -1 && (orderOf(line)[differing] ?? 0) > (places[differing] ?? 0);
}

function orderOf(line: ExportLine): readonly (string | number)[] {
  if (line.kind === "conflict") return [line.kind, line.id];
  if (line.kind === "lost") return [line.kind, line.topicId, line.sequenceNumber];
  if (line.kind === "star") return [line.kind, line.seq];
  if (line.kind === "release") return [line.kind, line.mintOrder, line.collection, line.serial];
  return [line.kind];
}

type Difference = readonly [expected: string | number, found: string | number];

interface Ends {
  readonly header: ExportHeader;
  readonly footer: ExportFooter;
  readonly counted: ExportFooter;
  /** Of the whole. */
  readonly bytes: number;
}

/** What the header and the footer say, against what stands between them. */
function endsOf(day: string, { header, footer, counted }: Ends): readonly Difference[] {
  return differing([
    ["header.day", day, header.day],
    ...FOOTER_FIELDS.map((field) => [`footer.${field}`, counted[field], footer[field]] as const),
    ["footer.sequences", JSON.stringify(counted.sequences), JSON.stringify(footer.sequences)],
    ["unpublished stars of a final day", 0, footer.final ? footer.unpublished : 0],
  ]);
}

const FOOTER_FIELDS = [
  ...(["day", "final", "stars", "weight", "releases", "unpublished"] as const),
  ...(["sha256", "chain"] as const),
];

/**
 * What the list of days says, against the export. A day may have become final since the list was read, or
 * since it was kept.
 */
function listOf(
  source: ExportSource,
  day: string,
  { header: { previous, final }, counted, bytes }: Ends,
): readonly Difference[] {
  const entry = source.listed(day);
  if (entry === undefined || !(final || source.isLive)) return [];
  if (entry === null) return [["a day in the list", "none"]];
  const before = source.listed(dayOf(startOfDay(day) - 1));
  const real = entry.final || !source.isLive ? { ...counted, bytes } : NOT_FINAL;
  return differing([
    ...LISTED.map((field) => [`${field} in the list`, real[field], entry[field]] as const),
    ["final in the list after a day that is not", false, entry.final && before?.final === false],
    ["previous of the first day in the list", GENESIS, (before === null && previous) || GENESIS],
  ]);
}

const LISTED = ["final", "stars", "releases", "sha256", "chain", "bytes"] as const;
const NOT_FINAL = {
  final: false,
  stars: null,
  releases: null,
  sha256: null,
  chain: null,
  bytes: null,
};

function differing(
  pairs: readonly (readonly [name: string, expected: unknown, found: unknown])[],
): readonly Difference[] {
  return pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([name, expected, found]) => [`${name} ${expected}`, String(found)] as const);
}
